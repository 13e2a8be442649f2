// No live machine is ever terminated, whatever replicas see: the short form, in virtual time.
import { expect, test } from 'vitest';
import { fixedSeeds } from '../../campaigns/seeds.ts';
import { liveMachines } from './live-machines.ts';
import { playAll } from './play.ts';

test('in random histories of wrong views nothing that is claimed is terminated', async () => {
  const tally = await playAll('live machines', fixedSeeds(1, 16), liveMachines);
  expect(tally.sum('faults: ')).toBeGreaterThan(50);
}, 300_000);
