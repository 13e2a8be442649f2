// A price no plan for the same pods can go below, by whole nodes: every node of a plan is a filling, that is, a machine with
// pods that fit it together, none of them cut. If each kind of pod is given a worth such that no filling is worth more
// than its price, a plan costs at least what all its pods are worth. The worths come from the cheapest fractional cover by
// fillings (the configuration linear programme); whatever they are, dividing them by the largest ratio of worth to price
// that any filling could have makes the bound true. Room on nodes that exist and reserved capacity are taken off at the
// most they could be worth.

import type { Sliced } from '../../base/index.ts';
import { FillingSearch } from '../improve/best-filling.ts';
import { fits, type Kind, kindsThatFit, type Offer } from '../improve/pile.ts';
import { coverOf } from '../improve/repack.ts';
import type { Holder, Item, Relaxation } from './price-relaxation.ts';

/** The cover is improved for so many rounds; the bound is true after any number. */
const mostRounds = 300;
const mostSteps = 5_000_000;
/** Steps of looking for the filling of most worth; past that its most possible worth is taken. */
const exactSteps = 20_000;
/** Each makes the most possible worth tighter. */
const tightenings = 8;

interface HeldOffer extends Offer {
  readonly reservation: string | undefined;
}

/** USD per hour. */
export function* configurationBound(relaxation: Relaxation): Sliced<number> {
  const { items, columns, machines, existing, reservations } = relaxation;
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
  const search = new FillingSearch(kinds, columns.length);
  const left = Float64Array.from(kinds, ({ count }) => count);
  const cover = yield* coverOf(kinds, offers, left, search, [], {
    rounds: mostRounds,
    steps: mostSteps,
    deepSteps: mostSteps,
  });
  if (cover === undefined) return 0;
  const worth = cover.worth.map((own) => Math.max(0, own));
  const mostWorth = (offer: Offer, above: number): number => {
    for (let again = 0; again < tightenings; again++) search.find(offer, left, worth, above, 1);
    return search.find(offer, left, worth, above, exactSteps)?.atMost ?? above;
  };
  let ratio = 1;
  for (const offer of offers) {
    ratio = Math.max(ratio, mostWorth(offer, ratio * offer.price) / offer.price);
    yield;
  }
  for (let kind = 0; kind < worth.length; kind++) worth[kind] = (worth[kind] as number) / ratio;
  let bound = items.reduce((sum, { count }: Item, kind) => sum + count * (worth[kind] as number), 0);
  for (const [row, holder] of existing.entries()) {
    bound -= mostWorth(asOffer(holder, row), 0);
    yield;
  }
  const gains = new Map<string, number>();
  for (const offer of limited) {
    const id = offer.reservation as string;
    gains.set(id, Math.max(gains.get(id) ?? 0, mostWorth(offer, offer.price) - offer.price));
    yield;
  }
  for (const [id, gain] of gains) bound -= gain * (reservations.get(id) ?? 0);
  // Sums of many decimals: a bound must not be above the truth.
  return Math.max(0, bound * (1 - 1e-9));
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
