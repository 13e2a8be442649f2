// The long campaign of faults: other mixtures every time, for minutes. A failure prints its seed and the shortest list of
// steps that shows it.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { stepOf, survive, totals } from './survive-faults.ts';

const campaignMs = 60_000;

test.each([true, false])(
  'no mixture of faults makes a cache differ from the server (streaming lists: %s)',
  async (streaming) => {
    const steps = fc.array(stepOf, { minLength: 10, maxLength: 120 });
    const before = totals.runs;
    await fc.assert(
      fc.asyncProperty(steps, (list) => survive(list, streaming)),
      { numRuns: 100_000, interruptAfterTimeLimit: campaignMs },
    );
    expect(totals.runs - before).toBeGreaterThan(50);
  },
);
