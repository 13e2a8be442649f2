// Buys nodes for a pile of interchangeable pods by column generation: fillings of nodes are packages, the pods are the
// demand. The cheapest fractional cover tells what each kind of pod is worth; fillings that cost less than the worth of
// their pods are added until there is none; then whole fillings are taken and the rest is bought one node at a time.
// Bounded by the number of fillings worked out, never by time, so that the same pile always gives the same nodes.

import type { Sliced } from '../../base/index.ts';
import type { Need } from '../workload.ts';
import { cheapestCover, type Package } from './cheapest-cover.ts';

/** Pods of one kind in the pile. */
export interface Heap {
  readonly need: Need;
  readonly count: number;
}

export interface Offer {
  readonly row: number;
  readonly price: number;
  /** Room by resource, in the order of the columns. */
  readonly room: readonly number[];
}

/** A node to buy: the row, and how many pods of each heap it takes. */
export interface Filling {
  readonly row: number;
  readonly price: number;
  readonly takes: readonly number[];
}

/** More kinds of pods than this make the linear programme slow; such piles stay as they are. */
const mostHeaps = 160;
/** Rounds of looking for better fillings; each tries every shortlisted offer. */
const mostRounds = 30;
/** Rounds after the first whole nodes are bought, when most good fillings are known. */
const laterRounds = 4;
/** A filling must beat its price by this part to be worth another round. */
const margin = 0.004;
/** Offers kept per point of view (all pods, those with much memory, those with much cpu). */
const shortlistLength = 8;
/** Offers kept for each kind of pod. */
const favourites = 2;
/** Steps of looking for a better filling of one node than the greedy one. */
const searchSteps = 400;

/** Nodes for all pods, or undefined if that is too much work. `columns` are the resources of all vectors. */
export function* repack(
  heaps: readonly Heap[],
  offers: readonly Offer[],
  columns: readonly number[],
): Sliced<Filling[] | undefined> {
  if (heaps.length > mostHeaps) return undefined;
  const needs = heaps.map(({ need }) => columns.map((column) => need.amounts[need.columns.indexOf(column)] ?? 0));
  const left = heaps.map(({ count }) => count);
  const bought: Filling[] = [];
  let fillings: Filling[] = [];
  let rounds = mostRounds;
  let ended: readonly Filling[] | undefined;
  while (left.some((count) => count > 0)) {
    // Fractions hide that the last nodes stay half empty: one that takes all the rest may be the better end.
    const last = oneForAll(offers, needs, left);
    if (last !== undefined && (ended === undefined || priceOf(bought) + last.price < priceOf(ended))) {
      ended = [...bought, last];
    }
    const shortlist = shortlisted(offers, needs, left);
    const starting = startingFillings(shortlist, needs, left);
    if (starting === undefined) return undefined;
    fillings = [
      ...starting,
      ...fillings.filter(({ takes }) => takes.every((count, heap) => count <= (left[heap] as number))),
    ];
    const amounts = yield* generate(fillings, shortlist, needs, left, rounds);
    // Whole fillings of the cover are taken; if there is none, the one it holds most of.
    const whole = amounts.map((amount) => Math.floor(amount + 1e-6));
    if (!whole.some((amount) => amount > 0)) whole[amounts.indexOf(Math.max(...amounts))] = 1;
    whole.forEach((copies, at) => {
      const filling = fillings[at] as Filling;
      for (let copy = 0; copy < copies; copy++) {
        if (filling.takes.some((count, heap) => count > (left[heap] as number))) break;
        filling.takes.forEach((count, heap) => {
          left[heap] = (left[heap] as number) - count;
        });
        bought.push(filling);
      }
    });
    rounds = laterRounds;
  }
  return ended !== undefined && priceOf(ended) <= priceOf(bought) ? [...ended] : bought;
}

/** The cheapest single node for everything that is left, if there is one. */
function oneForAll(
  offers: readonly Offer[],
  needs: readonly (readonly number[])[],
  left: readonly number[],
): Filling | undefined {
  const demand = demandOf(needs, left);
  let best: Offer | undefined;
  for (const offer of offers) {
    if (best !== undefined && offer.price >= best.price) continue;
    if (demand.every((amount, at) => amount <= (offer.room[at] as number))) best = offer;
  }
  return best === undefined ? undefined : { row: best.row, price: best.price, takes: [...left] };
}

