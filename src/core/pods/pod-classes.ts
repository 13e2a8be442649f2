// Which pods concern whom: those that wait for a node (provisionable), those that can be moved off a node that is about to
// go (movable), those a drain waits for and those it may evict. Names and rules are Karpenter's pod classes; the clock is
// the caller's.

import { annotation, taint } from '../../api/names.ts';
import { parseGoDuration, parseTime } from '../../base/index.ts';
import { selectorMatch } from '../kube/label-selector.ts';
import { type Condition, type Container, namespaceOf, type Pod, type PodDisruptionBudget } from '../kube/objects.ts';
import { toleratesAll } from '../kube/taints.ts';

export function isTerminal(pod: Pod): boolean {
  return pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded';
}

export function isTerminating(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp !== undefined && pod.metadata.deletionTimestamp !== null;
}

export function isActive(pod: Pod): boolean {
  return !isTerminal(pod) && !isTerminating(pod);
}

export function isOwnedByDaemonSet(pod: Pod): boolean {
  return isOwnedBy(pod, 'apps/v1', 'DaemonSet');
}

/** Whether the pod has only to wait for the node: there is room for it, or room is being made. */
export type NominationTest = (nodeName: string, pod: Pod) => boolean;

/**
 * Waits for a node that kube-scheduler could not find. The phase is not consulted. A nomination counts as long as the pod
 * can come to that node; an expectation that did not come true leaves a pod that needs a place like any other.
 */
export function isProvisionable(pod: Pod, standsNomination: NominationTest = () => true): boolean {
  return (
    !pod.spec?.nodeName &&
    !(pod.status?.nominatedNodeName && standsNomination(pod.status.nominatedNodeName, pod)) &&
    isUnschedulable(pod.status?.conditions) &&
    !isOwnedByDaemonSet(pod) &&
    !isOwnedByNode(pod)
  );
}

/** kube-scheduler tries again after as long; of pods that do not preempt it never takes a nomination back. */
const unknownNodeForMs = 5 * 60_000;

/** Whether a node that is not known may still come for a pod nominated to it: for a while after it found no place. */
export function mayExpectUnknownNode(pod: Pod, nowMs: number): boolean {
  const since = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')?.lastTransitionTime;
  const sinceMs = since ? parseTime(since) : undefined;
  return sinceMs === undefined || nowMs - sinceMs <= unknownNodeForMs;
}

function isUnschedulable(conditions: readonly Condition[] | undefined): boolean {
  for (const { type, reason } of conditions ?? []) {
    if (type === 'PodScheduled' && reason === 'Unschedulable') return true;
  }
  return false;
}

/** Would need a place if its node went away. A terminating StatefulSet pod does: its successor comes only afterwards. */
export function isReschedulable(pod: Pod): boolean {
  return (
    (isActive(pod) || (isTerminating(pod) && isOwnedBy(pod, 'apps/v1', 'StatefulSet'))) &&
    !isOwnedByDaemonSet(pod) &&
    !isOwnedByNode(pod)
  );
}

/** How long past its time a terminating pod is waited for: after that its kubelet is taken for dead. */
const stuckAfterMs = 60_000;

/** A drain has something to do with it: it would not stay on a disrupted node, and someone still ends it. */
export function isDrainable(pod: Pod, nowMs: number): boolean {
  return !toleratesDisruption(pod) && !isStuckTerminating(pod, nowMs) && !isOwnedByNode(pod);
}

/** A drain is not over while this pod is there. */
export function isWaitingEviction(pod: Pod, nowMs: number): boolean {
  return !isTerminal(pod) && isDrainable(pod, nowMs);
}

/** May be evicted now, as far as the pod itself says; budgets are the API server's business. */
export function isEvictable(pod: Pod, nowMs: number): boolean {
  return isDrained(pod) && !isDoNotDisruptActive(pod, nowMs);
}

/** A drain evicts it, today or once it no longer says do-not-disrupt. */
export function isDrained(pod: Pod): boolean {
  return isActive(pod) && !toleratesDisruption(pod) && !isOwnedByNode(pod);
}

