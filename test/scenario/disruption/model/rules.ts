// The rules voluntary disruption must keep, slowly and from the facts of one instant. Written from the rules alone: it
// shares no code with the controllers and knows nothing of how they decide.
import { Cron } from 'croner';
import { annotation, conditionType, type NodeClaim, type NodePool } from '../../../../src/api/index.ts';
import type { Pod, PodDisruptionBudget } from '../../../../src/ports/index.ts';
import { isProtected } from '../../../planner/rules/do-not-disrupt.ts';
import type { Pod as PlainPod } from '../../../planner/rules/objects.ts';
import { quantity } from '../../../planner/rules/quantity.ts';
import {
  claimIs,
  claimOfNode,
  isDeleting,
  isInitializedNode,
  isReadyNode,
  nodeNamed,
  type Observation,
  podsOn,
  poolNameOf,
} from './observation.ts';

export type Reason = 'Empty' | 'Drifted' | 'Underutilized';

/** How many nodes of the pool may be out for the reason. */
export function allowedBy(pool: NodePool, reason: Reason, total: number, nowMs: number): number {
  let allowed = Number.POSITIVE_INFINITY;
  for (const { nodes = '10%', reasons, schedule, duration } of pool.spec.disruption?.budgets ?? [{ nodes: '10%' }]) {
    if (reasons !== undefined && !(reasons as string[]).includes(reason)) continue;
    if (schedule !== undefined && !isWithin(schedule, minutes(duration ?? '0m'), nowMs)) continue;
    const bound = nodes.endsWith('%') ? Math.ceil((Number.parseInt(nodes, 10) * total) / 100) : Number(nodes);
    allowed = Math.min(allowed, bound);
  }
  return allowed;
}

const minutes = (text: string): number => Number(/^(\d+)m$/.exec(text)?.[1] ?? Number.NaN) * 60_000;

function isWithin(schedule: string, durationMs: number, nowMs: number): boolean {
  const hit = new Cron(schedule, { timezone: 'UTC' }).nextRun(new Date(nowMs - durationMs));
  return hit !== null && hit.getTime() <= nowMs;
}

/** Nodes a pool's budgets are about, and which of them are out for a cause the API shows. */
export function countNodes(seen: Observation, pool: string): { total: number; out: Set<string> } {
  const out = new Set<string>();
  let total = 0;
  for (const node of seen.nodes) {
    const claim = claimOfNode(seen, node);
    if (claim === undefined || poolNameOf(node) !== pool || !isInitializedNode(node)) continue;
    if (claimIs(claim, conditionType.instanceTerminating)) continue;
    total += 1;
    if (!isReadyNode(node) || isDeleting(claim)) out.add(node.metadata.name ?? '');
  }
  return { total, out };
}

const ownedBy = (pod: Pod, kind: string): boolean =>
  pod.metadata.ownerReferences?.some((owner) => owner.kind === kind) ?? false;

/** Needs a new place when its node goes. */
export const mustMove = (pod: Pod): boolean => !isDeleting(pod) && !ownedBy(pod, 'DaemonSet');

export const isProtectedPod = (pod: Pod, nowMs: number): boolean => isProtected(pod as unknown as PlainPod, nowMs);

/** Why the node may not be disrupted for the reason; undefined if it may. */
export function forbidden(seen: Observation, name: string, reason: Reason): string | undefined {
  const node = nodeNamed(seen, name);
  const claim = node === undefined ? undefined : claimOfNode(seen, node);
  if (node === undefined || claim === undefined) return 'it has no node or no claim';
  const pool = seen.pools.find(({ metadata }) => metadata.name === poolNameOf(node));
  if (pool === undefined) return 'it has no pool';
  if (!isInitializedNode(node)) return 'it is not initialized';
  if (isDeleting(claim)) return 'it is being deleted';
  if (node.metadata.annotations?.[annotation.doNotDisrupt] === 'true') return 'the node says do-not-disrupt';
  const { consolidateAfter = '0s', consolidationPolicy } = pool.spec.disruption ?? {};
  if (reason === 'Drifted') {
    if (!claimIs(claim, conditionType.drifted)) return 'it has not drifted';
  } else {
    if (consolidateAfter === 'Never') return 'its pool is never consolidated';
    if (!claimIs(claim, conditionType.consolidatable)) return 'it is not consolidatable';
  }
  if (reason === 'Underutilized' && consolidationPolicy === 'WhenEmpty') return 'its pool gives up empty nodes only';
  const pods = podsOn(seen, name).filter((pod) => !isDeleting(pod));
  if (reason === 'Empty' && pods.some(mustMove)) return 'it is not empty';
  if (reason === 'Drifted' && claim.spec.terminationGracePeriod !== undefined) return undefined;
  for (const pod of pods) {
    if (isProtectedPod(pod, seen.atMs)) return `pod ${pod.metadata.name} says do-not-disrupt`;
    const matching = seen.budgets.filter((budget) => isAbout(budget, pod));
    if (matching.length > 1) return `pod ${pod.metadata.name} has several PodDisruptionBudgets`;
    const [budget] = matching;
    if (budget === undefined || (budget.status?.disruptionsAllowed ?? 0) > 0) continue;
    if (budget.spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow' && isUnready(pod)) continue;
    return `PodDisruptionBudget ${budget.metadata.name} keeps pod ${pod.metadata.name}`;
  }
  return undefined;
}

/** Protected, on a drifted node that says by when its pods are deleted: it stays until then. */
export function waitsForDeadline(seen: Observation, pod: Pod, reason: Reason): boolean {
  const node = nodeNamed(seen, pod.spec?.nodeName ?? '');
  const claim = node === undefined ? undefined : claimOfNode(seen, node);
  if (reason !== 'Drifted' || claim?.spec.terminationGracePeriod === undefined) return false;
  return isProtectedPod(pod, seen.atMs) || seen.budgets.some((budget) => isAbout(budget, pod));
}

/** The model's budgets select by one label. */
function isAbout({ metadata, spec }: PodDisruptionBudget, pod: Pod): boolean {
  const app = spec?.selector?.matchLabels?.['app'];
  return metadata.namespace === pod.metadata.namespace && app !== undefined && pod.metadata.labels?.['app'] === app;
}

const isUnready = (pod: Pod): boolean =>
  pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'False') ?? false;

/** Amounts the pool's limits speak of that are more than they allow; `capacityOf` says what each claim counts as. */
export function overLimit(
  pool: NodePool,
  claims: readonly NodeClaim[],
  capacityOf: (claim: NodeClaim, resource: string) => bigint,
): string | undefined {
  for (const [resource, limit] of Object.entries(pool.spec.limits ?? {})) {
    const used = claims.reduce((sum, claim) => sum + capacityOf(claim, resource), 0n);
    if (used > quantity(limit)) return `${resource} ${used} of ${quantity(limit)} billionths`;
  }
  return undefined;
}
