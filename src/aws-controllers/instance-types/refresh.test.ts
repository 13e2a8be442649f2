import { expect, test } from 'vitest';
import { openBench } from '../../controllers/testing/bench.testing.ts';
import { pricingController, refreshPricesMs } from '../pricing.ts';
import { instanceTypesController, refreshTypesMs } from './refresh.ts';

test('types and prices are read at start and twice a day; a failure is tried again soon', async () => {
  const calls = { types: 0, prices: 0 };
  let isPricingDown = true;
  const bench = await openBench({
    controllers: () => [
      instanceTypesController({
        refresh: async () => {
          calls.types += 1;
        },
      }),
      pricingController({
        refresh: async () => {
          calls.prices += 1;
          if (isPricingDown) throw new Error('the pricing service is not there');
        },
      }),
    ],
  });
  await bench.run(1_000);
  expect(calls.types).toBe(1);
  expect(calls.prices).toBeGreaterThan(1);
  isPricingDown = false;
  await bench.run(600_000);
  const { prices } = calls;
  await bench.run(Math.max(refreshTypesMs, refreshPricesMs));
  expect(calls).toEqual({ types: 2, prices: prices + 1 });
  await bench.close();
});
