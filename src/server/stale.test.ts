import { expect, test } from 'vitest';
import { stale } from './assemble.ts';

const cache = (name: string, silentMs: number | undefined, isSynced = true) => ({
  name,
  isSynced,
  ...(silentMs === undefined ? {} : { silentMs }),
  whenSynced: () => Promise.resolve(),
  run: () => Promise.resolve(),
});

test('caches that heard nothing for four minutes are named; those that are not filled yet are reported elsewhere', () => {
  expect(stale([cache('cache pods', 60_000), cache('model', undefined)])).toBe('');
  expect(
    stale([cache('cache pods', 241_000), cache('cache nodes', 600_000, false), cache('cache leases', 7_200_000)]),
  ).toBe('cache pods heard nothing for 241 s, cache leases heard nothing for 7200 s');
});
