// Definitions and objects of other versions under this build: the long form, with new seeds each time.
import { expect, test } from 'vitest';
import { playAll } from '../../scenario/campaigns/play.ts';
import { freshSeeds } from '../seeds.ts';
import { versionHistory } from './virtual-history.ts';

test('versions come and go, no machine ends and no unknown field is lost', async () => {
  const tally = await playAll('versions', freshSeeds('versions', 30), versionHistory);
  expect(tally.of('objects judged')).toBeGreaterThan(100);
});
