// Nothing is left behind by churn: the short form, in virtual time.
import { expect, test } from 'vitest';
import { fixedSeeds } from '../../campaigns/seeds.ts';
import { playAll } from './play.ts';
import { soak } from './soak.ts';

test('maps, sets and heap are flat over hours of churn', async () => {
  const tally = await playAll('virtual soak', fixedSeeds(1, 1), (seed) => soak(seed, { rounds: 7, hours: 1.5 }));
  expect(tally.of('machines launched')).toBeGreaterThan(40);
}, 900_000);
