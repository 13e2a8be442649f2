// Going back in a recording that grows, as the player of `kerf up` does.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { formatTime } from '../../base/index.ts';
import { nodePool, pods, sizes, snapshot } from '../../core/testing/builders.testing.ts';
import { RealClock } from '../../runtime/index.ts';
import { DecisionRecorder } from '../../server/index.ts';
import { DecisionRing, silentLog } from '../../telemetry/index.ts';
import { Past } from './past.ts';

const folder = mkdtempSync(join(tmpdir(), 'kerf-past-'));
const file = join(folder, 'day.gz');
const clock = new RealClock();
const decisions = new DecisionRing(clock);
const info = { mode: 'up', cluster: 'simulated', build: '1', notVisible: () => [] } as const;
const startMs = Date.parse('2026-01-01T00:00:00Z');
let recorder: DecisionRecorder;
let past: Past;

beforeAll(() => {
  recorder = new DecisionRecorder({ file, clock, log: silentLog, version: '1', decisions });
  for (let at = 0; at < 4; at++) look(at);
  past = new Past({ recording: { file, written: () => recorder.written() }, clock, real: clock });
});
afterAll(async () => {
  await past.now();
  await recorder.close();
  rmSync(folder, { recursive: true, force: true });
});

/** One pod more each minute. */
function look(at: number): void {
  const seen = snapshot([nodePool({ name: 'default' }), ...pods(at + 1, { cpu: '1' })], {
    instanceTypes: [{ nodePool: 'default', items: sizes }],
  });
  recorder.look({ ...seen, time: formatTime(startMs + at * 60_000) });
}

async function waitingPods(): Promise<number | undefined> {
  const live = past.scene()?.parts.live;
  const stop = live?.watch(() => undefined);
  await expect.poll(() => live?.waitingPods().length).toBeGreaterThan(0);
  await live?.ready();
  stop?.();
  return live?.waitingPods().length;
}

test('moments that are asked for at once are shown one after the other; the last stays', async () => {
  expect(past.scene()).toBeUndefined();
  await Promise.all([3, 0, 2].map((at) => past.seek(startMs + at * 60_000, info, decisions)));
  expect(past.scene()?.parts.live.now()).toBe(formatTime(startMs + 2 * 60_000));
  await expect.poll(waitingPods).toBe(3);
  await past.seek(startMs, info, decisions);
  expect(past.scene()?.parts.live.now()).toBe(formatTime(startMs));
  await expect.poll(waitingPods).toBe(1);
});

test('what was recorded meanwhile can be gone to as well, and now is now', async () => {
  look(9);
  await past.seek(startMs + 9 * 60_000, info, decisions);
  expect(past.scene()?.parts.live.now()).toBe(formatTime(startMs + 9 * 60_000));
  await expect.poll(waitingPods).toBe(10);
  await past.now();
  expect(past.scene()).toBeUndefined();
});

test('where nothing is recorded, the player says what to start with', async () => {
  const none = new Past({ recording: undefined, clock, real: clock });
  expect(none.bounds()).toEqual({});
  await expect(none.seek(startMs, info, decisions)).rejects.toMatchObject({ fix: 'start with --record FILE' });
});
