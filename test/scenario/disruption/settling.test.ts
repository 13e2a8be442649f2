// Disruption comes to rest by itself; a short version of the campaign in settling.long.test.ts.
import { describe, expect, test } from 'vitest';
import { settle } from './settling/settle.ts';
import { breaches } from './settling/verdict.ts';
import { workloads } from './settling/workloads.ts';

const settings = { policy: 'WhenEmptyOrUnderutilized', consolidateAfter: '30s' } as const;

describe.each(workloads)('load that $name', (workload) => {
  test('stops being moved when it stops changing, and no machine comes back that was given up', async () => {
    const capacityTypes = ['spot', 'on-demand'];
    const history = await settle(workload, { ...settings, seed: 1, capacityTypes }, { busy: 0.75, calm: 2 });
    expect(history.moves.length).toBeGreaterThan(0);
    expect(breaches(history)).toEqual([]);
  }, 120_000);
});
