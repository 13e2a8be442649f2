// metrics.pod: where every pod is, and how long pods take to be bound and to start: since they were made, and since a plan
// first had a place for them in a pool whose nodes register (what is left then is not our waiting).
import { label } from '../../api/index.ts';
import { parseTime } from '../../base/index.ts';
import { type GaugeDefinition, type Labels, type Metrics, type Pod, resources } from '../../ports/index.ts';
import { done } from '../../runtime/index.ts';
import { hasResourceClaims, isTerminal } from '../../state/index.ts';
import { again, type Controller, type ControllerContext, concurrencyFor, ownKey } from '../context.ts';

const everyMs = 10_000;
const stateLabels = [
  'name',
  'namespace',
  'owner',
  'node',
  'scheduled',
  'nodepool',
  'zone',
  'arch',
  'capacity_type',
  'instance_type',
  'phase',
  'ready',
  'managed',
];

function podMetrics(metrics: Metrics, states: NonNullable<GaugeDefinition['series']>) {
  // Pods that need devices are bound later than others, because those have to be published first.
  const byDevices = ['dynamic_resources'];
  const gauge = (name: string, help: string, more: string[] = []) =>
    metrics.gauge({ name: `karpenter_pods_${name}`, help, labels: ['name', 'namespace', ...more] });
  const histogram = (name: string, help: string, labels: string[] = []) =>
    metrics.histogram({ name: `karpenter_pods_${name}`, help, labels });
  return {
    state: metrics.gauge({
      name: 'karpenter_pods_state',
      help: 'Where a pod is.',
      labels: stateLabels,
      series: states,
    }),
    startup: metrics.summary({
      name: 'karpenter_pods_startup_duration_seconds',
      help: 'From creation until running.',
    }),
    bound: histogram('bound_duration_seconds', 'From creation until bound.', byDevices),
    unstarted: gauge('unstarted_time_seconds', 'How long a pod has not been running.'),
    unbound: gauge('unbound_time_seconds', 'How long a pod has not been bound.', byDevices),
    provisioningStartup: histogram(
      'provisioning_startup_duration_seconds',
      'From the first plan that has a place for the pod until running.',
    ),
    provisioningBound: histogram(
      'provisioning_bound_duration_seconds',
      'From the first plan that has a place for the pod until bound.',
      byDevices,
    ),
    provisioningUnstarted: gauge(
      'provisioning_unstarted_time_seconds',
      'How long a pod that a plan has a place for has not been running.',
    ),
    provisioningUnbound: gauge(
      'provisioning_unbound_time_seconds',
      'How long a pod that a plan has a place for has not been bound.',
      byDevices,
    ),
    undecided: gauge(
      'provisioning_scheduling_undecided_time_seconds',
      'How long a pod has been waiting for a first decision.',
    ),
  };
}

interface Ahead {
  readonly binding: boolean;
  readonly starting: boolean;
}

/** Of nearly all pods: one for all. */
const nothingAhead: Ahead = { binding: false, starting: false };

