// Metrics about the conditions and the end of objects of one kind, under the names that operators built on the same
// library share. Older dashboards know them without the kind in the name; those twins carry group and kind as labels.
import type { Clock } from '../../base/index.ts';
import type { Counter, Distribution, Gauge, Labels, MetricDefinition, Metrics } from '../../ports/index.ts';

export interface ConditionMetrics {
  count: Gauge;
  /** Set to the moment in milliseconds. */
  currentStatusSince: Gauge;
  transitionSeconds: Distribution;
  transitionsTotal: Counter;
  /** Set to the moment in milliseconds. */
  terminatingSince: Gauge;
  terminationSeconds: Distribution;
}

const identity = ['namespace', 'name'];
const condition = ['type', 'status', 'reason'];

/** From half a second to more than two hours: conditions of machines take minutes. */
const buckets = Array.from({ length: 15 }, (_, index) => 0.5 * 2 ** index);
/** The twins never had bounds of their own, and keep those that clients give by default. */
const twinBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export interface KindOfMetrics {
  group: string;
  kind: string;
  /** Names of further labels. */
  labels: readonly string[];
  /** Whether the older names are kept too. */
  hasTwins: boolean;
}

export function conditionMetrics(metrics: Metrics, agesBy: Clock, of: KindOfMetrics): ConditionMetrics {
  const own = define(metrics, agesBy, `operator_${of.kind.toLowerCase()}`, of.labels, buckets);
  if (!of.hasTwins) return own;
  const fixed = { group: of.group, kind: of.kind };
  const shared = define(metrics, agesBy, 'operator', ['group', 'kind'], twinBuckets);
  const twin = (labels: Labels = {}): Labels => {
    const plain = Object.entries(labels).filter(([name]) => !of.labels.includes(name));
    return { ...Object.fromEntries(plain), ...fixed };
  };
  const both = (a: Gauge, b: Gauge): Gauge => ({
    set(value, labels) {
      a.set(value, labels);
      b.set(value, twin(labels));
    },
    remove(labels) {
      a.remove(labels);
      b.remove(twin(labels));
    },
    reset() {
      a.reset();
      b.remove(fixed);
    },
  });
  const bothObserve = (a: Distribution, b: Distribution): Distribution => ({
    observe(value, labels) {
      a.observe(value, labels);
      b.observe(value, twin(labels));
    },
  });
  return {
    count: both(own.count, shared.count),
    currentStatusSince: both(own.currentStatusSince, shared.currentStatusSince),
    transitionSeconds: bothObserve(own.transitionSeconds, shared.transitionSeconds),
    transitionsTotal: {
      add(labels, value) {
        own.transitionsTotal.add(labels, value);
        shared.transitionsTotal.add(twin(labels), value);
      },
    },
    terminatingSince: both(own.terminatingSince, shared.terminatingSince),
    terminationSeconds: bothObserve(own.terminationSeconds, shared.terminationSeconds),
  };
}

function define(
  metrics: Metrics,
  agesBy: Clock,
  prefix: string,
  more: readonly string[],
  bounds: readonly number[],
): ConditionMetrics {
  const named = (name: string, help: string, labels: readonly string[]): MetricDefinition => ({
    name: `${prefix}_${name}`,
    help,
    labels: [...labels, ...more],
  });
  return {
    count: metrics.gauge(
      named('status_condition_count', 'Conditions of objects, by status.', [...identity, ...condition]),
    ),
    currentStatusSince: metrics.gauge({
      ...named('status_condition_current_status_seconds', 'For how long conditions have had their status.', [
        ...identity,
        ...condition,
      ]),
      agesBy,
    }),
    transitionSeconds: metrics.histogram({
      ...named('status_condition_transition_seconds', 'For how long conditions had a status before it changed.', [
        'type',
        'status',
      ]),
      buckets: bounds,
    }),
    transitionsTotal: metrics.counter(
      named('status_condition_transitions_total', 'Changes of conditions, by what they changed to.', condition),
    ),
    terminatingSince: metrics.gauge({
      ...named('termination_current_time_seconds', 'For how long objects have been on their way out.', identity),
      agesBy,
    }),
    terminationSeconds: metrics.histogram({
      ...named('termination_duration_seconds', 'From the deletion of objects until they were gone.', []),
      buckets: bounds,
    }),
  };
}
