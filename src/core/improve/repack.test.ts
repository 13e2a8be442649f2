import { expect, test } from 'vitest';
import type { Kind, Offer } from './pile.ts';
import { priceOf } from './pile.ts';
import { repack } from './repack.ts';
import { areProportional, learnedWorths, roomWorths } from './worths.ts';

/** Two deployments, one pod of each on a host. */
const apart = (cpu: number, memory: number, rule: number): Kind => ({
  need: Float64Array.of(cpu, memory),
  count: 500,
  host: { owns: [{ rule, most: 1 }], countedIn: [rule] },
});
const kinds = [apart(1, 2, 0), apart(2, 1, 1)];
const offers = Array.from({ length: 60 }, (_, row): Offer => {
  const size = row + 1;
  return {
    row,
    price: 0.05 + 0.1 * size,
    room: Float64Array.of(size, 2 * size),
    kinds: Int32Array.of(...fitting(size)),
  };
});

function fitting(size: number): number[] {
  return kinds.flatMap(({ need }, kind) =>
    (need[0] as number) <= size && (need[1] as number) <= 2 * size ? [kind] : [],
  );
}

test('a round that teaches nothing about the pods is the last one', () => {
  const worths = roomWorths(kinds, offers, Float64Array.of(500, 500));
  const work = repack(kinds, offers, 2, { worthwhile: Number.POSITIVE_INFINITY, worths });
  let slices = 0;
  let step = work.next();
  for (; !step.done; step = work.next()) slices++;
  expect(priceOf(step.value ?? [])).toBeCloseTo(175);
  expect(slices).toBeLessThan(600);
});

test('worths that differ only by a factor teach nothing; others do', () => {
  const worth = Float64Array.of(0.1, 0.2);
  const node = (own: number[], counts: number[], price: number) => ({
    offer: offers[2] as Offer,
    price,
    kinds: own,
    counts,
  });
  const together = Array.from({ length: 500 }, () => node([0, 1], [1, 1], 0.4));
  expect(areProportional(learnedWorths(kinds, worth, together), worth)).toBe(true);
  const alone = Array.from({ length: 500 }, () => [node([0], [1], 0.1), node([1], [1], 0.3)]).flat();
  expect(areProportional(learnedWorths(kinds, worth, alone), worth)).toBe(false);
});
