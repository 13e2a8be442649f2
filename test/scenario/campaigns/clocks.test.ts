// Whatever the clocks of replicas do: the short form, in virtual time.
import { expect, test } from 'vitest';
import { fixedSeeds } from '../../campaigns/seeds.ts';
import { clocks } from './clocks.ts';
import { playAll } from './play.ts';

test('clocks that are set, frozen and wrong end no node and give no two writers', async () => {
  const tally = await playAll('clocks', fixedSeeds(1, 5), clocks);
  expect(tally.sum('faults: ')).toBeGreaterThan(15);
}, 300_000);
