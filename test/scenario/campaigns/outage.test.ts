// An hour without the API server, without the cloud, without both: the short form, in virtual time.
import { expect, test } from 'vitest';
import { fixedSeeds } from '../../campaigns/seeds.ts';
import { outage } from './outage.ts';
import { playAll } from './play.ts';

test.each(['API server', 'cloud', 'both'] as const)(
  'an hour without: %s',
  async (away) => {
    const tally = await playAll(`outage of ${away}`, fixedSeeds(1, 1), (seed) => outage(seed, away));
    expect(tally.of('minutes of requests judged')).toBeGreaterThan(100);
  },
  300_000,
);
