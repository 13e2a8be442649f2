// An hour without the API server, without the cloud, without both: the long form, with new seeds each time.
import { test } from 'vitest';
import { freshSeeds } from '../../campaigns/seeds.ts';
import { outage } from './outage.ts';
import { playAll } from './play.ts';

test.each(['API server', 'cloud', 'both'] as const)('an hour without: %s', async (away) => {
  await playAll(`outage of ${away}`, freshSeeds(`outage of ${away}`, 8), (seed) => outage(seed, away));
});
