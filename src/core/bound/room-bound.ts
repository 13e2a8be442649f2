// A price no plan for the same pods can go below, by room alone: a price per resource that no machine sells below, for all that
// pods ask for. Weaker than the other bounds, because it forgets which pods may be on which machine, but found in
// milliseconds however many different pods there are. Room on nodes that exist and reserved capacity are taken off.

import type { Kind } from '../improve/pile.ts';
import { type RoomOffer, roomPrices, worthOfRoom } from '../improve/worths.ts';
import type { Holder, Relaxation } from './price-relaxation.ts';

/** USD per hour. */
export function roomBound({ items, columns, machines, existing, reservations }: Relaxation): number {
  const kinds = items.map(
    ({ need, count }): Kind => ({
      need: Float64Array.from(columns, (column) => need.amounts[need.columns.indexOf(column)] ?? 0),
      count,
      host: undefined,
    }),
  );
  const roomOf = (holder: Holder): Float64Array =>
    Float64Array.from(columns, (column) => Math.max(0, holder.room(column)));
  const offers = machines
    .filter(({ reservation }) => reservation === undefined)
    .map((holder): RoomOffer => ({ price: holder.price, room: roomOf(holder) }));
  // Machines without a price hold everything for nothing.
  if (offers.length === 0 || offers.some(({ price }) => price <= 0)) return 0;
  const found = roomPrices(
    kinds,
    offers,
    Float64Array.from(kinds, ({ count }) => count),
  );
  const over = offers.reduce((most, { price, room }) => Math.max(most, worthOfRoom(found, room) / price), 1);
  const prices = found.map((price) => price / over);
  let bound = kinds.reduce((sum, { need, count }) => sum + count * worthOfRoom(prices, need), 0);
  for (const holder of existing) bound -= worthOfRoom(prices, roomOf(holder));
  const gains = new Map<string, number>();
  for (const holder of machines) {
    if (holder.reservation === undefined) continue;
    const gain = worthOfRoom(prices, roomOf(holder)) - holder.price;
    gains.set(holder.reservation, Math.max(gains.get(holder.reservation) ?? 0, gain));
  }
  for (const [id, gain] of gains) bound -= gain * (reservations.get(id) ?? 0);
  // Sums of many decimals: a bound must not be above the truth.
  return Math.max(0, bound * (1 - 1e-9));
}