export function priceOf(fillings: readonly Filling[]): number {
  return fillings.reduce((sum, { price }) => sum + price, 0);
}

/** Adds fillings that cost less than their pods are worth until there is none; how many of each the cover holds. */
function* generate(
  fillings: Filling[],
  shortlist: readonly Offer[],
  needs: readonly (readonly number[])[],
  left: readonly number[],
  rounds: number,
): Sliced<readonly number[]> {
  let cover = cheapestCover(left, fillings.map(asPackage));
  for (let round = 0; round < rounds; round++) {
    const { worth } = cover;
    const better: Filling[] = [];
    for (const offer of shortlist) {
      const filling = bestFilling(offer, needs, left, worth);
      if (worthOf(filling, worth) > filling.price * (1 + margin)) better.push(filling);
      yield;
    }
    if (better.length === 0) break;
    fillings.push(...better);
    cover = cheapestCover(left, fillings.map(asPackage));
  }
  return cover.amounts;
}

function asPackage({ price, takes }: Filling): Package {
  return { price, contents: takes };
}

/** Offers that cover the pile, or its memory-heavy or cpu-heavy half, cheaply if nothing else were bought. */
function shortlisted(
  offers: readonly Offer[],
  needs: readonly (readonly number[])[],
  left: readonly number[],
): Offer[] {
  const total = demandOf(needs, left);
  const leaning = needs.map((need) => (need[0] as number) / (total[0] as number) - (need[1] ?? 0) / (total[1] ?? 1));
  const points = [
    left,
    left.map((count, heap) => ((leaning[heap] as number) > 0 ? count : 0)),
    left.map((count, heap) => ((leaning[heap] as number) <= 0 ? count : 0)),
  ];
  const chosen = new Set<Offer>();
  for (const point of points) {
    for (const offer of rankedByCover(offers, demandOf(needs, point)).slice(0, shortlistLength)) chosen.add(offer);
  }
  // Every kind of pod needs a node that can hold it, and has its own favourites.
  needs.forEach((need, heap) => {
    if (left[heap] === 0) return;
    const holds = (offer: Offer): boolean => need.every((amount, at) => amount <= (offer.room[at] as number));
    for (const offer of rankedByCover(offers.filter(holds), need).slice(0, favourites)) chosen.add(offer);
  });
  return [...chosen];
}

/** By what covering the demand with this offer alone would cost, in fractions. */
function rankedByCover(offers: readonly Offer[], demand: readonly number[]): Offer[] {
  const cost = ({ price, room }: Offer): number => {
    let most = 0;
    for (let at = 0; at < demand.length; at++) {
      if ((demand[at] as number) > 0) most = Math.max(most, (demand[at] as number) / (room[at] as number));
    }
    return price * most;
  };
  return offers
    .map((offer) => ({ offer, cost: cost(offer) }))
    .filter((entry) => Number.isFinite(entry.cost))
    .sort((left, right) => left.cost - right.cost || left.offer.row - right.offer.row)
    .map(({ offer }) => offer);
}

function demandOf(needs: readonly (readonly number[])[], counts: readonly number[]): number[] {
  const demand = (needs[0] ?? []).map(() => 0);
  needs.forEach((need, heap) => {
    for (let at = 0; at < need.length; at++) {
      demand[at] = (demand[at] as number) + (need[at] as number) * (counts[heap] as number);
    }
  });
  return demand;
}

/** For each kind of pod its best node filled with nothing else: enough to cover everything somehow. */
function startingFillings(
  shortlist: readonly Offer[],
  needs: readonly (readonly number[])[],
  left: readonly number[],
): Filling[] | undefined {
  const fillings: Filling[] = [];
  for (let heap = 0; heap < needs.length; heap++) {
    if (left[heap] === 0) continue;
    const alone = needs.map((_, other) => (other === heap ? 1 : 0));
    const [best] = shortlist
      .map((offer) => fill(offer, needs, left, alone))
      .filter((filling) => (filling.takes[heap] as number) > 0)
      .sort((a, b) => a.price / (a.takes[heap] as number) - b.price / (b.takes[heap] as number) || a.row - b.row);
    if (best === undefined) return undefined;
    fillings.push(best);
  }
  return fillings;
}

