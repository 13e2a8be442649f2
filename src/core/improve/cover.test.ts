import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Cover, type Package } from './cover.ts';

const things = [0, 1, 2];
const dense = (price: number, contents: readonly number[]): Package => {
  const kinds = contents.flatMap((count, kind) => (count > 0 ? [kind] : []));
  return { price, kinds, counts: kinds.map((kind) => contents[kind] as number) };
};
const anyPackages = fc.array(
  fc.record({
    price: fc.integer({ min: 1, max: 50 }),
    contents: fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 3, maxLength: 3 }),
  }),
  { minLength: 1, maxLength: 12 },
);
/** Single things at a high price, so that everything can be covered. */
const singles = things.map((at) =>
  dense(
    60,
    things.map((other) => (other === at ? 1 : 0)),
  ),
);
const anyDemand = fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 3, maxLength: 3 });

test('the cover meets the demand, and its price is the worth of the demand', () => {
  fc.assert(
    fc.property(anyPackages, anyDemand, (some, demand) => {
      const cover = new Cover(demand, singles);
      for (const { price, contents } of some) cover.offer(dense(price, contents));
      cover.improve(500);
      const value = demand.reduce((sum, amount, at) => sum + amount * (cover.worth[at] ?? 0), 0);
      expect(cover.price).toBeCloseTo(value, 1);
      const covered = demand.map(() => 0);
      let paid = 0;
      for (const { taken, amount } of cover.used()) {
        paid += taken.price * amount;
        taken.kinds.forEach((kind, at) => {
          covered[kind] = (covered[kind] ?? 0) + amount * (taken.counts[at] ?? 0);
        });
      }
      expect(paid).toBeCloseTo(cover.price, 6);
      covered.forEach((amount, at) => expect(amount).toBeGreaterThanOrEqual((demand[at] ?? 0) - 1e-6));
      // No package sells for less than its contents are worth, so nothing cheaper exists.
      for (const own of cover.packages) expect(cover.worthOf(own)).toBeLessThanOrEqual(own.price * (1 + 2e-5));
      for (const worth of cover.worth) expect(worth).toBeGreaterThanOrEqual(-1e-6);
    }),
    { seed: 5, numRuns: 400 },
  );
});
