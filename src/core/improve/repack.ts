// Buys nodes for a pile of pods by column generation: fillings of nodes are packages, the pods are the demand. The cheapest
// fractional cover says what each kind of pod is worth; fillings that cost less than the worth of their pods are added
// until there is none; then whole fillings are taken, those the cover holds nearly one of are rounded up, and the rest is
// bought the same way. Bounded by counted work, never by time, so that the same pile always gives the same nodes.

import type { Sliced } from '../../base/index.ts';
import { FillingSearch } from './best-filling.ts';
import { Cover, type Package } from './cover.ts';
import { type Filling, fits, type Kind, type Offer, priceOf } from './pile.ts';

export interface RepackOptions {
  /** Nothing is looked for where even fractions of nodes cost more than this. */
  readonly worthwhile: number;
}

/** Rounds of looking for better fillings; most piles need a third of it. */
const mostRounds = 200;
/** Rounds after the first whole nodes are bought, when most good fillings are known. */
const laterRounds = 6;
/** A filling must beat its price by this part to be worth another round. */
const margin = 0.003;
/** Steps of looking for one filling: while most offers are compared, and where it matters. */
const quickSteps = 100;
const deepest = 20_000;
/** What all looking for fillings may take: more for many pods, because more is to be saved. */
const leastSteps = 50_000;
const stepsPerPod = 250;
/** Exchanges of known fillings after each round. */
const mostExchanges = 100;
/** How near to the best bounding worths fillings are looked for. */
const steadiest = 0.8;
/** Nodes this near to the price below which none can be are good enough. */
const closeEnough = 1.01;
/** With more kinds of pods than this the linear programme is slow, and worths by room alone have to do. */
const mostKinds = 300;
/** Offers looked at without finding a better one before the best so far is bought; fewer where each look is long. */
const looksInVain = 64;
const looksInVainOfMany = 6;
/** Fillings the cover holds at least this much of one of are bought whole. */
const nearlyWhole = 0.75;

/** Nodes for all pods, or undefined if there is nothing to gain or some pod fits nowhere. */
export function* repack<O extends Offer>(
  kinds: readonly Kind[],
  offers: readonly O[],
  columns: number,
  { worthwhile }: RepackOptions,
): Sliced<Filling<O>[] | undefined> {
  const search = new FillingSearch(kinds, columns);
  const all = Float64Array.from(kinds, ({ count }) => count);
  const { worth, perOffer } = roomWorths(kinds, offers, all);
  yield;
  const bound = Math.max(valueOf(all, worth), hostsBound(kinds, offers));
  if (bound > worthwhile) return undefined;
  const byRoom = yield* buyByWorth(kinds, offers, search, worth, perOffer);
  if (byRoom === undefined) return undefined;
  if (priceOf(byRoom) <= bound * closeEnough || kinds.length > mostKinds) return byRoom;
  const byCover = yield* buyByCover(kinds, offers, search, byRoom);
  return byCover === undefined || priceOf(byRoom) <= priceOf(byCover) ? byRoom : byCover;
}

/**
 * Pods that keep apart: a node with at most so many of them costs at least what the dearest of them costs alone, and that is
 * no less than the average.
 */
function hostsBound(kinds: readonly Kind[], offers: readonly Offer[]): number {
  if (kinds.every(({ host }) => host === undefined)) return 0;
  const alone = new Float64Array(kinds.length).fill(Number.POSITIVE_INFINITY);
  for (const offer of offers) {
    for (const kind of offer.kinds) alone[kind] = Math.min(alone[kind] as number, offer.price);
  }
  const byRule = new Map<number, { sum: number; most: number }>();
  for (const [at, { host, count }] of kinds.entries()) {
    for (const { rule, most } of host?.owns ?? []) {
      if (!host?.countedIn.includes(rule)) continue;
      const { sum, most: known } = byRule.get(rule) ?? { sum: 0, most: 1 };
      byRule.set(rule, { sum: sum + count * (alone[at] as number), most: Math.max(known, most) });
    }
  }
  let bound = 0;
  for (const { sum, most } of byRule.values()) if (Number.isFinite(sum)) bound = Math.max(bound, sum / most);
  return bound;
}

