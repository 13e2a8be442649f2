import { setImmediate } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { VirtualClock } from '../base/index.ts';
import { ServerTime } from './server-time.ts';

let clock: VirtualClock;
let time: ServerTime;
beforeEach(() => {
  clock = new VirtualClock({ settle: () => setImmediate() });
  time = new ServerTime(clock);
});
const days = 86_400_000;

test('a clock that agrees with the server is believed, also long after the last answer', async () => {
  expect([time.aheadMs(), time.problem()]).toEqual([undefined, undefined]);
  time.heard(clock.now() + 900);
  await clock.runFor(10 * days);
  expect([time.aheadMs(), time.problem()]).toEqual([-900, undefined]);
});

test('a clock that is set is noticed before the next answer, and believed again once corrected', () => {
  time.heard(clock.now());
  clock.step(40 * days);
  expect(time.problem()).toMatch(/is 3456000 s ahead of the API server's, more than 60 s: nothing is disrupted/);
  clock.step(-40 * days);
  expect(time.problem()).toBeUndefined();
  clock.step(-61_000);
  expect(time.problem()).toMatch(/is 61 s behind the API server's/);
});

test('while the clocks disagree, the one that is behind says what is over', () => {
  const nowMs = clock.now();
  time.heard(nowMs);
  expect(time.cautiousNow()).toBe(nowMs);
  clock.step(days);
  expect(time.cautiousNow()).toBe(nowMs);
  clock.step(-2 * days);
  expect(time.cautiousNow()).toBe(nowMs - days);
});

test('when the server was wrong, its next answer ends it', () => {
  time.heard(0);
  expect(time.problem()).toBeDefined();
  time.heard(Number.NaN);
  expect(time.problem()).toBeDefined();
  time.heard(clock.now());
  expect(time.problem()).toBeUndefined();
});
