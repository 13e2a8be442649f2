// Topology spread constraints that must hold, as kube-scheduler counts them: domains are made of the nodes that have every
// topology key and that the constraint's policies include; a domain no one is in counts as zero.
import { untolerated } from '../../core/index.ts';
import type { Pod } from '../../ports/index.ts';
import type { ClusterView, NodeRoom } from './cluster-view.ts';
import { matchesNode } from './node-selector.ts';
import { type SpreadConstraint, spreadSelection } from './pod-terms.ts';
import { type Refused, refused } from './reasons.ts';

interface Domains {
  key: string;
  counts: ReadonlyMap<string, number>;
  /** Pods in the least filled domain. */
  least: number;
  maxSkew: number;
  /** 1 if the pod itself counts. */
  self: number;
}

export type RoomFilter = (room: NodeRoom) => Refused | undefined;

/** Undefined: the pod has no such constraint. */
export function spreadFilter(pod: Pod, view: ClusterView): RoomFilter | undefined {
  const constraints = (pod.spec?.topologySpreadConstraints ?? []).filter(
    ({ whenUnsatisfiable }) => whenUnsatisfiable === 'DoNotSchedule',
  );
  if (constraints.length === 0) return undefined;
  const domains = constraints.map((constraint) => domainsOf(pod, constraint, constraints, view));
  return ({ labels }) => {
    for (const { key, counts, least, maxSkew, self } of domains) {
      const value = labels[key];
      if (value === undefined) return refused.spreadLabel;
      if ((counts.get(value) ?? 0) + self - least > maxSkew) return refused.spread;
    }
    return undefined;
  };
}

function domainsOf(
  pod: Pod,
  constraint: SpreadConstraint,
  all: readonly SpreadConstraint[],
  view: ClusterView,
): Domains {
  const selection = spreadSelection(pod, constraint);
  const byNode = view.counts.countsOf(selection);
  const counts = new Map<string, number>();
  for (const room of view.nodes) {
    if (all.some(({ topologyKey }) => room.labels[topologyKey] === undefined)) continue;
    if (!isIncluded(pod, constraint, room)) continue;
    const value = room.labels[constraint.topologyKey] as string;
    counts.set(value, (counts.get(value) ?? 0) + (byNode.get(room.name) ?? 0));
  }
  let least = Number.POSITIVE_INFINITY;
  for (const count of counts.values()) least = Math.min(least, count);
  return {
    key: constraint.topologyKey,
    counts,
    least: counts.size < (constraint.minDomains ?? 1) ? 0 : least,
    maxSkew: constraint.maxSkew,
    self: selection.selectsOwner ? 1 : 0,
  };
}

function isIncluded(pod: Pod, { nodeAffinityPolicy, nodeTaintsPolicy }: SpreadConstraint, room: NodeRoom): boolean {
  if (nodeAffinityPolicy !== 'Ignore' && !matchesNode(pod, room)) return false;
  if (nodeTaintsPolicy !== 'Honor') return true;
  const keepingOut = room.taints.filter(({ effect }) => effect !== 'PreferNoSchedule');
  return untolerated(keepingOut, pod.spec?.tolerations ?? []).length === 0;
}
