// What pods of each kind are worth before, and after, nodes were bought for them.

import { Cover, type Package } from './cover.ts';
import { type Filling, type Kind, type Offer, priceOf } from './pile.ts';

/** Exchanges of known fillings. */
const mostExchanges = 100;
/** Differences of this part come from rounding. */
const dust = 1e-9;

/** What so many pods of each kind are worth together. */
export function valueOf(left: Float64Array, worth: Float64Array): number {
  let value = 0;
  for (let kind = 0; kind < left.length; kind++) value += (left[kind] as number) * (worth[kind] as number);
  return value;
}

/**
 * Worths after some nodes were bought by others: half of each pod's worth is what it had, half its share of what its node
 * cost. Pods that ended on poorly filled nodes become dearer, and are thought of earlier the next time.
 */
export function learnedWorths(kinds: readonly Kind[], worth: Float64Array, bought: readonly Filling[]): Float64Array {
  const paid = new Float64Array(kinds.length);
  let value = 0;
  for (const { price, kinds: own, counts } of bought) {
    let sum = 0;
    for (let at = 0; at < own.length; at++) sum += (counts[at] as number) * (worth[own[at] as number] as number);
    value += sum;
    for (let at = 0; at < own.length; at++) {
      const kind = own[at] as number;
      paid[kind] = (paid[kind] as number) + (price * (counts[at] as number) * (worth[kind] as number)) / sum;
    }
  }
  const scale = priceOf(bought) / value;
  return Float64Array.from(
    kinds,
    ({ count }, kind) => (scale * (worth[kind] as number) + (paid[kind] as number) / count) / 2,
  );
}

/** Nodes are chosen by worth for their price, so worths that differ only by a factor buy the same nodes. */
export function areProportional(left: Float64Array, right: Float64Array): boolean {
  const factor = (left[0] as number) / (right[0] as number);
  return left.every((worth, kind) => Math.abs(worth - factor * (right[kind] as number)) <= dust * worth);
}

/** What pods are worth if only the sum of their needs had to be bought. */
export function roomWorths(kinds: readonly Kind[], offers: readonly RoomOffer[], left: Float64Array): Float64Array {
  const prices = roomPrices(kinds, offers, left);
  return Float64Array.from(kinds, ({ need }) => worthOfRoom(prices, need));
}

export type RoomOffer = Pick<Offer, 'price' | 'room'>;

export function worthOfRoom(prices: Float64Array, amounts: ArrayLike<number>): number {
  let worth = 0;
  for (let at = 0; at < prices.length; at++) worth += (prices[at] as number) * (amounts[at] as number);
  return worth;
}

/** A price per resource that hardly an offer sells below, and that makes the sum of all needs as dear as can be. */
export function roomPrices(kinds: readonly Kind[], offers: readonly RoomOffer[], left: Float64Array): Float64Array {
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
  return perResource;
}

/**
 * Pods that keep apart: a node with at most so many of them costs at least what the dearest of them costs alone, and that is
 * no less than the average.
 */
export function hostsBound(kinds: readonly Kind[], offers: readonly Offer[]): number {
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
