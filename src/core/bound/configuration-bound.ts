// A price no plan for the same pods can go below, by whole nodes: every node of a plan is a filling, that is, a machine with
// pods that fit it together, none of them cut. If each kind of pod is given a worth such that no filling is worth more
// than its price, a plan costs at least what all its pods are worth. The worths come from the cheapest fractional cover by
// fillings (the configuration linear programme); whatever they are, dividing them by the largest ratio of worth to price
// that any filling could have makes the bound true. Room on nodes that exist and reserved capacity are taken off at the
// most they could be worth.

import type { Sliced } from '../../base/index.ts';
import { FillingSearch } from '../improve/best-filling.ts';
import type { Cover, Package } from '../improve/cover.ts';
import { coverOf } from '../improve/covering.ts';
import { type Filling, fits, type Kind, kindsThatFit, type Offer } from '../improve/pile.ts';
import { ExactFillings } from './exact-fillings.ts';
import type { Holder, Relaxation } from './price-relaxation.ts';

/** A first cover is looked for quickly, then improved with exact fillings; the bound is true after any number of rounds. */
const quickEffort = { rounds: 200, steps: 2_000_000, deepSteps: 1_000_000 };
const exactRounds = 40;
/** What exact fillings could add to a bound that is known must be more than this. */
const hardlyAbove = 1.003;
/** Close enough to the cover, which no bound by fillings exceeds. */
const closeEnough = 1.001;
/** So many rounds without a bound that is higher by this part end the search. */
const roundsInVain = 8;
const leastProgress = 1 + 1e-4;
/** A filling must beat its price by this part to be used. */
const margin = 1e-4;
/** Fillings added in one round, and exchanges of known ones afterwards. */
const mostAdded = 100;
const mostExchanges = 2000;
/** How near to the worths that bounded best so far the next ones are asked for. */
const steadiest = 0.5;
const leastPull = 0.05;
/** With more kinds of pods the linear programme takes minutes, and the bound by room is close enough. */
const mostKinds = 400;

interface HeldOffer extends Offer {
  readonly reservation: string | undefined;
}

/** USD per hour; 0 where it is certain, or likely, that it is hardly above a bound that is known. */
export function* configurationBound(relaxation: Relaxation, known: number): Sliced<number> {
  const { items, columns, machines, existing, reservations } = relaxation;
  if (items.length > mostKinds) return 0;
  const position = new Map(items.map((item, at) => [item, at]));
  const kinds = items.map(
    ({ need, count }): Kind => ({
      need: Float64Array.from(columns, (column) => need.amounts[need.columns.indexOf(column)] ?? 0),
      count,
      host: undefined,
    }),
  );
  const asOffer = (holder: Holder, row: number): HeldOffer => {
    const room = Float64Array.from(columns, (column) => holder.room(column));
    const allowed = holder.items.map((item) => position.get(item) as number).sort((left, right) => left - right);
    return {
      row,
      price: holder.price,
      room,
      kinds: kindsThatFit(kinds, room, allowed),
      reservation: holder.reservation,
    };
  };
  const all = machines.map(asOffer).filter((offer) => offer.kinds.length > 0);
  const limited = all.filter(({ reservation }) => reservation !== undefined);
  const offers = yield* withoutBeaten(all.filter(({ reservation }) => reservation === undefined));
  // Machines without a price hold everything for nothing.
  if (offers.length === 0 || offers.some(({ price }) => price <= 0)) return 0;
  const left = Float64Array.from(kinds, ({ count }) => count);
  const cover = yield* coverOf(kinds, offers, left, new FillingSearch(kinds, columns.length), [], quickEffort);
  if (cover === undefined || cover.price <= known * hardlyAbove) return 0;
  const exact = new ExactFillings(
    kinds,
    columns.length,
    offers,
    cover.worth.map((own) => Math.max(0, own)),
  );
  const worth = yield* boundingWorths(kinds, offers, cover, exact);
  let bound = valueOf(kinds, worth);
  if (existing.length > 0 || limited.length > 0) yield* exact.value(worth);
  for (const [row, holder] of existing.entries()) {
    bound -= exact.most(asOffer(holder, row), 0);
    yield;
  }
  const gains = new Map<string, number>();
  for (const offer of limited) {
    const id = offer.reservation as string;
    gains.set(id, Math.max(gains.get(id) ?? 0, exact.most(offer, offer.price) - offer.price));
    yield;
  }
  for (const [id, gain] of gains) bound -= gain * (reservations.get(id) ?? 0);
  // Sums of many decimals: a bound must not be above the truth.
  return Math.max(0, bound * (1 - 1e-9));
}

