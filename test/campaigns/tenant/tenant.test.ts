// A hostile tenant: the short form, with a fixed seed.
import { expect, test } from 'vitest';
import { fixedSeeds } from '../seeds.ts';
import { attack } from './attack.ts';
import { useAttackedWorld } from './attacked-world.ts';

const { world, observePort } = await useAttackedWorld();

test('a hostile tenant stalls nothing, delays no other tenant and writes to no terminal', async () => {
  const [seed = 1] = fixedSeeds(1, 1);
  const tally = await attack(world, { seed, rounds: 1, crowd: 100, observePort });
  tally.print('tenant');
  expect(tally.sum('faults: ')).toBeGreaterThan(40);
});
