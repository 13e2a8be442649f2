// operatorpkg.<kind>.status: shows people and dashboards what conditions do: gauges of what they say and for how long,
// an event and a count for every change, and how long deleted objects take to go. It compares what it saw last with what
// is there now, so a condition that changes twice in between counts once.
import type { Condition } from '../../api/index.ts';
import { parseTime } from '../../base/index.ts';
import type { EventSubject, KubeObject, Labels, Resource } from '../../ports/index.ts';
import { done } from '../../runtime/index.ts';
import { type Controller, type ControllerContext, concurrencyFor, ownKey } from '../context.ts';
import { subjectOf } from '../event-subjects.ts';
import { conditionMetrics } from './condition-metrics.ts';

export interface ConditionedKind {
  resource: Resource;
  /** Labels of the objects that become labels of the metrics. */
  labels?: readonly string[];
  /** Kinds of our own: their metrics have twins under older names, and what was not said yet counts as unknown. */
  isOwn: boolean;
  optional?: boolean;
}

type Conditioned = KubeObject & { status?: { conditions?: Condition[] } };

interface Seen {
  object: Conditioned;
  conditions: readonly Condition[];
  /** Of the gauges, one entry per condition. */
  series: readonly Labels[];
}

export function conditionController(context: ControllerContext, kind: ConditionedKind): Controller {
  const { cacheOf, clock, recorder, settings } = context;
  const { resource, labels: labelKeys = [] } = kind;
  const metrics = conditionMetrics(context.metrics, clock, {
    group: resource.group,
    kind: resource.kind,
    labels: labelKeys.map(metricLabel),
    hasTwins: kind.isOwn,
  });
  const seen = new Map<string, Seen>();
  const labelsOf = ({ metadata }: KubeObject): Labels =>
    Object.fromEntries(labelKeys.map((key) => [metricLabel(key), metadata.labels?.[key] ?? '']));
  const identityOf = ({ metadata }: KubeObject): Labels => ({
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
  });
  const subject = (object: KubeObject): EventSubject =>
    subjectOf(
      resource.group === '' ? resource.version : `${resource.group}/${resource.version}`,
      resource.kind,
      object,
    );
  const momentOf = (time: string | undefined): number => parseTime(time ?? '') ?? clock.now();
  const tellFinalized = (object: KubeObject, finalizers: readonly string[]): void => {
    for (const finalizer of finalizers) {
      recorder.publish({
        subject: subject(object),
        type: 'Normal',
        reason: 'Finalized',
        message: `Finalized ${finalizer}`,
      });
    }
  };
  const tellChange = (object: Conditioned, before: Condition | undefined, after: Condition): void => {
    const { type, status, reason = '', message = '' } = after;
    metrics.transitionsTotal.add({ type, status, reason, ...labelsOf(object) });
    if (before === undefined) return;
    const lastedMs = (parseTime(after.lastTransitionTime) ?? 0) - (parseTime(before.lastTransitionTime) ?? 0);
    metrics.transitionSeconds.observe(lastedMs / 1_000, { type, status: before.status, ...labelsOf(object) });
    recorder.publish({
      subject: subject(object),
      type: 'Normal',
      reason: type,
      message: `Status condition transitioned, Type: ${type}, Status: ${before.status} -> ${status}, Reason: ${reason}${message === '' ? '' : `, Message: ${message}`}`,
    });
  };
  const removeSeries = (series: readonly Labels[]): void => {
    for (const labels of series) {
      metrics.count.remove(labels);
      metrics.currentStatusSince.remove(labels);
    }
  };

  const tellGone = (last: Seen): void => {
    const { object } = last;
    removeSeries(last.series);
    if (object.metadata.deletionTimestamp === undefined) return;
    metrics.terminatingSince.remove({ ...identityOf(object), ...labelsOf(object) });
    const tookMs = clock.now() - momentOf(object.metadata.deletionTimestamp);
    metrics.terminationSeconds.observe(tookMs / 1_000, labelsOf(object));
    tellFinalized(object, object.metadata.finalizers ?? []);
  };

  const tell = (key: string, object: Conditioned): void => {
    const last = seen.get(key);
    const conditions = object.status?.conditions ?? [];
    const { deletionTimestamp, finalizers = [] } = object.metadata;
    if (deletionTimestamp !== undefined) {
      const labels = { ...identityOf(object), ...labelsOf(object) };
      metrics.terminatingSince.set(momentOf(deletionTimestamp), labels);
      const had = last?.object.metadata.finalizers ?? [];
      tellFinalized(
        object,
        had.filter((finalizer) => !finalizers.includes(finalizer)),
      );
    }
    const series = conditions.map(
      ({ type, status, reason = '' }): Labels => ({
        ...identityOf(object),
        type,
        status,
        reason,
        ...labelsOf(object),
      }),
    );
    if (last !== undefined) {
      const present = new Set(series.map(seriesKey));
      removeSeries(last.series.filter((labels) => !present.has(seriesKey(labels))));
    }
    conditions.forEach((condition, index) => {
      metrics.count.set(1, series[index]);
      metrics.currentStatusSince.set(momentOf(condition.lastTransitionTime), series[index]);
      const before =
        last?.conditions.find(({ type }) => type === condition.type) ??
        (kind.isOwn ? unknownBefore(last, condition.type) : undefined);
      // A condition that was not there was not known.
      if ((before?.status ?? 'Unknown') !== condition.status) tellChange(object, before, condition);
    });
    seen.set(key, { object, conditions, series });
  };

  return {
    name: `operatorpkg.${resource.kind.toLowerCase()}.status`,
    sources: [{ ...ownKey(resource), ...(kind.optional === true ? { optional: true } : {}) }],
    concurrency: concurrencyFor(settings, 10, 1_000),
    reconcile: (key) => {
      const object: Conditioned | undefined = cacheOf(resource).get(key);
      const last = seen.get(key);
      // Made again under its name: the old one is gone.
      if (last !== undefined && last.object.metadata.uid !== object?.metadata.uid) {
        tellGone(last);
        seen.delete(key);
      }
      if (object === undefined) return Promise.resolve(done);
      tell(key, object);
      return Promise.resolve(done);
    },
  };
}

/** What no one had said anything about yet was unknown since it was made; one more condition later has no past. */
function unknownBefore(last: Seen | undefined, type: string): Condition | undefined {
  if (last === undefined || last.conditions.length > 0) return undefined;
  return { type, status: 'Unknown', lastTransitionTime: last.object.metadata.creationTimestamp ?? '' };
}

const seriesKey = ({ type, status, reason, ...rest }: Labels): string => JSON.stringify([type, status, reason, rest]);

/** `karpenter.sh/nodepool` becomes `karpenter_sh_nodepool`. */
const metricLabel = (key: string): string => key.replaceAll(/[/.-]/g, '_');
