// After packing, the price: the nodes of each pool are opened again and their pods bought anew, in the sizes and mix that
// cost least. First-fit packing fills one node as long as any type can hold it, which ends with the largest, and dearest,
// machine on offer.
//
// A node costs more than its price: a root volume, an address, a monitoring fee. That is counted on top when plans are
// compared, so that of two nearly equal ones the one with fewer nodes wins.
//
// Promises: nothing is placed where the rules would not have it; every pod keeps the domains it was counted in; never
// dearer than before; where little is to be saved, nodes stay as they were packed; the same packing gives the same result.

import { hasBit, type Sliced } from '../../base/index.ts';
import { addNeed, type Claim, usedFits } from '../packing/claim.ts';
import type { PoolLimits } from '../packing/pool-limits.ts';
import type { Template } from '../pools/templates.ts';
import type { RequirementSet } from '../requirements/requirement-set.ts';
import { noAttachments, withAttachments } from '../volumes/pod-volumes.ts';
import type { GroupStep, PlannedPod } from '../workload.ts';
import type { World } from '../world.ts';
import { type LabelledOffer, offersFor } from './offers.ts';
import { canBeOpened, OpenedPods, type PodKind } from './open-claims.ts';
import { type Filling, type Kind, priceOf } from './pile.ts';
import { repack } from './repack.ts';
import { isWorthwhile, mostPromising, mostWorthwhile } from './worthwhile.ts';

export interface Packing {
  readonly claims: readonly Claim[];
  readonly limits: PoolLimits;
  /** The step of relaxation at which a pod was placed, if it was not the first. */
  readonly steps: ReadonlyMap<number, number>;
  /** Nodes of few pods are opened for any saving that is worth it: pods that run already pay for a long time. */
  readonly forAnySaving?: boolean;
}

/**
 * How many combinations of labels, types and kinds of pods are looked at: more where there are more pods, because more is
 * to be saved. Past that only crowded nodes are opened, each among those with the same labels.
 */
const leastCombinations = 20_000;
const combinationsPerPod = 800;
const mostCombinations = 1_500_000;
/** Where more kinds than this say which pods they share a host with, the rules decide about nodes, not the price. */
const mostHostRuled = 100;
const crowded = 32;

/** The claims with those of a pool replaced where that is cheaper, numbered anew. */
export function* improveInSlices(world: World, packing: Packing): Sliced<Claim[]> {
  const { claims, limits, steps, forAnySaving = false } = packing;
  const stepOf = (pod: number): number => steps.get(pod) ?? 0;
  const piles = new Map<Template, Claim[]>();
  for (const claim of claims) {
    yield;
    if (!canBeOpened(world, claim, stepOf)) continue;
    const pile = piles.get(claim.template);
    if (pile) pile.push(claim);
    else piles.set(claim.template, [claim]);
  }
  const replacements = new Map<Claim, readonly Claim[]>();
  for (const claimsOfPool of piles.values()) {
    const whole = yield* openPile(world, claimsOfPool, stepOf);
    const opened = isTooLarge(whole) ? yield* crowdedPiles(world, claimsOfPool, stepOf) : [whole];
    for (const pile of opened) {
      const bought = yield* buyAnew(world, pile, limits, stepOf, forAnySaving);
      if (bought === undefined) continue;
      pile.claims.forEach((claim, at) => replacements.set(claim, at === 0 ? bought : []));
    }
  }
  if (replacements.size === 0) return [...claims];
  return claims.flatMap((claim) => replacements.get(claim) ?? [claim]).map((claim, index) => ({ ...claim, index }));
}

/** Nodes of one pool, opened: their pods, and the labels new nodes may be asked for. */
interface Pile {
  readonly template: Template;
  readonly claims: readonly Claim[];
  readonly opened: OpenedPods;
  readonly labelSets: ReadonlySet<RequirementSet>;
}

function* openPile(world: World, claims: readonly Claim[], stepOf: (pod: number) => number): Sliced<Pile> {
  const { template } = claims[0] as Claim;
  const opened = new OpenedPods(world, template);
  for (const claim of claims) {
    for (const pod of claim.pods) opened.add(claim, pod, stepOf(pod));
    yield;
  }
  for (const { pods } of opened.kinds) pods.sort((left, right) => left - right);
  // Only labels that packed nodes had: a node in another zone would be a domain that spreads have not counted with.
  const labelSets = new Set(claims.map(({ set }) => set));
  return { template, claims, opened, labelSets };
}

function isTooLarge({ template, opened, labelSets }: Pile): boolean {
  const pods = opened.kinds.reduce((sum, kind) => sum + kind.pods.length, 0);
  const hostRuled = opened.kinds.reduce((sum, { host }) => sum + (host === undefined ? 0 : 1), 0);
  if (hostRuled > mostHostRuled) return true;
  const combinations = labelSets.size * template.rows.count * opened.kinds.length;
  return combinations > Math.min(mostCombinations, leastCombinations + combinationsPerPod * pods);
}