export function podMetricsController(context: ControllerContext): Controller {
  const { cluster, clock, settings } = context;
  const { decisions } = cluster.pods;
  /** Every pod that was reported, and what this process still sees coming: only that is measured, once. */
  const ahead = new Map<string, Ahead>();
  const reported = podMetrics(context.metrics, function* () {
    for (const key of ahead.keys()) {
      const pod = cluster.pods.store.get(key);
      if (pod !== undefined) yield [stateOf(context, pod), 1];
    }
  });
  const named = [
    reported.unstarted,
    reported.unbound,
    reported.provisioningUnstarted,
    reported.provisioningUnbound,
    reported.undecided,
  ];

  const forget = (key: string): void => {
    const [namespace = '', name = ''] = key.split('/');
    ahead.delete(key);
    for (const gauge of named) gauge.remove({ name, namespace });
  };

  const tellUndecided = (key: string, labels: Labels, isBound: boolean): void => {
    const { seenMs, triedMs } = decisions.of(key);
    if (triedMs !== undefined || seenMs === undefined || isBound) reported.undecided.remove(labels);
    else reported.undecided.set((clock.now() - seenMs) / 1000, labels);
  };

  /** Whether there is more to tell later. */
  const tellWaiting = (key: string, pod: Pod): boolean => {
    const { name = '', namespace = '', creationTimestamp = '' } = pod.metadata;
    const labels = { name, namespace };
    const devices = { dynamic_resources: String(hasResourceClaims(pod)) };
    const bornMs = parseTime(creationTimestamp) ?? clock.now();
    const { placedWellMs } = decisions.of(key);
    const boundMs = trueSinceMs(pod, 'PodScheduled');
    const isBound = boundMs !== undefined || Boolean(pod.spec?.nodeName);
    const startedMs = pod.status?.phase === 'Pending' ? undefined : trueSinceMs(pod, 'Ready');
    const isStarted = startedMs !== undefined;
    const isOver = isTerminal(pod);
    const seen = ahead.get(key) ?? { binding: !isBound, starting: !isStarted };
    const seconds = (fromMs: number, untilMs = clock.now()): number => Math.max(0, (untilMs - fromMs) / 1000);
    if (seen.binding && isBound) {
      reported.bound.observe(seconds(bornMs, boundMs), devices);
      if (placedWellMs !== undefined) reported.provisioningBound.observe(seconds(placedWellMs, boundMs), devices);
    }
    if (seen.starting && isStarted) {
      reported.startup.observe(seconds(bornMs, startedMs));
      if (placedWellMs !== undefined) reported.provisioningStartup.observe(seconds(placedWellMs, startedMs));
      decisions.forget(key);
    }
    const gauges = [
      { isOver: isBound || isOver, own: reported.unbound, ours: reported.provisioningUnbound, more: devices },
      { isOver: isStarted || isOver, own: reported.unstarted, ours: reported.provisioningUnstarted, more: {} },
    ];
    for (const { isOver: isDone, own, ours, more } of gauges) {
      if (isDone) own.remove(labels);
      else own.set(seconds(bornMs), { ...labels, ...more });
      if (isDone || placedWellMs === undefined) ours.remove(labels);
      else ours.set(seconds(placedWellMs), { ...labels, ...more });
    }
    tellUndecided(key, labels, isBound || isOver);
    const starting = seen.starting && !isStarted && !isOver;
    ahead.set(key, isBound && !starting ? nothingAhead : { binding: !isBound, starting });
    return !(isStarted || isOver);
  };

  return {
    name: 'metrics.pod',
    sources: [ownKey(resources.pods)],
    concurrency: concurrencyFor(settings, 10, 100),
    reconcile: (key) => {
      const pod = cluster.pods.store.get(key);
      if (pod === undefined) {
        forget(key);
        return Promise.resolve(done);
      }
      return Promise.resolve(tellWaiting(key, pod) ? again(everyMs) : done);
    },
  };
}

function stateOf({ cluster }: ControllerContext, pod: Pod): Labels {
  const { name = '', namespace = '', ownerReferences = [] } = pod.metadata;
  const [owner] = ownerReferences;
  const node = pod.spec?.nodeName ?? '';
  const labels = cluster.nodes.get(node)?.metadata.labels ?? {};
  return {
    name,
    namespace,
    owner:
      owner === undefined
        ? ''
        : `/apis/${owner.apiVersion}/namespaces/${namespace}/${owner.kind.toLowerCase()}s/${owner.name}`,
    node,
    scheduled: String(node !== ''),
    nodepool: labels[label.nodePool] ?? '',
    zone: labels[label.zone] ?? '',
    arch: labels[label.arch] ?? '',
    capacity_type: labels[label.capacityType] ?? '',
    instance_type: labels[label.instanceType] ?? '',
    phase: pod.status?.phase ?? '',
    ready: String(trueSinceMs(pod, 'Ready') !== undefined),
    managed: String(Boolean(labels[label.nodePool])),
  };
}

/** When the condition became True; undefined while it is not. */
function trueSinceMs({ status }: Pod, type: string): number | undefined {
  const condition = status?.conditions?.find((each) => each.type === type && each.status === 'True');
  return parseTime(condition?.lastTransitionTime ?? '');
}
