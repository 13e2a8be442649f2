// Plays histories one after the other. The first that breaks a rule ends the campaign with its seed and its story.
import { expect } from 'vitest';
import { Tally } from '../../campaigns/tally.ts';
import type { World } from './world.ts';

export interface Played {
  seed: number;
  violations: string[];
  story: string[];
  tally: Tally;
}

export async function playAll(
  campaign: string,
  seeds: readonly number[],
  play: (seed: number) => Promise<Played>,
): Promise<Tally> {
  const tally = new Tally();
  for (const seed of seeds) {
    const result = await play(seed);
    const reported = `${campaign}, seed ${seed} (KERF_SEED=${seed} plays it again)\n${result.story.join('\n')}\n`;
    expect(result.violations, reported).toEqual([]);
    tally.merge(result.tally);
  }
  tally.print(campaign);
  return tally;
}

/** Runs one history to its end, whatever happens, and says what the judge found. */
export async function verdict(seed: number, world: World, history: () => Promise<void>): Promise<Played> {
  const { judge, story } = world;
  try {
    await history();
  } catch (error) {
    judge.violations.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  judge.violations.push(...world.failures);
  await world.close();
  judge.tally.add('histories');
  return { seed, violations: judge.violations, story, tally: judge.tally };
}
