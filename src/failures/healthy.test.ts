// No crying wolf: healthy clusters of all sizes and kinds, some of them scaling right now, have no finding above low.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { diagnoseCase } from './case.testing.ts';
import { healthyCluster, healthyShape } from './healthy.testing.ts';

test('two hundred healthy clusters have no finding above low', () => {
  fc.assert(
    fc.property(healthyShape, (given) => {
      const { findings } = diagnoseCase(healthyCluster(given));
      expect(findings.filter(({ severity }) => severity !== 'low')).toEqual([]);
    }),
    { numRuns: 200 },
  );
});
