// Definitions and objects of other versions under this build: the short form, in virtual time.
import { expect, test } from 'vitest';
import { playAll } from '../../scenario/campaigns/play.ts';
import { fixedSeeds } from '../seeds.ts';
import { futureSpec, futureStatus, lostFuture } from './future.ts';
import { versionHistory } from './virtual-history.ts';

test('versions come and go, no machine ends and no unknown field is lost', async () => {
  const tally = await playAll('versions', fixedSeeds(1, 3), versionHistory);
  expect(tally.of('objects judged')).toBeGreaterThan(5);
}, 300_000);

test('a lost field is reported', () => {
  const pool = { metadata: { name: 'a' }, spec: { template: { spec: {} } } };
  const marked = futureStatus(futureSpec(pool));
  expect(lostFuture('NodePool', marked)).toEqual([]);
  expect(lostFuture('NodePool', pool)).toHaveLength(4);
  const trimmed = { ...marked, status: { ...(marked as { status: object }).status, conditions: [] } };
  expect(lostFuture('NodePool', trimmed)).toEqual(['NodePool a lost condition FutureReady']);
});