/**
 * Fills a node with the pods that are worth most for the part of what is left they take. Several equal pods go in at
 * once, fewer the fuller the node is.
 */
function fill(
  { row, price, room }: Offer,
  needs: readonly (readonly number[])[],
  left: readonly number[],
  worth: readonly number[],
): Filling {
  const rest = [...room];
  const takes = needs.map(() => 0);
  for (;;) {
    let best = -1;
    let bestScore = 0;
    let bestFits = 0;
    for (let heap = 0; heap < needs.length; heap++) {
      const value = worth[heap] as number;
      let fits = (left[heap] as number) - (takes[heap] as number);
      if (value <= 0 || fits <= 0) continue;
      const need = needs[heap] as readonly number[];
      let part = 0;
      for (let at = 0; at < rest.length; at++) {
        const amount = need[at] as number;
        if (amount === 0) continue;
        const available = rest[at] as number;
        fits = Math.min(fits, Math.floor(available / amount));
        part += amount / available;
      }
      if (fits > 0 && value / part > bestScore) {
        best = heap;
        bestScore = value / part;
        bestFits = fits;
      }
    }
    if (best < 0) return { row, price, takes };
    const count = Math.max(1, bestFits >> 3);
    takes[best] = (takes[best] as number) + count;
    const need = needs[best] as readonly number[];
    for (let at = 0; at < rest.length; at++) rest[at] = (rest[at] as number) - count * (need[at] as number);
  }
}

/**
 * Looks for the filling of most worth, depth first: kinds of pods by worth for the room they take, each as often as fits
 * and then less often, abandoning branches that cannot beat what is known. Exact for small nodes, a good try for large.
 */
function bestFilling(
  offer: Offer,
  needs: readonly (readonly number[])[],
  left: readonly number[],
  worth: readonly number[],
): Filling {
  const greedy = fill(offer, needs, left, worth);
  const { room } = offer;
  const partOf = (need: readonly number[]): number =>
    need.reduce((sum, amount, at) => sum + ((room[at] as number) > 0 ? amount / (room[at] as number) : 0), 0);
  const kinds = needs
    .map((need, heap) => ({ heap, need, value: worth[heap] as number, part: partOf(need) }))
    .filter(({ heap, value, need }) => {
      const fits = need.every((amount, at) => amount <= (room[at] as number));
      return value > 0 && fits && (left[heap] as number) > 0;
    })
    .sort((a, b) => b.value / b.part - a.value / a.part || a.heap - b.heap);
  let best = greedy.takes;
  let bestValue = worthOf(greedy, worth);
  let steps = searchSteps;
  const rest = [...room];
  const takes = needs.map(() => 0);
  const search = (at: number, value: number, partLeft: number): void => {
    if (steps-- <= 0) return;
    if (value > bestValue * (1 + 1e-9)) {
      bestValue = value;
      best = [...takes];
    }
    const kind = kinds[at];
    if (kind === undefined || value + (partLeft * kind.value) / kind.part <= bestValue * (1 + 1e-9)) return;
    const { heap, need } = kind;
    let most = left[heap] as number;
    for (let r = 0; r < rest.length; r++) {
      if ((need[r] as number) > 0) most = Math.min(most, Math.floor((rest[r] as number) / (need[r] as number)));
    }
    for (let count = most; count >= 0; count--) {
      takes[heap] = count;
      for (let r = 0; r < rest.length; r++) rest[r] = (rest[r] as number) - count * (need[r] as number);
      search(at + 1, value + count * kind.value, partLeft - count * kind.part);
      for (let r = 0; r < rest.length; r++) rest[r] = (rest[r] as number) + count * (need[r] as number);
      if (steps <= 0) break;
    }
    takes[heap] = 0;
  };
  search(0, 0, rest.length);
  return best === greedy.takes ? greedy : { row: offer.row, price: offer.price, takes: best };
}

function worthOf({ takes }: Filling, worth: readonly number[]): number {
  let value = 0;
  for (let heap = 0; heap < takes.length; heap++) value += (takes[heap] as number) * (worth[heap] as number);
  return value;
}
