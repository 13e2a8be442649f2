// Tells people what a plan decided: events on pods, log lines, gauges. One record, several renderings.
import { conditionType, type NodeClaim } from '../../api/index.ts';
import { formatGoDuration, shortList } from '../../base/index.ts';
import type { EmptyPool, Plan, Reason, UnschedulablePod } from '../../core/index.ts';
import type { ControllerContext } from '../context.ts';
import { aboutPod, aboutPool } from '../event-subjects.ts';
import type { ProvisioningMetrics } from './metrics.ts';
import { tellPods } from './nomination.ts';

/** Reasons that are no one's mistake: the pod waits, and an event would only repeat itself. */
const silentReasons: ReadonlySet<Reason['code']> = new Set(['PodOptedOut', 'NoNodePools', 'ReservedCapacityDeferred']);
const ignoredReasons: ReadonlySet<Reason['code']> = new Set(['PodInvalid', 'PodOptedOut']);
const failedDedupeMs = 300_000;
const emptyPoolDedupeMs = 60_000;

export async function reportPlan(
  context: ControllerContext,
  plan: Plan,
  claims: ReadonlyMap<string, NodeClaim>,
  metrics: ProvisioningMetrics,
): Promise<void> {
  const { clock, cluster, log, recorder } = context;
  for (const planned of plan.newNodes) {
    const claim = claims.get(planned.name);
    if (claim === undefined) continue;
    await clock.breathe?.();
    cluster.pods.promises.promise(claim.metadata.name ?? '', planned.pods);
    tellPods(context, planned.pods, `nodeclaim/${claim.metadata.name}`);
  }
  for (const entry of plan.unschedulable) {
    if (silentReasons.has(codeOf(entry))) continue;
    await clock.breathe?.();
    const text = decisive(entry.reasons)
      .map((reason) => reason.message)
      .join('; ');
    log.error('could not schedule pod', text, { controller: 'provisioner', Pod: podName(entry.pod) });
    const pod = cluster.pods.store.get(entry.pod);
    if (pod === undefined) continue;
    recorder.publish({
      subject: aboutPod(pod),
      type: 'Warning',
      reason: 'FailedScheduling',
      message: `Failed to schedule pod, ${text}`,
      dedupeValues: [pod.metadata.uid ?? entry.pod],
      dedupeMs: failedDedupeMs,
    });
  }
  const ignored = plan.unschedulable.filter((entry) => ignoredReasons.has(codeOf(entry))).length;
  const deferred = plan.unschedulable.filter((entry) => codeOf(entry) === 'ReservedCapacityDeferred').length;
  countWaiting(plan, metrics);
  metrics.ignored.set(ignored);
  metrics.unschedulable.set(plan.unschedulable.length - ignored - deferred, { controller: 'provisioner' });
}

/** What is first in the way of each pool: all of it would be longer than an event may be. */
function decisive(reasons: readonly Reason[]): Reason[] {
  const seen = new Set<string | undefined>();
  return reasons.filter(({ nodePool }) => {
    const isFirst = nodePool === undefined || !seen.has(nodePool);
    seen.add(nodePool);
    return isFirst;
  });
}

function countWaiting({ unschedulable }: Plan, { waiting }: ProvisioningMetrics): void {
  const counts = new Map<string, { code: string; nodepool: string; pods: number }>();
  for (const { reasons } of unschedulable) {
    const { code = '', nodePool: nodepool = '' } = reasons[0] ?? {};
    const known = counts.get(`${code} ${nodepool}`) ?? { code, nodepool, pods: 0 };
    counts.set(`${code} ${nodepool}`, { ...known, pods: known.pods + 1 });
  }
  waiting.reset();
  for (const { code, nodepool, pods } of counts.values()) waiting.set(pods, { code, nodepool });
}

/** Said before the claims are made: the log then reads in the order in which things happen. */
export function reportNewNodes({ log }: ControllerContext, plan: Plan, tookMs: number): void {
  if (plan.newNodes.length === 0) return;
  const controller = 'provisioner';
  const pods = plan.newNodes.reduce((sum, planned) => sum + planned.pods.length, 0);
  log.info('found provisionable pod(s)', {
    controller,
    Pods: shortList(waitingPods(plan), 5),
    duration: formatGoDuration(tookMs),
  });
  log.info('computed new nodeclaim(s) to fit pod(s)', { controller, nodeclaims: plan.newNodes.length, pods });
}

/** What the plan found about the pools themselves. */
export function reportPools(
  { cluster, isManaged, log, recorder }: ControllerContext,
  plan: Plan,
  emptyPools: readonly EmptyPool[],
): void {
  const controller = 'provisioner';
  if (plan.unschedulable.some((entry) => codeOf(entry) === 'NoNodePools'))
    log.info('no dynamic nodepools found', { controller });
  for (const { metadata, spec, status } of plan.pods === 0 ? [] : cluster.nodePools.list()) {
    const isReady = status?.conditions?.some(({ type, status: is }) => type === conditionType.ready && is === 'True');
    if (isReady || spec.replicas !== undefined || !isManaged(spec.template.spec.nodeClassRef)) continue;
    log.error('ignoring nodepool, not ready', undefined, { controller, NodePool: { name: metadata.name } });
  }
  for (const { nodePool, message } of emptyPools) {
    const pool = cluster.nodePools.get(nodePool);
    if (pool === undefined) continue;
    log.info('skipping, nodepool requirements filtered out all instance types', {
      controller,
      NodePool: { name: nodePool },
    });
    const subject = aboutPool(pool);
    const dedupeMs = emptyPoolDedupeMs;
    recorder.publish({ subject, type: 'Warning', reason: 'NoCompatibleInstanceTypes', message, dedupeMs });
  }
}

/** Every pod the plan decided about, in the order of names. */
const waitingPods = ({ newNodes, existingNodes, unschedulable }: Plan): string[] =>
  [
    ...newNodes.flatMap(({ pods }) => pods),
    ...existingNodes.flatMap(({ pods }) => pods),
    ...unschedulable.map(({ pod }) => pod),
  ].sort();

function podName(key: string): { name: string; namespace: string } {
  const [namespace = '', name = ''] = key.split('/');
  return { name, namespace };
}

function codeOf(entry: UnschedulablePod): Reason['code'] {
  return entry.reasons[0]?.code ?? 'PodInvalid';
}
