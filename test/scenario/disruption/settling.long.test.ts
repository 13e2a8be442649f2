// Over two hundred simulated hours of changing and adversarial load, in every combination of policy, quiet time and
// capacity type.
import { describe, expect, test } from 'vitest';
import { type Settings, settle } from './settling/settle.ts';
import { breaches } from './settling/verdict.ts';
import { workloads } from './settling/workloads.ts';

const combinations: Settings[] = [
  { seed: 1, policy: 'WhenEmptyOrUnderutilized', consolidateAfter: '0s', capacityTypes: ['spot', 'on-demand'] },
  { seed: 2, policy: 'WhenEmptyOrUnderutilized', consolidateAfter: '2m', capacityTypes: ['on-demand'] },
  { seed: 3, policy: 'Balanced', consolidateAfter: '30s', capacityTypes: ['spot'] },
];

describe.each(workloads)('load that $name', (workload) => {
  test.each(combinations)(
    'settles: $policy, after $consolidateAfter, on $capacityTypes',
    async (settings) => {
      const history = await settle(workload, settings, { busy: 4, calm: 26 });
      expect(history.moves.length).toBeGreaterThan(0);
      expect(breaches(history)).toEqual([]);
    },
    600_000,
  );
});
