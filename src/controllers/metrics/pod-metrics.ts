// metrics.pod: where every pod is, and how long pods take to be bound and to start.
import { label } from '../../api/index.ts';
import { parseTime } from '../../base/index.ts';
import { type Labels, type Pod, resources } from '../../ports/index.ts';
import { done } from '../../runtime/index.ts';
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

export function podMetricsController(context: ControllerContext): Controller {
  const { cluster, clock, metrics, settings } = context;
  const named = ['name', 'namespace'];
  const state = metrics.gauge({ name: 'karpenter_pods_state', help: 'Where a pod is.', labels: stateLabels });
  const startup = metrics.summary({
    name: 'karpenter_pods_startup_duration_seconds',
    help: 'From creation until running.',
  });
  const bound = metrics.histogram({
    name: 'karpenter_pods_bound_duration_seconds',
    help: 'From creation until bound.',
  });
  const unstarted = metrics.gauge({
    name: 'karpenter_pods_unstarted_time_seconds',
    help: 'How long a pod has not been running.',
    labels: named,
  });
  const unbound = metrics.gauge({
    name: 'karpenter_pods_unbound_time_seconds',
    help: 'How long a pod has not been bound.',
    labels: named,
  });
  /** Pods whose binding or start this process saw coming: only those are measured, once. */
  const waiting = new Map<string, { binding: boolean; starting: boolean }>();

  const forget = (key: string): void => {
    const [namespace = '', name = ''] = key.split('/');
    waiting.delete(key);
    for (const gauge of [state, unstarted, unbound]) gauge.remove({ name, namespace });
  };

  const tellWaiting = (key: string, pod: Pod): boolean => {
    const { name = '', namespace = '' } = pod.metadata;
    const bornMs = parseTime(pod.metadata.creationTimestamp ?? '') ?? clock.now();
    const ageSeconds = (clock.now() - bornMs) / 1000;
    const isBound = Boolean(pod.spec?.nodeName);
    const isStarted = pod.status?.phase !== 'Pending' && pod.status?.phase !== undefined;
    const seen = waiting.get(key) ?? { binding: !isBound, starting: !isStarted };
    if (seen.binding && isBound) bound.observe(conditionAge(pod, 'PodScheduled', bornMs) ?? ageSeconds);
    if (seen.starting && isStarted && pod.status?.phase === 'Running')
      startup.observe(conditionAge(pod, 'Ready', bornMs) ?? ageSeconds);
    if (isBound) unbound.remove({ name, namespace });
    else unbound.set(ageSeconds, { name, namespace });
    if (isStarted) unstarted.remove({ name, namespace });
    else unstarted.set(ageSeconds, { name, namespace });
    waiting.set(key, { binding: !isBound, starting: !isStarted });
    return !isStarted;
  };

  return {
    name: 'metrics.pod',
    sources: [ownKey(resources.pods)],
    concurrency: concurrencyFor(settings, 10, 100),
    reconcile: (key) => {
      const pod = cluster.pods.store.get(key);
      const { namespace = '', name = '' } = pod?.metadata ?? {};
      if (pod === undefined) {
        forget(key);
        return Promise.resolve(done);
      }
      state.remove({ name, namespace });
      state.set(1, stateOf(context, pod));
      return Promise.resolve(tellWaiting(key, pod) ? again(everyMs) : done);
    },
  };
}

function stateOf({ cluster }: ControllerContext, pod: Pod): Labels {
  const { name = '', namespace = '', ownerReferences = [] } = pod.metadata;
  const [owner] = ownerReferences;
  const node = pod.spec?.nodeName ?? '';
  const machine = cluster.machines.ofNode(node);
  const labels = machine?.node?.metadata.labels ?? {};
  const conditionStatus = (type: string): string =>
    pod.status?.conditions?.find((each) => each.type === type)?.status ?? 'Unknown';
  return {
    name,
    namespace,
    owner:
      owner === undefined
        ? ''
        : `/apis/${owner.apiVersion}/namespaces/${namespace}/${owner.kind.toLowerCase()}s/${owner.name}`,
    node,
    scheduled: String(node !== ''),
    nodepool: labels[label.nodePool] ?? pod.spec?.nodeSelector?.[label.nodePool] ?? 'N/A',
    zone: labels[label.zone] ?? pod.spec?.nodeSelector?.[label.zone] ?? 'N/A',
    arch: labels[label.arch] ?? 'N/A',
    capacity_type: labels[label.capacityType] ?? 'N/A',
    instance_type: labels[label.instanceType] ?? 'N/A',
    phase: pod.status?.phase ?? '',
    ready: conditionStatus('Ready'),
    managed: String(machine?.claim !== undefined),
  };
}

/** Seconds from `fromMs` until the condition became True. */
function conditionAge(pod: Pod, type: string, fromMs: number): number | undefined {
  const condition = pod.status?.conditions?.find((each) => each.type === type && each.status === 'True');
  const atMs = parseTime(condition?.lastTransitionTime ?? '');
  return atMs === undefined ? undefined : Math.max(0, (atMs - fromMs) / 1000);
}