/** Buys the node whose pods are worth most for its price, again and again. */
function* buyByWorth<O extends Offer>(
  kinds: readonly Kind[],
  offers: readonly O[],
  search: FillingSearch,
  worth: Float64Array,
  perOffer: Float64Array,
): Sliced<Filling<O>[] | undefined> {
  // No filling is worth more than the room it takes, so offers are looked at by what their room is worth.
  const ranked = offers
    .map((offer, at) => ({ offer, most: (perOffer[at] as number) / offer.price }))
    .sort((a, b) => b.most - a.most || a.offer.price - b.offer.price || a.offer.row - b.offer.row);
  const mostInVain = kinds.length > mostKinds ? looksInVainOfMany : looksInVain;
  const purchase = new Purchase<O>(kinds, offers);
  while (purchase.isOpen) {
    let best: Filling<O> | undefined;
    let bestRatio = 0;
    let inVain = 0;
    for (const { offer, most } of ranked) {
      if (most <= bestRatio || inVain >= mostInVain) break;
      const found = search.find(offer, purchase.left, worth, bestRatio * offer.price, quickSteps);
      yield;
      inVain += bestRatio > 0 ? 1 : 0;
      if (found === undefined || found.worth <= bestRatio * offer.price) continue;
      inVain = 0;
      bestRatio = found.worth / offer.price;
      best = { offer, price: offer.price, kinds: found.kinds, counts: found.counts };
    }
    if (best === undefined) return undefined;
    purchase.buy(best, copiesOf(best, purchase.left));
  }
  return purchase.cheapest();
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
  let known: readonly Filling<O>[] = [...new Set(first)];
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

/** Nodes bought so far, the pods that are left, and the best end seen on the way. */
class Purchase<O extends Offer> {
  readonly left: Float64Array;
  private readonly kinds: readonly Kind[];
  private readonly offers: readonly O[];
  private readonly bought: Filling<O>[] = [];
  private ended: readonly Filling<O>[] | undefined;

  constructor(kinds: readonly Kind[], offers: readonly O[]) {
    this.kinds = kinds;
    this.offers = offers;
    this.left = Float64Array.from(kinds, ({ count }) => count);
    this.tryToEnd();
  }

  get isOpen(): boolean {
    return this.left.some((count) => count > 0);
  }

  /** As many copies as pods are left for; false if not even one. */
  buy(filling: Filling<O>, copies: number): boolean {
    let any = false;
    for (let copy = 0; copy < copies && isLeft(filling, this.left); copy++) {
      filling.kinds.forEach((kind, at) => {
        this.left[kind] = (this.left[kind] as number) - (filling.counts[at] as number);
      });
      this.bought.push(filling);
      any = true;
    }
    if (any) this.tryToEnd();
    return any;
  }

  cheapest(): Filling<O>[] {
    return this.ended !== undefined && priceOf(this.ended) <= priceOf(this.bought) ? [...this.ended] : this.bought;
  }

  /** Fractions hide that the last nodes stay half empty: one that takes all the rest may be the better end. */
  private tryToEnd(): void {
    const last = oneForAll(this.offers, this.kinds, this.left);
    if (last !== undefined && (this.ended === undefined || priceOf(this.bought) + last.price < priceOf(this.ended))) {
      this.ended = [...this.bought, last];
    }
  }
}

function isLeft({ kinds, counts }: Filling, left: Float64Array): boolean {
  return kinds.every((kind, at) => (counts[at] as number) <= (left[kind] as number));
}

/** The cheapest single node for everything that is left, if there is one. */
function oneForAll<O extends Offer>(
  offers: readonly O[],
  kinds: readonly Kind[],
  left: Float64Array,
): Filling<O> | undefined {
  const some = kinds.flatMap((_, kind) => ((left[kind] as number) > 0 ? [kind] : []));
  if (some.length === 0 || some.some((kind) => kinds[kind]?.host !== undefined)) return undefined;
  const total = new Float64Array(kinds[0]?.need.length ?? 0);
  for (const kind of some) {
    const { need } = kinds[kind] as Kind;
    for (let at = 0; at < total.length; at++)
      total[at] = (total[at] as number) + (need[at] as number) * (left[kind] as number);
  }
  let best: O | undefined;
  for (const offer of offers) {
    if (best !== undefined && offer.price >= best.price) continue;
    if (fits(total, offer.room) && some.every((kind) => offer.kinds.includes(kind))) best = offer;
  }
  if (best === undefined) return undefined;
  return { offer: best, price: best.price, kinds: some, counts: some.map((kind) => left[kind] as number) };
}

/** How much looking for better fillings may cost. */
export interface Effort {
  readonly rounds: number;
  readonly steps: number;
  /** Steps of looking again where a better filling than the one found could be. */
  readonly deepSteps: number;
}

/** The cheapest cover of what is left that was found; undefined if some pod fits nowhere. */
export function* coverOf<O extends Offer>(
  kinds: readonly Kind[],
  offers: readonly O[],
  left: Float64Array,
  search: FillingSearch,
  known: readonly Filling<O>[],
  effort: Effort,
): Sliced<Cover<Filling<O>> | undefined> {
  const alone = yield* startingFillings(kinds, offers, left);
  if (alone === undefined) return undefined;
  const cover = new Cover(left, alone);
  for (const own of known) {
    cover.offer(own);
    yield;
  }
  cover.improve(mostExchanges);
  // Worths jump about from round to round; fillings are looked for near the worths that bounded the price best so far.
  const centre = roomWorths(kinds, offers, left).worth;
  let bound = valueOf(left, centre);
  const asked = new Float64Array(kinds.length);
  let pull = steadiest;
  let deepSteps = effort.deepSteps;
  let look: 'near' | 'here' | 'deep' = 'near';
  const until = search.steps + effort.steps;
  for (let round = 0; round < effort.rounds && search.steps < until; round++) {
    if (look !== 'near') pull = 0;
    for (let kind = 0; kind < asked.length; kind++) {
      asked[kind] = pull * (centre[kind] as number) + (1 - pull) * Math.max(0, cover.worth[kind] as number);
    }
    const better: Filling<O>[] = [];
    let most = 1;
    for (const offer of offers) {
      if (look === 'deep' && deepSteps <= 0) break;
      const before = search.steps;
      const above = offer.price * (look === 'near' ? 1 : 1 + margin);
      const found = search.find(offer, left, asked, above, look === 'deep' ? deepest : quickSteps);
      if (look === 'deep') deepSteps -= search.steps - before;
      yield;
      if (found === undefined) continue;
      most = Math.max(most, found.atMost / offer.price);
      const filling = { offer, price: offer.price, kinds: found.kinds, counts: found.counts };
      if (cover.worthOf(filling) > offer.price * (1 + margin)) better.push(filling);
    }
    const value = valueOf(left, asked) / most;
    if (value > bound) {
      bound = value;
      for (let kind = 0; kind < asked.length; kind++) centre[kind] = (asked[kind] as number) / most;
    }
    if (cover.price <= bound * (1 + margin)) break;
    if (better.length === 0) {
      if (look === 'deep' || (look === 'here' && deepSteps <= 0)) break;
      if (look === 'near' && pull > 0.1) pull /= 2;
      else look = look === 'near' ? 'here' : 'deep';
      continue;
    }
    look = 'near';
    pull = steadiest;
    better.sort((a, b) => cover.worthOf(b) / b.price - cover.worthOf(a) / a.price);
    for (const own of better.slice(0, 30)) {
      cover.offer(own);
      yield;
    }
    cover.improve(mostExchanges);
    yield;
  }
  return cover;
}

function valueOf(left: Float64Array, worth: Float64Array): number {
  let value = 0;
  for (let kind = 0; kind < left.length; kind++) value += (left[kind] as number) * (worth[kind] as number);
  return value;
}

/** What pods are worth if only the sum of their needs had to be bought: a worth per resource that no offer sells below. */
function roomWorths(
  kinds: readonly Kind[],
  offers: readonly Offer[],
  left: Float64Array,
): { readonly worth: Float64Array; readonly perOffer: Float64Array } {
  const columns = kinds[0]?.need.length ?? 0;
  const total = new Float64Array(columns);
  kinds.forEach(({ need }, kind) => {
    for (let at = 0; at < columns; at++)
      total[at] = (total[at] as number) + (need[at] as number) * (left[kind] as number);
  });
  const wanted = [...total.keys()].filter((at) => (total[at] as number) > 0);
  // In parts of the sum, so that all numbers are near one.
  const demand = Float64Array.from(total, (amount) => (amount > 0 ? 1 : 0));
  const dear = offers.reduce((sum, { price }) => Math.max(sum, price), 1) * 1e6;
  const cover = new Cover<Package>(
    demand,
    wanted.map((at) => ({ price: dear, kinds: [at], counts: [1] })),
  );
  for (const { price, room } of offers) {
    cover.offer({ price, kinds: wanted, counts: wanted.map((at) => (room[at] as number) / (total[at] as number)) });
  }
  cover.improve(mostExchanges);
  const perResource = new Float64Array(columns);
  for (const at of wanted) perResource[at] = Math.max(0, cover.worth[at] as number) / (total[at] as number);
  const worthOf = (amounts: Float64Array): number => {
    let worth = 0;
    for (const at of wanted) worth += (perResource[at] as number) * (amounts[at] as number);
    return worth;
  };
  return {
    worth: Float64Array.from(kinds, ({ need }) => worthOf(need)),
    perOffer: Float64Array.from(offers, ({ room }) => worthOf(room)),
  };
}

/** For each kind of pod its best node filled with nothing else. */
function* startingFillings<O extends Offer>(
  kinds: readonly Kind[],
  offers: readonly O[],
  left: Float64Array,
): Sliced<Filling<O>[] | undefined> {
  const best = new Map<number, Filling<O>>();
  for (const offer of offers) {
    for (const kind of offer.kinds) {
      const most = left[kind] as number;
      if (most <= 0) continue;
      const count = Math.min(most, alone(kinds[kind] as Kind, offer.room));
      const known = best.get(kind);
      if (count > 0 && (known === undefined || offer.price / count < known.price / (known.counts[0] as number))) {
        best.set(kind, { offer, price: offer.price, kinds: [kind], counts: [count] });
      }
    }
    yield;
  }
  const starting: Filling<O>[] = [];
  for (let kind = 0; kind < kinds.length; kind++) {
    if ((left[kind] as number) <= 0) continue;
    const own = best.get(kind);
    if (own === undefined) return undefined;
    starting.push(own);
  }
  return starting;
}

/** How many pods of one kind a node holds with nothing else. */
function alone({ need, host }: Kind, room: Float64Array): number {
  let most = Number.POSITIVE_INFINITY;
  for (let at = 0; at < need.length; at++) {
    if ((need[at] as number) > 0) most = Math.min(most, Math.floor((room[at] as number) / (need[at] as number)));
  }
  for (const { rule, most: bound } of host?.owns ?? []) {
    if (host?.countedIn.includes(rule)) most = Math.min(most, bound);
  }
  return most;
}
