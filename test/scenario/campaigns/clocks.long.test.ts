// Whatever the clocks of replicas do: the long form, with new seeds each time.
import { expect, test } from 'vitest';
import { freshSeeds } from '../../campaigns/seeds.ts';
import { clockFaults, clocks } from './clocks.ts';
import { playAll } from './play.ts';

test('clocks that are set, frozen and wrong end no node and give no two writers', async () => {
  const tally = await playAll('clocks', freshSeeds('clocks', 60), clocks);
  for (const kind of Object.keys(clockFaults)) expect(tally.of(`faults: ${kind}`), kind).toBeGreaterThan(10);
});
