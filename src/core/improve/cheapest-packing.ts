// Pods packed on nodes, and the new nodes bought anew where others cost less.
//
// While packing, a new node is charged to its pool's limits with the largest type it could become, because it is open which
// one it will. First-fit packing takes the largest there are, so a limit that leaves plenty of room for the nodes that would
// be bought in the end can be used up by the first few that are packed. Where that happened, pods are packed once more as
// if limits were far away, bought anew, and the nodes then do without their largest types until the limits hold. That plan
// is taken if it places the same pods for less money, or more pods.

import type { Sliced } from '../../base/index.ts';
import type { NewNode } from '../packing/new-node.ts';
import { type Packed, solveInSlices } from '../packing/solve.ts';
import type { World } from '../world.ts';
import { spendingOn } from './buy-anew.ts';
import { improveInSlices } from './improve.ts';

export interface CheapestPacking {
  readonly packed: Packed;
  /** Where each limit was counted when it was met: what says why a pod has no place. */
  readonly refusing: Packed;
  /** The new nodes, in place of those packed. */
  readonly newNodes: readonly NewNode[];
}

export function* cheapestPacking(world: World, poolByPool: boolean): Sliced<CheapestPacking> {
  const packed = yield* solveInSlices(world, { strictReservations: true, usesLimitsUp: true });
  const first = { packed, refusing: packed, newNodes: yield* improved(world, packed, poolByPool) };
  if (!packed.packing.poolLimits.isShort) return first;
  const open = yield* solveInSlices(world, { strictReservations: true, countsLimitsAfterwards: true });
  const had = new Set(packed.failed.map(({ pod }) => pod));
  if (open.failed.some(({ pod }) => !had.has(pod))) return first;
  const newNodes = withinLimits(open, yield* improved(world, open, poolByPool));
  if (newNodes === undefined) return first;
  const placesMore = open.failed.length < packed.failed.length;
  const isCheaper = (yield* spendingOn(newNodes)).price < (yield* spendingOn(first.newNodes)).price;
  return placesMore || isCheaper ? { packed: open, refusing: packed, newNodes } : first;
}

function improved(
  world: World,
  { packing: { newNodes, poolLimits: limits }, steps }: Packed,
  poolByPool: boolean,
): Sliced<NewNode[]> {
  return improveInSlices(world, { newNodes, limits, steps, poolByPool });
}

/** The same nodes with as many types as the limits of their pools leave; undefined where a pool may not have them all. */
function withinLimits({ packing: { poolLimits } }: Packed, newNodes: readonly NewNode[]): NewNode[] | undefined {
  const fitting: NewNode[] = [...newNodes];
  for (const template of new Set(newNodes.map((newNode) => newNode.template))) {
    const own = newNodes.filter((newNode) => newNode.template === template);
    const allowed = poolLimits.fit(template, [], own);
    if (allowed === undefined) return undefined;
    for (const newNode of allowed) fitting[newNode.index] = newNode;
  }
  return fitting;
}
