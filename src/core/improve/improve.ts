// After packing, the price: nodes that gathered many pods are opened again and their pods bought anew, in the sizes and
// mix that cost least. First-fit packing fills one node as long as any type can hold it, which ends with the largest, and
// dearest, machine on offer.
//
// A node costs more than its price: a root volume, an address, somebody's attention. That is counted on top when plans
// are compared, so that of two nearly equal ones the one with fewer nodes wins.
//
// Promises: nothing is placed where the rules would not have it (only pods without a say about their host move, among
// nodes with the same labels); never dearer than before; nodes with few pods stay as they were packed; the same packing
// gives the same result.

import { hasBit, type Sliced } from '../../base/index.ts';
import { addNeed, type Claim, usedFits } from '../packing/claim.ts';
import type { PoolLimits } from '../packing/pool-limits.ts';
import type { Template } from '../pools/templates.ts';
import type { RequirementSet } from '../requirements/requirement-set.ts';
import type { Constraint, Need, PlannedPod } from '../workload.ts';
import type { World } from '../world.ts';
import { type Filling, type Heap, type Offer, priceOf, repack } from './repack.ts';

export interface ImproveOptions {
  /** Nodes with fewer pods are left alone: there is little to gain, and their packing is what users know. */
  readonly crowded?: number;
  /** The saving on a group of nodes, as a part of their price, that is worth more and different nodes. */
  readonly worthwhile?: number;
}

const defaults = { crowded: 32, worthwhile: 0.05 };

/** The claims with crowded ones replaced where that is cheaper, numbered anew. */
export function* improveInSlices(
  world: World,
  claims: readonly Claim[],
  limits: PoolLimits,
  options: ImproveOptions = {},
): Sliced<Claim[]> {
  const { crowded, worthwhile } = { ...defaults, ...options };
  const piles = new Map<Template, Map<RequirementSet, Claim[]>>();
  for (const claim of claims) {
    yield;
    if (claim.pods.length < crowded || !isMovable(world, claim)) continue;
    const bySet = piles.get(claim.template) ?? new Map<RequirementSet, Claim[]>();
    piles.set(claim.template, bySet);
    const pile = bySet.get(claim.set);
    if (pile) pile.push(claim);
    else bySet.set(claim.set, [claim]);
  }
  const replacements = new Map<Claim, readonly Claim[]>();
  for (const [template, bySet] of piles) {
    for (const [set, pile] of bySet) {
      const bought = yield* buyAnew(world, template, set, pile, worthwhile, limits);
      if (bought === undefined) continue;
      pile.forEach((claim, at) => replacements.set(claim, at === 0 ? bought : []));
    }
  }
  if (replacements.size === 0) return [...claims];
  return claims.flatMap((claim) => replacements.get(claim) ?? [claim]).map((claim, index) => ({ ...claim, index }));
}

/** Only resources decide about these pods, once the labels of their node are given. */
function isMovable(world: World, claim: Claim): boolean {
  if (claim.set.hasMinValues || claim.held.size > 0 || claim.ports.length > 0) return false;
  return claim.pods.every((pod) => {
    const { group } = world.workload.pods[pod] as PlannedPod;
    if (group.devices !== undefined) return false;
    return group.steps.every(({ constraint }) => isHostBlind(constraint));
  });
}

/** Neither asks about the other pods of its host nor is asked about by them. */
function isHostBlind({ rules, volumes, ports }: Constraint): boolean {
  return (
    rules.hostBounds.length === 0 &&
    rules.hostAffinities.length === 0 &&
    rules.ownedInverse.length === 0 &&
    !rules.counted.some((group) => group.isHostname) &&
    volumes.length === 0 &&
    ports.length === 0
  );
}

function* buyAnew(
  world: World,
  template: Template,
  set: RequirementSet,
  pile: readonly Claim[],
  worthwhile: number,
  limits: PoolLimits,
): Sliced<Claim[] | undefined> {
  const priced = template.rows.cheapest(set);
  const matching = template.rows.matching(set);
  const rows = pile[0]?.rows;
  if (rows === undefined) return undefined;
  const { nodeCostPerHour } = world.settings;
  const isOffered = (row: number): boolean => hasBit(matching, row) && hasBit(rows, row) && priced[row] !== undefined;
  const before = pile.reduce((sum, claim) => sum + cheapestPrice(claim, isOffered, priced), 0);

  const byNeed = new Map<Need, number[]>();
  for (const pod of pile.flatMap((claim) => claim.pods).sort((left, right) => left - right)) {
    const { need } = (world.workload.pods[pod] as PlannedPod).group;
    const own = byNeed.get(need);
    if (own) own.push(pod);
    else byNeed.set(need, [pod]);
  }
  const heaps: Heap[] = [...byNeed].map(([need, own]) => ({ need, count: own.length }));
  const columns = [...new Set(heaps.flatMap(({ need }) => need.columns))].sort((left, right) => left - right);
  const offers: Offer[] = [];
  for (let row = 0; row < template.rows.count; row++) {
    if (!isOffered(row)) continue;
    const room = columns.map((column) => template.room[column]?.[row] ?? 0);
    offers.push({ row, price: (priced[row]?.price ?? 0) + nodeCostPerHour, room });
  }
  const fillings = yield* repack(heaps, offers, columns);
  if (fillings === undefined) return undefined;
  const after = priceOf(fillings);
  if (!(after <= (before + pile.length * nodeCostPerHour) * (1 - worthwhile))) return undefined;
  if (after - fillings.length * nodeCostPerHour > before) return undefined;
  const bought = claimsFrom(pile[0] as Claim, fillings, [...byNeed], world.resources.names.length);
  return limits.wouldAllow(template, pile, bought) ? bought : undefined;
}

function cheapestPrice(
  claim: Claim,
  isOffered: (row: number) => boolean,
  priced: ReturnType<Template['rows']['cheapest']>,
): number {
  let least = Number.POSITIVE_INFINITY;
  priced.forEach((own, row) => {
    if (own !== undefined && own.price < least && isOffered(row) && usedFits(claim, row)) least = own.price;
  });
  return least;
}

/** Hands out the pods of each heap in queue order. */
function claimsFrom(
  model: Claim,
  fillings: readonly Filling[],
  heaps: readonly (readonly [Need, number[]])[],
  resourceCount: number,
): Claim[] {
  const next = heaps.map(() => 0);
  return fillings.map(({ row, takes }) => {
    const claim: Claim = {
      ...model,
      used: new Float64Array(resourceCount),
      usedColumns: [],
      witness: row,
      pods: [],
    };
    takes.forEach((count, heap) => {
      const [need, pods] = heaps[heap] as readonly [Need, number[]];
      for (let taken = 0; taken < count; taken++) {
        addNeed(claim, need);
        claim.pods.push(pods[next[heap] as number] as number);
        next[heap] = (next[heap] as number) + 1;
      }
    });
    claim.pods.sort((left, right) => left - right);
    return claim;
  });
}
