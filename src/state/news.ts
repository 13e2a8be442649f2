// Which changes of an object could change what disruption finds out: whether a pod keeps its node, and where pods fit.
// Everything else, like heartbeats and counters, is left out, so that a quiet cluster is not searched again and again.
import { annotation } from '../api/index.ts';
import type { KubeObject, Node, Pod, PodDisruptionBudget } from '../ports/index.ts';
import { isTerminal } from './pod-classes.ts';

/** A pod that waits is not news: consolidation has nothing to gain from it. */
export function isPodNews(before: Pod | undefined, after: Pod): boolean {
  if (before?.spec?.nodeName !== after.spec?.nodeName) return true;
  if (before === undefined || !after.spec?.nodeName) return false;
  return !isSame([before, after], (pod) => {
    const { annotations, labels, generation, deletionTimestamp } = pod.metadata;
    return [
      annotations?.[annotation.doNotDisrupt],
      annotations?.[annotation.podDeletionCost],
      annotations?.[annotation.disruptionCost],
      labels,
      generation,
      deletionTimestamp !== undefined,
      isTerminal(pod),
    ];
  });
}

export function isNodeNews(before: Node, after: Node): boolean {
  return !isSame([before, after], ({ metadata: { annotations, labels }, spec, status }) => [
    annotations?.[annotation.doNotDisrupt],
    labels,
    spec?.taints,
    status?.allocatable,
  ]);
}

/** Of a PodDisruptionBudget: another rule, or it allows something now where it did not, or the other way round. */
export function isBudgetNews(before: KubeObject | undefined, after: KubeObject): boolean {
  if (before === undefined) return true;
  return !isSame([before, after] as [PodDisruptionBudget, PodDisruptionBudget], ({ metadata, status }) => [
    metadata.generation,
    (status?.disruptionsAllowed ?? 0) > 0,
  ]);
}

function isSame<T>([left, right]: readonly [T, T], whatMatters: (object: T) => unknown): boolean {
  return JSON.stringify(whatMatters(left)) === JSON.stringify(whatMatters(right));
}