function* crowdedPiles(world: World, claims: readonly Claim[], stepOf: (pod: number) => number): Sliced<Pile[]> {
  const bySet = new Map<RequirementSet, Claim[]>();
  for (const claim of claims) {
    if (claim.pods.length < crowded) continue;
    const alike = bySet.get(claim.set);
    if (alike) alike.push(claim);
    else bySet.set(claim.set, [claim]);
  }
  const piles: Pile[] = [];
  for (const [set, alike] of bySet) {
    const pile = { ...(yield* openPile(world, alike, stepOf)), labelSets: new Set([set]) };
    if (!isTooLarge(pile)) piles.push(pile);
  }
  return piles;
}

function* buyAnew(
  world: World,
  { template, claims: pile, opened, labelSets }: Pile,
  limits: PoolLimits,
  stepOf: (pod: number) => number,
  forAnySaving: boolean,
): Sliced<Claim[] | undefined> {
  const model = pile[0] as Claim;
  const { nodeCostPerHour } = template;
  let price = 0;
  for (const claim of pile) {
    price += cheapestPrice(claim);
    yield;
  }
  const before = { price, cost: price + pile.length * nodeCostPerHour };
  const podKinds = opened.kinds;
  const columns = [...new Set(podKinds.flatMap(({ need }) => need.columns))].sort((left, right) => left - right);
  const kinds = podKinds.map(
    ({ need, host, pods }): Kind => ({
      need: Float64Array.from(columns, (column) => need.amounts[need.columns.indexOf(column)] ?? 0),
      count: pods.length,
      host,
    }),
  );
  const offers: LabelledOffer[] = [];
  for (const set of labelSets) {
    const suited = podKinds.flatMap((kind, at) => (suits(opened, set, kind) ? [at] : []));
    if (suited.length === 0) continue;
    offers.push(...(yield* offersFor({ template, set, rows: model.rows, columns, kinds, suited, nodeCostPerHour })));
  }
  const pods = kinds.reduce((sum, { count }) => sum + count, 0);
  const worthwhile = forAnySaving ? mostWorthwhile(before.cost) : mostPromising(before.cost, pods);
  const fillings = yield* repack(kinds, offers, columns.length, { worthwhile });
  if (fillings === undefined) return undefined;
  const cost = priceOf(fillings);
  const after = { price: cost - fillings.length * nodeCostPerHour, cost };
  if (!isWorthwhile(before, after)) return undefined;
  const bought = claimsFrom(world, model, fillings, podKinds, stepOf);
  return limits.wouldAllow(template, pile, bought) ? bought : undefined;
}

function suits(opened: OpenedPods, set: RequirementSet, kind: PodKind): boolean {
  return kind.exact ? kind.set === set : opened.implies(set, kind.set);
}

function cheapestPrice(claim: Claim): number {
  const { template, set, rows } = claim;
  const matching = template.rows.matching(set);
  let least = Number.POSITIVE_INFINITY;
  template.rows.cheapest(set).forEach((own, row) => {
    if (own === undefined || own.price >= least) return;
    if (hasBit(matching, row) && hasBit(rows, row) && usedFits(claim, row)) least = own.price;
  });
  return least;
}

/** Hands out the pods of each kind in queue order. */
function claimsFrom(
  world: World,
  model: Claim,
  fillings: readonly Filling<LabelledOffer>[],
  kinds: readonly PodKind[],
  stepOf: (pod: number) => number,
): Claim[] {
  const next = kinds.map(() => 0);
  return fillings.map(({ offer, kinds: taken, counts }) => {
    const claim: Claim = {
      ...model,
      set: offer.set,
      used: new Float64Array(world.resources.names.length),
      usedColumns: [],
      witness: offer.row,
      ports: [],
      attached: noAttachments,
      pods: [],
    };
    taken.forEach((index, at) => {
      const { need, pods } = kinds[index] as PodKind;
      for (let count = counts[at] as number; count > 0; count--) {
        const pod = pods[next[index] as number] as number;
        next[index] = (next[index] as number) + 1;
        addNeed(claim, need);
        claim.pods.push(pod);
        const { group } = world.workload.pods[pod] as PlannedPod;
        const { ports } = (group.steps[stepOf(pod)] as GroupStep).constraint;
        if (ports.length > 0) claim.ports = [...claim.ports, ...ports];
        if (group.attachments.size > 0) claim.attached = withAttachments(claim.attached, group.attachments);
      }
    });
    claim.pods.sort((left, right) => left - right);
    return claim;
  });
}
