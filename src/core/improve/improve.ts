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
import type { Claim } from '../packing/claim.ts';
import type { PoolLimits } from '../packing/pool-limits.ts';
import type { Template } from '../pools/templates.ts';
import type { World } from '../world.ts';
import { type Bought, buyAnew, spendingOn } from './buy-anew.ts';
import { canBeOpened } from './open-claims.ts';

export interface Packing {
  readonly claims: readonly Claim[];
  readonly limits: PoolLimits;
  /** The step of relaxation at which a pod was placed, if it was not the first. */
  readonly steps: ReadonlyMap<number, number>;
  /** Nodes of few pods are opened for any saving that is worth it: pods that run already pay for a long time. */
  readonly forAnySaving?: boolean;
  /** Pods stay in their pools, also where others weigh the same. */
  readonly poolByPool?: boolean;
}

/** The claims with those of a pool replaced where that is cheaper, numbered anew. */
export function* improveInSlices(world: World, packing: Packing): Sliced<Claim[]> {
  const { claims, steps } = packing;
  const stepOf = (pod: number): number => steps.get(pod) ?? 0;
  const openable: Claim[] = [];
  for (const claim of claims) {
    yield;
    if (canBeOpened(world, claim, stepOf)) openable.push(claim);
  }
  const replacements = new Map<Claim, readonly Claim[]>();
  for (const weight of new Set(openable.map(({ template }) => template.weight))) {
    const alike = openable.filter(({ template }) => template.weight === weight);
    for (const { given, taken } of yield* buyWeight(world, packing, stepOf, weight, alike)) {
      given.forEach((claim, at) => replacements.set(claim, at === 0 ? taken : []));
    }
  }
  if (replacements.size === 0) return [...claims];
  return claims.flatMap((claim) => replacements.get(claim) ?? [claim]).map((claim, index) => ({ ...claim, index }));
}

/** The nodes of pools that weigh the same, bought pool by pool or together. */
function* buyWeight(
  world: World,
  packing: Packing,
  stepOf: (pod: number) => number,
  weight: number,
  claims: readonly Claim[],
): Sliced<readonly Bought[]> {
  const order = { world, stepOf, limits: packing.limits, forAnySaving: packing.forAnySaving ?? false };
  const each: Bought[] = [];
  for (const template of new Set(claims.map((claim) => claim.template))) {
    const own = claims.filter((claim) => claim.template === template);
    each.push(...(yield* buyAnew(order, [template], own)));
  }
  const templates = world.templates.filter((template: Template) => template.weight === weight);
  if (templates.length < 2 || packing.poolByPool) return each;
  const together = yield* buyAnew(order, templates, claims);
  const gone = new Set(each.flatMap(({ given }) => given));
  const byPool = yield* spendingOn([
    ...claims.filter((claim) => !gone.has(claim)),
    ...each.flatMap(({ taken }) => taken),
  ]);
  const joint = yield* spendingOn(together.flatMap(({ taken }) => taken));
  const isBetter = together.length > 0 && joint.cost < byPool.cost && joint.price <= byPool.price;
  return isBetter ? together : each;
}
