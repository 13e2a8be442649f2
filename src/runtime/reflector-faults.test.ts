// A short campaign of faults; test/kube/reflector-faults.long.test.ts runs the long one.
import * as fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { stepOf, survive, totals } from '../../test/kube/survive-faults.ts';

const steps = fc.array(stepOf, { minLength: 10, maxLength: 50 });

test('with streaming lists, the cache converges and never goes backwards under any mixture of faults', async () => {
  const property = fc.asyncProperty(steps, (list) => survive(list, true));
  await fc.assert(property, { seed: 20_261_116, numRuns: 40 });
}, 60_000);

test('with pages, the cache converges and never goes backwards under any mixture of faults', async () => {
  const property = fc.asyncProperty(steps, (list) => survive(list, false));
  await fc.assert(property, { seed: 20_261_117, numRuns: 40 });
}, 60_000);

afterAll(() => {
  // A fault suite in which nothing went wrong proves nothing.
  expect(totals.failures).toBeGreaterThan(totals.runs);
  expect(totals.expired).toBeGreaterThan(0);
  expect(totals.stale).toBeGreaterThan(0);
});
