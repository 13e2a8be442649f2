// In which order nodes are likely to go, as ranks that a ReplicaSet reads when it is scaled down: its pods on the nodes that
// go first are deleted first, so that a node empties instead of every node losing a little. The order is consolidation's
// own: drifted nodes, then the others, the most saved per unit of trouble first, as far as budgets reach.

import { taint } from '../../api/names.ts';
import { type Sliced } from '../../base/index.ts';
import type { Pod } from '../kube/objects.ts';
import { isTerminal } from '../pods/pod-classes.ts';
import { bySavingsRatio, firstBlocker } from './candidates.ts';
import { hasDrifted } from './eligibility.ts';
import { type Fleet, type Member, quietTimeMs } from './fleet.ts';
import { Allowance } from './round.ts';

/** Lower than any other: its node is being taken away. */
export const leavingRank = -(2 ** 31);

/** A node with the rank its pods should carry; undefined where they should carry none. */
export interface RankedNode {
  readonly name: string;
  readonly nodePool: string;
  readonly rank: number | undefined;
  /** The pods a rank means something to: those of ReplicaSets. */
  readonly pods: readonly Pod[];
}

type Place = 'leaving' | 'drifted' | 'ordinary' | 'unranked';

/** Every managed node: those that leave, then those with a rank in their order, then those without. Yields after each. */
export function* deletionRanks(fleet: Fleet): Sliced<RankedNode[]> {
  const places: Record<Place, Member[]> = { leaving: [], drifted: [], ordinary: [], unranked: [] };
  for (const member of bySavingsRatio(fleet.members)) {
    yield;
    if (member.machine.claim === undefined || member.machine.node === undefined) continue;
    places[placeOf(fleet, member)].push(member);
  }
  const ranked = [
    ...within(Allowance.of(fleet, 'Drifted'), places.drifted, places.unranked),
    ...within(Allowance.of(fleet, 'Underutilized'), places.ordinary, places.unranked),
  ];
  return [
    ...places.leaving.map((member) => withRank(member, leavingRank)),
    ...ranked.map((member, at) => withRank(member, at - ranked.length)),
    ...places.unranked.map((member) => withRank(member, undefined)),
  ];
}

/** Those the budgets of their pools have room for; the others get no rank. */
function within(allowance: Allowance, members: readonly Member[], otherwise: Member[]): Member[] {
  return members.filter((member) => allowance.take(member.poolName) || (otherwise.push(member), false));
}

function placeOf(fleet: Fleet, member: Member): Place {
  const { machine } = member;
  const isDisrupted = machine.node?.spec?.taints?.some(
    ({ key, effect }) => key === taint.disrupted.key && effect === taint.disrupted.effect,
  );
  if (machine.leaving || member.isQueued || isDisrupted === true) return 'leaving';
  if (firstBlocker(fleet, member, 'graceful') !== undefined) return 'unranked';
  if (member.pods.some(isPinned)) return 'unranked';
  // Without a price its place in the order would say nothing.
  if (member.instanceType !== undefined && !member.isTypeKnown) return 'unranked';
  if (hasDrifted(member) && !member.isStatic) return 'drifted';
  return Number.isFinite(quietTimeMs(member.pool) ?? 0) ? 'ordinary' : 'unranked';
}

const recreating = [
  { apiVersion: 'apps/v1', kind: 'ReplicaSet' },
  { apiVersion: 'batch/v1', kind: 'Job' },
  { apiVersion: 'apps/v1', kind: 'DaemonSet' },
];

/** No controller would bring it back elsewhere. */
function isPinned(pod: Pod): boolean {
  if (isTerminal(pod) || pod.metadata.namespace === 'kube-system') return false;
  return !recreating.some(({ apiVersion, kind }) => isControlledBy(pod, apiVersion, kind));
}

function isControlledBy({ metadata }: Pod, apiVersion: string, kind: string): boolean {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  return owner?.apiVersion === apiVersion && owner.kind === kind;
}

function withRank({ name, poolName = '', pods }: Member, rank: number | undefined): RankedNode {
  const own = pods.filter((pod) => !isTerminal(pod) && isControlledBy(pod, 'apps/v1', 'ReplicaSet'));
  return { name, nodePool: poolName, rank, pods: own };
}
