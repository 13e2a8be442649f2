import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { atOnce } from '../../base/index.ts';
import { FillingSearch } from '../improve/best-filling.ts';
import type { Kind, Offer } from '../improve/pile.ts';
import { kindsThatFit } from '../improve/pile.ts';
import { ExactFillings } from './exact-fillings.ts';
import { RoomTable, shapeFor, type TableShape } from './room-table.ts';

const columns = 3;
const anyKind = fc.record({
  cpu: fc.integer({ min: 1, max: 9 }).map((units) => units * 250),
  memory: fc.integer({ min: 1, max: 12 }).map((units) => units * 2 ** 28),
  gpu: fc.constantFrom(0, 0, 1, 2),
  worth: fc.integer({ min: 0, max: 50 }),
});
const anyRoom = fc.record({
  cpu: fc.integer({ min: 200, max: 9000 }),
  memory: fc.integer({ min: 1, max: 12 * 2 ** 29 }),
  gpu: fc.integer({ min: 0, max: 3 }),
});

const kindOf = ({ cpu, memory, gpu }: { cpu: number; memory: number; gpu: number }): Kind => ({
  need: Float64Array.of(cpu, memory, gpu),
  count: 100,
  host: undefined,
});

function offersOf(kinds: readonly Kind[], rooms: readonly { cpu: number; memory: number; gpu: number }[]): Offer[] {
  return rooms
    .map(({ cpu, memory, gpu }, row) => {
      const room = Float64Array.of(cpu, memory, gpu);
      return { row, price: 1, room, kinds: kindsThatFit(kinds, room, kinds.keys()) };
    })
    .filter((offer) => offer.kinds.length > 0);
}

/** The most worth of any filling, by trying each kind next. */
function slowMost(kinds: readonly Kind[], worth: readonly number[], room: Float64Array, from = 0): number {
  let most = 0;
  for (let kind = from; kind < kinds.length; kind++) {
    const { need } = kinds[kind] as Kind;
    if (!need.every((amount, at) => amount <= (room[at] as number))) continue;
    const rest = room.map((amount, at) => amount - (need[at] as number));
    most = Math.max(most, (worth[kind] as number) + slowMost(kinds, worth, rest, kind));
  }
  return most;
}

const anyPile = fc.record({
  some: fc.array(anyKind, { minLength: 1, maxLength: 4 }),
  rooms: fc.array(anyRoom, { minLength: 1, maxLength: 4 }),
});

test('a table has the most worth for every room, and fillings that are worth it and fit', () => {
  fc.assert(
    fc.property(anyPile, ({ some, rooms }) => {
      const kinds = some.map(kindOf);
      const worth = some.map((own) => own.worth);
      const offers = offersOf(kinds, rooms);
      if (offers.length === 0) return;
      const shape = shapeFor(kinds, [...kinds.keys()], offers, 1e6) as TableShape;
      const table = new RoomTable(shape, kinds);
      atOnce(table.fill(worth));
      for (const offer of offers) {
        const most = slowMost(kinds, worth, offer.room);
        expect(table.most(offer)).toBeCloseTo(most, 6);
        for (const filling of table.fillings(offer, 0)) {
          const used = new Float64Array(columns);
          filling.kinds.forEach((kind, at) => {
            kinds[kind]?.need.forEach((amount, column) => {
              used[column] = (used[column] as number) + amount * (filling.counts[at] as number);
            });
          });
          used.forEach((amount, column) => expect(amount).toBeLessThanOrEqual(offer.room[column] as number));
        }
      }
    }),
    { seed: 3, numRuns: 300 },
  );
});

test('what a search calls the most is never below the worth of a filling, however early it is cut off', () => {
  fc.assert(
    fc.property(anyPile, fc.integer({ min: 1, max: 30 }), ({ some, rooms }, steps) => {
      const kinds = some.map(kindOf);
      const worth = Float64Array.from(some, (own) => own.worth);
      const left = Float64Array.from(kinds, ({ count }) => count);
      const offers = offersOf(kinds, rooms);
      const exact = new ExactFillings(kinds, columns, offers, worth);
      atOnce(exact.value(worth));
      for (const offer of offers) {
        const most = slowMost(kinds, [...worth], offer.room);
        const search = new FillingSearch(kinds, columns);
        expect(search.find(offer, left, worth, 0, steps)?.atMost ?? 0).toBeGreaterThanOrEqual(most * (1 - 1e-9));
        expect(search.find(offer, left, worth, most * 0.9, steps)?.atMost ?? 0).toBeGreaterThanOrEqual(
          most * (1 - 1e-9),
        );
        expect(exact.most(offer, 0)).toBeGreaterThanOrEqual(most * (1 - 1e-9));
      }
    }),
    { seed: 4, numRuns: 300 },
  );
});
