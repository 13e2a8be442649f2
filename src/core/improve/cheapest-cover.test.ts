import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { cheapestCover, type Package } from './cheapest-cover.ts';

const anyPackages = fc.array(
  fc.record({
    price: fc.integer({ min: 1, max: 50 }),
    contents: fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 3, maxLength: 3 }),
  }),
  { minLength: 1, maxLength: 12 },
);
/** Single things at a high price, so that everything can be covered. */
const singles: Package[] = [0, 1, 2].map((at) => ({
  price: 60,
  contents: [0, 1, 2].map((other) => (other === at ? 1 : 0)),
}));
const anyDemand = fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 3, maxLength: 3 });

test('the cover meets the demand, and its price is the worth of the demand', () => {
  fc.assert(
    fc.property(anyPackages, anyDemand, (some, demand) => {
      const packages = [...some, ...singles];
      const { worth, amounts } = cheapestCover(demand, packages);
      const price = packages.reduce((sum, own, at) => sum + own.price * (amounts[at] ?? 0), 0);
      const value = demand.reduce((sum, amount, at) => sum + amount * (worth[at] ?? 0), 0);
      expect(price).toBeCloseTo(value, 6);
      for (let at = 0; at < demand.length; at++) {
        const covered = packages.reduce((sum, own, index) => sum + (own.contents[at] ?? 0) * (amounts[index] ?? 0), 0);
        expect(covered).toBeGreaterThanOrEqual((demand[at] ?? 0) - 1e-6);
      }
      // No package sells for less than its contents are worth, so nothing cheaper exists.
      for (const own of packages) {
        const content = own.contents.reduce((sum, amount, at) => sum + amount * (worth[at] ?? 0), 0);
        expect(content).toBeLessThanOrEqual(own.price + 1e-6);
      }
    }),
    { seed: 5, numRuns: 400 },
  );
});
