// After packing, the price: new nodes are opened again and their pods bought anew, in the sizes and mix that cost least.
// First-fit packing fills one node as long as any type can hold it, which ends with the largest, and dearest, machine on
// offer.
//
// Pools are opened by weight: where some weigh the same, their nodes are bought together as well, each pod from the pool
// that suits it best, and the cheaper of both ways is taken. Pods never leave for a pool of another weight.
//
// A node costs more than its price: a root volume, an address, a monitoring fee. That is counted on top when plans are
// compared, so that of two nearly equal ones the one with fewer nodes wins.
//
// Promises: nothing is placed where the rules would not have it; every pod keeps the domains it was counted in; never
// dearer than before, nor than pool by pool; where little is to be saved, nodes stay as they were packed; the same packing
// gives the same result.

import type { Sliced } from '../../base/index.ts';
import type { NewNode } from '../packing/new-node.ts';
import type { PoolLimits } from '../packing/pool-limits.ts';
import type { Template } from '../pools/templates.ts';
import type { World } from '../world.ts';
import { type Bought, buyAnew, spendingOn } from './buy-anew.ts';
import { canBeOpened } from './opened-pods.ts';

export interface Packing {
  readonly newNodes: readonly NewNode[];
  readonly limits: PoolLimits;
  /** The step of relaxation at which a pod was placed, if it was not the first. */
  readonly steps: ReadonlyMap<number, number>;
  /** Nodes of few pods are opened for any saving that is worth it: pods that run already pay for a long time. */
  readonly forAnySaving?: boolean;
  /** Pods stay in their pools, also where others weigh the same. */
  readonly poolByPool?: boolean;
}

/** The new nodes with those of a pool replaced where that is cheaper, numbered anew. */
export function* improveInSlices(world: World, packing: Packing): Sliced<NewNode[]> {
  const { newNodes, steps } = packing;
  const stepOf = (pod: number): number => steps.get(pod) ?? 0;
  const openable: NewNode[] = [];
  for (const newNode of newNodes) {
    yield;
    if (canBeOpened(world, newNode, stepOf)) openable.push(newNode);
  }
  const replacements = new Map<NewNode, readonly NewNode[]>();
  for (const weight of new Set(openable.map(({ template }) => template.weight))) {
    const alike = openable.filter(({ template }) => template.weight === weight);
    for (const { given, taken } of yield* buyWeight(world, packing, stepOf, weight, alike)) {
      given.forEach((newNode, at) => replacements.set(newNode, at === 0 ? taken : []));
    }
  }
  if (replacements.size === 0) return [...newNodes];
  return newNodes
    .flatMap((newNode) => replacements.get(newNode) ?? [newNode])
    .map((newNode, index) => ({ ...newNode, index }));
}

/** The nodes of pools that weigh the same, bought pool by pool or together. */
function* buyWeight(
  world: World,
  packing: Packing,
  stepOf: (pod: number) => number,
  weight: number,
  newNodes: readonly NewNode[],
): Sliced<readonly Bought[]> {
  const order = { world, stepOf, limits: packing.limits, forAnySaving: packing.forAnySaving ?? false };
  const each: Bought[] = [];
  for (const template of new Set(newNodes.map((newNode) => newNode.template))) {
    const own = newNodes.filter((newNode) => newNode.template === template);
    each.push(...(yield* buyAnew(order, [template], own)));
  }
  const templates = world.templates.filter((template: Template) => template.weight === weight);
  if (templates.length < 2 || packing.poolByPool) return each;
  const together = yield* buyAnew(order, templates, newNodes);
  const gone = new Set(each.flatMap(({ given }) => given));
  const byPool = yield* spendingOn([
    ...newNodes.filter((newNode) => !gone.has(newNode)),
    ...each.flatMap(({ taken }) => taken),
  ]);
  const joint = yield* spendingOn(together.flatMap(({ taken }) => taken));
  const isBetter = together.length > 0 && joint.cost < byPool.cost && joint.price <= byPool.price;
  return isBetter ? together : each;
}
