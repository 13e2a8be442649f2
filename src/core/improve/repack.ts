// Buys nodes for a pile of pods. Few pods are divided in every way there is. More are bought for by worth: the node whose
// pods are worth most for its price, again and again; what was paid for each pod then says what it is worth in the next
// round, and after a few rounds plans are within some per cent of the best. Where kinds of pods are few, column generation
// follows: the cheapest fractional cover by fillings known and found, of which whole ones are taken until nothing is left.
// Bounded by counted work, never by time, so that the same pile always gives the same nodes.

import type { Sliced } from '../../base/index.ts';
import { FillingSearch } from './best-filling.ts';
import type { Cover } from './cover.ts';
import { coverOf, type Effort, quickSteps } from './covering.ts';
import { cheapestForFew } from './few-pods.ts';
import type { KindsLeft } from './kind-order.ts';
import { type Filling, type Kind, type Offer, priceOf } from './pile.ts';
import { isLeft, Purchase } from './purchase.ts';
import { areProportional, hostsBound, learnedWorths, valueOf } from './worths.ts';

export interface RepackOptions {
  /** Nothing is looked for where even fractions of nodes cost more than this. */
  readonly worthwhile: number;
  /** What pods are worth by the room they take. */
  readonly worths: Float64Array;
}

/** Rounds of buying by worth; later ones rarely find anything. */
const mostPurchases = 12;
/** Looks at kinds of pods after which no further round begins: more for many pods, because more is to be saved. */
const leastLooks = 300_000;
const looksPerPod = 20_000;
const mostLooks = 16_000_000;
const mostLooksAtHosts = 5_500_000;
/** Steps of looking for one filling where there are many kinds, each step a look at all of them. */
const stepsOfMany = 12;
/** Rounds of looking for better fillings; most piles need a third of it. */
const mostRounds = 200;
/** Rounds after the first whole nodes are bought, when most good fillings are known. */
const laterRounds = 6;
/** What all looking for fillings may take: more for many pods, because more is to be saved. */
const leastSteps = 50_000;
const stepsPerPod = 250;
/** Nodes this near to the price below which none can be are good enough. */
const closeEnough = 1.01;
/** With more kinds of pods than this the linear programme is slow, and worths by what was paid have to do. */
const mostKinds = 300;
/** Fillings the cover holds at least this much of one of are bought whole. */
const nearlyWhole = 0.75;

/** Nodes for all pods, or undefined if there is nothing to gain or some pod fits nowhere. */
export function* repack<O extends Offer>(
  kinds: readonly Kind[],
  offers: readonly O[],
  columns: number,
  { worthwhile, worths }: RepackOptions,
): Sliced<Filling<O>[] | undefined> {
  const search = new FillingSearch(kinds, columns);
  const all = Float64Array.from(kinds, ({ count }) => count);
  const bound = Math.max(valueOf(all, worths), hostsBound(kinds, offers));
  if (bound > worthwhile) return undefined;
  const few = yield* cheapestForFew(kinds, offers);
  if (few !== undefined) return few;
  const rounds = yield* buyInRounds(kinds, offers, search, worths, bound);
  if (rounds === undefined) return undefined;
  if (priceOf(rounds.best) <= bound * closeEnough || kinds.length > mostKinds) return rounds.best;
  const byCover = yield* buyByCover(kinds, offers, search, rounds.seen);
  return byCover === undefined || priceOf(rounds.best) <= priceOf(byCover) ? rounds.best : byCover;
}

/** Buys by worth again and again, each time by what was paid the last time; the best, and all fillings seen. */
function* buyInRounds<O extends Offer>(
  kinds: readonly Kind[],
  offers: readonly O[],
  search: FillingSearch,
  first: Float64Array,
  bound: number,
): Sliced<{ readonly best: Filling<O>[]; readonly seen: Filling<O>[] } | undefined> {
  const pods = kinds.reduce((sum, { count }) => sum + count, 0);
  const most = kinds.some(({ host }) => host !== undefined) ? mostLooksAtHosts : mostLooks;
  const until = search.looks + Math.min(most, leastLooks + looksPerPod * pods);
  const seen: Filling<O>[] = [];
  let best: Filling<O>[] | undefined;
  let worth = first;
  for (let round = 0; round < mostPurchases && (round === 0 || search.looks < until); round++) {
    const bought: Filling<O>[] | undefined = yield* buyByWorth(kinds, offers, search, worth);
    if (bought === undefined) return undefined;
    seen.push(...new Set(bought));
    if (best === undefined || priceOf(bought) < priceOf(best)) best = bought;
    if (priceOf(best) <= bound * closeEnough) break;
    const learned = learnedWorths(kinds, worth, bought);
    if (areProportional(learned, worth)) break;
    worth = learned;
  }
  return best === undefined ? undefined : { best, seen };
}