/** Worths of which no filling has more than its price, and all pods together as much as could be found. */
function* boundingWorths(
  kinds: readonly Kind[],
  offers: readonly Offer[],
  cover: Cover<Filling>,
  exact: ExactFillings,
): Sliced<Float64Array> {
  let best = new Float64Array(kinds.length);
  let pull = 0;
  let inVain = 0;
  for (let round = 0; round < exactRounds; round++) {
    const asked = cover.worth.map((own, kind) => pull * (best[kind] as number) + (1 - pull) * Math.max(0, own));
    yield* exact.value(asked);
    let ratio = 1;
    const better: Filling[] = [];
    for (const offer of offers) {
      const found = exact.look(offer, offer.price);
      ratio = Math.max(ratio, found.most / offer.price);
      better.push(...gaining(cover, offer, found.better));
      yield;
    }
    const bounding = asked.map((own) => own / ratio);
    inVain += 1;
    if (valueOf(kinds, bounding) > valueOf(kinds, best)) {
      if (valueOf(kinds, bounding) > valueOf(kinds, best) * leastProgress) inVain = 0;
      best = bounding;
      pull = Math.max(pull, steadiest);
    }
    if (inVain >= roundsInVain || exact.isTired) break;
    if (cover.price <= valueOf(kinds, best) * closeEnough) break;
    if (better.length > 0) {
      const worthIt = better.map((own) => ({ own, gain: cover.worthOf(own) / own.price }));
      worthIt.sort((a, b) => b.gain - a.gain);
      for (const { own } of worthIt.slice(0, mostAdded)) cover.offer(own);
      cover.improve(mostExchanges);
    } else if (pull === 0) break;
    else pull = pull / 2 < leastPull ? 0 : pull / 2;
    yield;
  }
  return best;
}

/** Fillings of the offer that would make the cover cheaper, each once. */
function gaining(cover: Cover<Filling>, offer: Offer, better: Iterable<Omit<Package, 'price'>>): Filling[] {
  const found = new Map<string, Filling>();
  for (const { kinds, counts } of better) {
    const filling = { offer, price: offer.price, kinds, counts };
    if (cover.worthOf(filling) > offer.price * (1 + margin)) found.set(`${kinds}:${counts}`, filling);
  }
  return [...found.values()];
}

function valueOf(kinds: readonly Kind[], worth: Float64Array): number {
  return kinds.reduce((sum, { count }, kind) => sum + count * (worth[kind] as number), 0);
}

/** Leaves out machines that another one beats: as much of everything, for at least the same pods, and no dearer. */
function* withoutBeaten(offers: readonly HeldOffer[]): Sliced<HeldOffer[]> {
  const sorted = [...offers].sort((left, right) => left.price - right.price || left.row - right.row);
  const kept: HeldOffer[] = [];
  for (const offer of sorted) {
    const isBeaten = kept.some((other) => fits(offer.room, other.room) && holdsAll(other.kinds, offer.kinds));
    if (!isBeaten) kept.push(offer);
    yield;
  }
  return kept;
}

/** Both ascending. */
function holdsAll(more: Int32Array, some: Int32Array): boolean {
  let at = 0;
  for (const kind of some) {
    while (at < more.length && (more[at] as number) < kind) at += 1;
    if (more[at] !== kind) return false;
  }
  return true;
}