/** Asks for DRA devices, at pod level or in a container. */
export function hasResourceClaims(pod: Pod): boolean {
  const { resourceClaims, initContainers, containers } = pod.spec ?? {};
  return (resourceClaims?.length ?? 0) > 0 || someClaims(initContainers) || someClaims(containers);
}

function someClaims(containers: readonly Container[] | undefined): boolean {
  for (const { resources } of containers ?? []) if ((resources?.claims?.length ?? 0) > 0) return true;
  return false;
}

/** A pod that stands for spare capacity asked for by a CapacityBuffer. */
export function isBufferPod(pod: Pod): boolean {
  return pod.metadata.annotations?.[annotation.bufferFakePod] === 'true';
}

/** Protected by karpenter.sh/do-not-disrupt: always for "true", for a while after its start for a positive duration. */
export function isDoNotDisruptActive(pod: Pod, nowMs: number): boolean {
  return nowMs < doNotDisruptEndsMs(pod);
}

/** Until when the annotation protects the pod: never ending while no one can say when, long past without protection. */
export function doNotDisruptEndsMs(pod: Pod): number {
  const value = pod.metadata.annotations?.[annotation.doNotDisrupt];
  if (value === undefined) return Number.NEGATIVE_INFINITY;
  if (value === 'true') return Number.POSITIVE_INFINITY;
  const durationMs = parseGoDuration(value);
  if (durationMs === undefined || durationMs <= 0) return Number.NEGATIVE_INFINITY;
  const startMs = pod.status?.startTime ? parseTime(pod.status.startTime) : undefined;
  return startMs === undefined ? Number.POSITIVE_INFINITY : startMs + durationMs;
}

export type MovableTest = (pod: Pod) => boolean;

/** Pods of leaving nodes that can be evicted now, as far as anyone can tell from annotations and budgets. */
export function movableTest(budgets: readonly PodDisruptionBudget[], nowMs: number): MovableTest {
  const compiled = budgets.map((budget) => ({
    namespace: budget.metadata.namespace ?? 'default',
    matches: selectorMatch(budget.spec?.selector),
    blocksAll: isFullyBlocking(budget),
    allowsUnhealthy: budget.spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow',
  }));
  const isBlocked = (pod: Pod): boolean => {
    // Budgets speak only about pods that an eviction would reach.
    if (!isActive(pod) || toleratesDisruption(pod) || isDoNotDisruptActive(pod, nowMs)) return false;
    const labels = pod.metadata.labels ?? {};
    const namespace = namespaceOf(pod);
    const matching = compiled.filter((budget) => budget.namespace === namespace && budget.matches(labels));
    const [budget] = matching;
    if (matching.length > 1) return true;
    if (budget === undefined || (budget.allowsUnhealthy && isUnready(pod))) return false;
    return budget.blocksAll;
  };
  return (pod) => isReschedulable(pod) && !(isActive(pod) && isDoNotDisruptActive(pod, nowMs)) && !isBlocked(pod);
}

function isFullyBlocking(budget: PodDisruptionBudget): boolean {
  const { maxUnavailable, minAvailable } = budget.spec ?? {};
  return maxUnavailable === 0 || maxUnavailable === '0%' || minAvailable === '100%';
}

function isUnready(pod: Pod): boolean {
  return pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'False') ?? false;
}

function toleratesDisruption(pod: Pod): boolean {
  return toleratesAll([taint.disrupted], pod.spec?.tolerations ?? []);
}

function isStuckTerminating(pod: Pod, nowMs: number): boolean {
  const { deletionTimestamp } = pod.metadata;
  const dueMs = deletionTimestamp === undefined ? undefined : parseTime(deletionTimestamp);
  return dueMs !== undefined && nowMs - dueMs > stuckAfterMs;
}

function isOwnedByNode(pod: Pod): boolean {
  return isOwnedBy(pod, 'v1', 'Node');
}

function isOwnedBy(pod: Pod, apiVersion: string, kind: string): boolean {
  return pod.metadata.ownerReferences?.some((owner) => owner.apiVersion === apiVersion && owner.kind === kind) ?? false;
}
