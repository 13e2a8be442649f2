// A hostile tenant: the long form, with new seeds each time.
import { expect, test } from 'vitest';
import { freshSeeds } from '../seeds.ts';
import { attack } from './attack.ts';
import { useAttackedWorld } from './attacked-world.ts';

const { world, observePort } = await useAttackedWorld();

test('a hostile tenant stalls nothing, delays no other tenant and writes to no terminal', async () => {
  const [seed = 1] = freshSeeds('tenant', 1);
  const tally = await attack(world, { seed, rounds: 6, crowd: 400, observePort });
  tally.print('tenant');
  expect(tally.sum('faults: ')).toBeGreaterThan(200);
});
