// Where the seeds of campaigns and of property tests come from. `npm test` plays the same ones every time; `npm run test:long`
// draws new ones and prints them, so that every run sees something else. KERF_BASE_SEED plays a whole run again, KERF_SEED one
// history of it.
import { randomInt } from 'node:crypto';

/** Everything of one run is drawn from this; `npm run test:long` draws it once for all its processes and prints it. */
export const baseSeed: number = Number(process.env['KERF_BASE_SEED'] ?? randomInt(1, 1_000_000_000));

/** New seeds with every run; those of `npm test` are fixed. */
export function freshSeeds(campaign: string, count: number): number[] {
  const only = process.env['KERF_SEED'];
  if (only !== undefined) return [Number(only)];
  const seeds = Array.from({ length: count }, (_, index) => baseSeed + index);
  console.log(`${campaign}: seeds ${seeds[0]} to ${seeds.at(-1)}`);
  return seeds;
}

/** The seeds of `npm test`, or the one that KERF_SEED names. */
export function fixedSeeds(first: number, count: number): number[] {
  const only = process.env['KERF_SEED'];
  return only === undefined ? Array.from({ length: count }, (_, index) => first + index) : [Number(only)];
}
