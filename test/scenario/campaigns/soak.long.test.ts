// Nothing is left behind by weeks of churn: the long form, with a new seed each time.
import { expect, test } from 'vitest';
import { freshSeeds } from '../../campaigns/seeds.ts';
import { playAll } from './play.ts';
import { soak } from './soak.ts';

test('maps, sets and heap are flat over weeks of churn', async () => {
  const tally = await playAll('virtual soak', freshSeeds('virtual soak', 1), (seed) =>
    soak(seed, { rounds: 84, hours: 6 }),
  );
  expect(tally.of('machines launched')).toBeGreaterThan(300);
});
