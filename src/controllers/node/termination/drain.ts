// What a drain does next, decided from the pods of a node alone, so that a restarted process goes on where the last one
// stopped.
//
// 1. Pods go in four groups, strictly one after the other: ordinary before critical ones, and within each those of
//    DaemonSets last. A group is over when its pods are gone, not when they were asked to go.
// 2. With a deadline, every pod still gets the whole of its own grace period if it can: it is deleted when that would
//    start to run past the deadline, whatever group it is in and whoever protects it.
import { parseTime } from '../../../base/index.ts';
import type { Pod } from '../../../ports/index.ts';
import { isEvictable, isOwnedByDaemonSet, isWaitingEviction } from '../../../state/index.ts';

export interface Deletion {
  pod: Pod;
  graceSeconds: number;
  /** What the pod asked for. */
  wantedSeconds: number;
}

export interface Drain {
  /** Pods the drain waits for, in all groups. */
  waiting: number;
  /** To be evicted now: the evictable pods of the first group that is not empty. */
  evict: Pod[];
  /** To be deleted now, past budgets and protection, because the deadline comes. */
  remove: Deletion[];
}

/** What the API server gives a pod that does not say. */
const defaultGraceSeconds = 30;

export function drainOf(pods: Iterable<Pod>, nowMs: number, deadlineMs: number | undefined): Drain {
  const groups: Pod[][] = [[], [], [], []];
  const remove: Deletion[] = [];
  let waiting = 0;
  for (const pod of pods) {
    if (!isWaitingEviction(pod, nowMs)) continue;
    waiting += 1;
    groups[groupOf(pod)]?.push(pod);
    const deletion = deadlineMs === undefined ? undefined : deletionOf(pod, nowMs, deadlineMs);
    if (deletion !== undefined) remove.push(deletion);
  }
  const removed = new Set(remove.map(({ pod }) => pod));
  const current = groups.find((group) => group.length > 0) ?? [];
  return { waiting, remove, evict: current.filter((pod) => isEvictable(pod, nowMs) && !removed.has(pod)) };
}

function groupOf(pod: Pod): number {
  return (isCritical(pod) ? 2 : 0) + (isOwnedByDaemonSet(pod) ? 1 : 0);
}

function isCritical({ spec }: Pod): boolean {
  return spec?.priorityClassName === 'system-cluster-critical' || spec?.priorityClassName === 'system-node-critical';
}

function deletionOf(pod: Pod, nowMs: number, deadlineMs: number): Deletion | undefined {
  const wantedSeconds = pod.spec?.terminationGracePeriodSeconds ?? defaultGraceSeconds;
  if (nowMs <= deadlineMs - wantedSeconds * 1000) return undefined;
  // Never zero: that would remove the pod from the API while it still runs.
  const graceSeconds = Math.max(1, Math.floor((deadlineMs - nowMs) / 1000));
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
  if (deletionTimestamp !== undefined) {
    const endsInTime = (parseTime(deletionTimestamp) ?? 0) <= deadlineMs;
    // The API server only ever shortens a grace period: asking for as much or more changes nothing.
    const isShorter = deletionGracePeriodSeconds === undefined || graceSeconds < deletionGracePeriodSeconds;
    if (endsInTime || !isShorter) return undefined;
  }
  return { pod, graceSeconds, wantedSeconds };
}
