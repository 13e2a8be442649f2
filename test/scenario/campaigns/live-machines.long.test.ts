// No live machine is ever terminated, whatever replicas see: the long form, with new seeds each time.
import { expect, test } from 'vitest';
import { freshSeeds } from '../../campaigns/seeds.ts';
import { faults, liveMachines } from './live-machines.ts';
import { playAll } from './play.ts';

const campaign = 'live machines';

test('in random histories of wrong views nothing that is claimed is terminated', async () => {
  const tally = await playAll(campaign, freshSeeds(campaign, 160), liveMachines);
  for (const kind of Object.keys(faults)) expect(tally.of(`faults: ${kind}`), kind).toBeGreaterThan(5);
});

test.each(Object.keys(faults))('nor with one kind of fault alone: %s', async (kind) => {
  await playAll(`${campaign}, ${kind}`, freshSeeds(kind, 6), (seed) => liveMachines(seed, [kind]));
});
