// Many runs of the model. The first that breaks a rule ends the campaign with its seed and its story; KERF_SEED plays one
// seed again.
import { expect } from 'vitest';
import type { Judge } from './judge.ts';
import { type RunOptions, type RunResult, run } from './run.ts';

/** Seeds `from` up to, but not including, `to`; returns what the judge has seen in all of them. */
export async function campaign(from: number, to: number, options: RunOptions = {}): Promise<Judge['seen']> {
  const only = process.env['KERF_SEED'];
  const seeds = only === undefined ? Array.from({ length: to - from }, (_, index) => from + index) : [Number(only)];
  const totals: Judge['seen'] = { commands: 0, replacements: 0, evictions: 0, forced: 0, launches: 0, deletions: 0 };
  for (const seed of seeds) {
    const result = await run(seed, options);
    expect(result.violations, storyOf(result)).toEqual([]);
    for (const kind of Object.keys(totals) as (keyof typeof totals)[]) totals[kind] += result.seen[kind];
  }
  return totals;
}

/** The first objection of this kind in any of these seeds. */
export async function firstObjection(seeds: number, options: RunOptions, kind: RegExp): Promise<string | undefined> {
  for (let seed = 1; seed <= seeds; seed += 1) {
    const { violations } = await run(seed, options);
    const found = violations.find((text) => kind.test(text));
    if (found !== undefined) return found;
  }
  return undefined;
}

function storyOf({ seed, story }: RunResult): string {
  return `seed ${seed} (KERF_SEED=${seed} plays it again)\n${story.join('\n')}\n`;
}