/** Buys the node whose pods are worth most for its price, again and again. */
function* buyByWorth<O extends Offer>(
  kinds: readonly Kind[],
  offers: readonly O[],
  search: FillingSearch,
  worth: Float64Array,
): Sliced<Filling<O>[] | undefined> {
  // Pods become fewer, so no offer gets better: one is looked at again only while it could be the best.
  const ranking = new Ranking(offers);
  const mostSteps = kinds.length > mostKinds ? stepsOfMany : quickSteps;
  const purchase = new Purchase<O>(kinds, offers);
  const kindsLeft: KindsLeft = new Map();
  while (purchase.isOpen) {
    let best: Filling<O> | undefined;
    let bestRatio = 0;
    let looked = 0;
    for (; looked < offers.length; looked++) {
      const at = ranking.order[looked] as number;
      if ((ranking.most[at] as number) <= bestRatio) break;
      const offer = offers[at] as O;
      const found = search.find(offer, purchase.left, worth, bestRatio * offer.price, mostSteps, kindsLeft);
      yield;
      const ratio = found === undefined ? bestRatio : found.worth / offer.price;
      ranking.most[at] = Math.min(ranking.most[at] as number, ratio);
      if (found === undefined || ratio <= bestRatio) continue;
      bestRatio = ratio;
      best = { offer, price: offer.price, kinds: found.kinds, counts: found.counts };
    }
    if (best === undefined) return undefined;
    purchase.buy(best, copiesOf(best, purchase.left));
    ranking.settle(looked);
  }
  return purchase.cheapest();
}

/** Offers by the most that was found for their price, which only falls. */
class Ranking {
  readonly most: Float64Array;
  readonly order: Int32Array;
  private readonly spare: Int32Array;
  private readonly compare: (left: number, right: number) => number;

  constructor(offers: readonly Offer[]) {
    this.most = new Float64Array(offers.length).fill(Number.POSITIVE_INFINITY);
    this.compare = (left, right) =>
      (this.most[right] as number) - (this.most[left] as number) ||
      (offers[left] as Offer).price - (offers[right] as Offer).price ||
      left - right;
    this.order = Int32Array.from(offers.keys()).sort(
      (left, right) => (offers[left] as Offer).price - (offers[right] as Offer).price || left - right,
    );
    this.spare = new Int32Array(offers.length);
  }

  /** The first so many may have fallen; the others are in order. */
  settle(changed: number): void {
    const { order, spare } = this;
    const moved = spare.subarray(0, changed);
    moved.set(order.subarray(0, changed));
    moved.sort(this.compare);
    let to = 0;
    let other = changed;
    for (const own of moved) {
      while (other < order.length && this.compare(order[other] as number, own) < 0)
        order[to++] = order[other++] as number;
      order[to++] = own;
    }
  }
}

/** Half of what is left of the scarcest kind: the next look may find something that suits the rest better. */
function copiesOf({ kinds, counts }: Filling, left: Float64Array): number {
  let most = Number.POSITIVE_INFINITY;
  kinds.forEach((kind, at) => {
    most = Math.min(most, (left[kind] as number) / (counts[at] as number));
  });
  return Math.max(1, Math.floor(most / 2));
}

function* buyByCover<O extends Offer>(
  kinds: readonly Kind[],
  offers: readonly O[],
  search: FillingSearch,
  first: readonly Filling<O>[],
): Sliced<Filling<O>[] | undefined> {
  const purchase = new Purchase<O>(kinds, offers);
  const { left } = purchase;
  const pods = left.reduce((sum, count) => sum + count, 0);
  let known: readonly Filling<O>[] = first;
  const steps = leastSteps + stepsPerPod * pods;
  let effort: Effort = { rounds: mostRounds, steps, deepSteps: steps / 2 };
  while (purchase.isOpen) {
    const cover: Cover<Filling<O>> | undefined = yield* coverOf(kinds, offers, left, search, known, effort);
    if (cover === undefined) return undefined;
    effort = { rounds: laterRounds, steps: steps / 8, deepSteps: 0 };
    const used = [...cover.used()].sort((a, b) => b.amount - a.amount);
    let any = false;
    for (const { taken, amount } of used) {
      const copies = amount >= 1 ? Math.floor(amount + 1e-3) : amount >= nearlyWhole || !any ? 1 : 0;
      if (copies > 0 && purchase.buy(taken, copies)) any = true;
    }
    if (!any) return undefined;
    known = cover.packages.filter((own) => isLeft(own, left));
    yield;
  }
  return purchase.cheapest();
}
