// Definitions and objects of other versions under this build: the long form, with new seeds each time.
import { expect, test } from 'vitest';
import { freshSeeds } from '../../campaigns/seeds.ts';
import { playAll } from './play.ts';
import { versionHistory } from './versions.ts';

test('versions come and go, no machine ends and no unknown field is lost', async () => {
  const tally = await playAll('versions', freshSeeds('versions', 30), versionHistory);
  expect(tally.of('objects judged')).toBeGreaterThan(100);
});
