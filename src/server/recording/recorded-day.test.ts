// Any moment of a recording can be gone to, in any order, and shows what was there.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { formatTime } from '../../base/index.ts';
import { planSnapshot, type Snapshot } from '../../core/index.ts';
import { nodePool, pods, sizes, snapshot } from '../../core/testing/builders.testing.ts';
import { RealClock } from '../../runtime/index.ts';
import { DecisionRing, silentLog } from '../../telemetry/index.ts';
import { snapshotId } from '../snapshot-id.ts';
import { RecordedDay } from './recorded-day.ts';
import { DecisionRecorder } from './recorder.ts';

const folder = mkdtempSync(join(tmpdir(), 'kerf-day-'));
const file = join(folder, 'day.gz');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const startMs = Date.parse('2026-01-01T00:00:00Z');
const stepMs = 10_000;
/** Looks and passes in turn, each with other pods. */
const looked: Snapshot[] = [3, 8, 5, 0, 2, 9].map((count, at) => ({
  ...snapshot([nodePool({ name: 'default' }), ...pods(count, { cpu: '1' })], {
    instanceTypes: [{ nodePool: 'default', items: sizes }],
  }),
  time: formatTime(startMs + at * stepMs),
}));
const clock = new RealClock();

beforeAll(async () => {
  const decisions = new DecisionRing(clock);
  const recorder = new DecisionRecorder({ file, clock, log: silentLog, version: '1', decisions });
  for (const [at, each] of looked.entries()) {
    if (at % 2 === 0) recorder.plan(each, planSnapshot(each));
    else recorder.look(each);
  }
  decisions.add({ what: 'config', objects: [], reasons: [] });
  await recorder.close();
});

const names = (of: Snapshot | undefined): string[] =>
  (of?.objects.items ?? []).map(({ metadata }) => metadata.name).sort();

test('its bounds are its first and last look, with the decisions in between', async () => {
  const { fromMs, toMs, decisions } = await new RecordedDay(file, clock).bounds();
  expect([fromMs, toMs]).toEqual([startMs, startMs + 5 * stepMs]);
  expect([...decisions.keys()]).toEqual(['d-0001']);
});

test('wherever one goes, forwards or back, the last look at or before that moment is shown; before the first, the first', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: -5_000, max: 70_000 }), { minLength: 1, maxLength: 8 }),
      async (moments) => {
        const day = new RecordedDay(file, clock);
        for (const moment of moments) {
          const at = Math.max(0, Math.min(looked.length - 1, Math.floor(moment / stepMs)));
          expect(names(await day.at(startMs + moment))).toEqual(names(looked[at]));
        }
      },
    ),
    { numRuns: 40 },
  );
});

test('what a decision looked at is found by its name, and the decision made again is equal', async () => {
  const day = new RecordedDay(file, clock);
  const id = await snapshotId(clock, looked[2] as Snapshot);
  const found = await day.snapshotOf(id);
  expect(names(found?.snapshot)).toEqual(names(looked[2]));
  expect(await snapshotId(clock, found?.snapshot as Snapshot)).toBe(id);
  expect(await day.madeAgain(id)).toMatchObject({ isEqual: true });
  expect(await day.snapshotOf('s-000000000000')).toBeUndefined();
  expect(await day.madeAgain('s-000000000000')).toBeUndefined();
});
