import { setImmediate as settle } from 'node:timers/promises';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { VirtualClock } from './index.ts';

const start = 1_000_000;
const clockAtStart = (): VirtualClock => new VirtualClock({ startMs: start, settle });

test('time stands still until a run, and a run ends exactly at the asked time', async () => {
  const clock = clockAtStart();
  await settle();
  expect(clock.now()).toBe(start);
  await clock.runFor(12_345);
  expect(clock.now()).toBe(start + 12_345);
});

test('timers run by due time, then in the order in which they were set', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: -5, max: 20 }), { maxLength: 40 }), async (delays) => {
      const clock = clockAtStart();
      const ran: { delay: number; index: number; at: number }[] = [];
      delays.forEach((delay, index) => clock.after(delay, () => ran.push({ delay, index, at: clock.now() - start })));
      await clock.runFor(20);
      const expected = delays
        .map((delay, index) => ({ delay, index, at: Math.max(0, delay) }))
        .sort((a, b) => a.at - b.at || a.index - b.index);
      expect(ran).toEqual(expected);
    }),
    { seed: 1, numRuns: 60 },
  );
});

test('a timer set during a run takes its place in the same run', async () => {
  const clock = clockAtStart();
  const ran: string[] = [];
  clock.after(10, () => {
    ran.push('first');
    clock.after(5, () => ran.push(`inner at ${clock.now() - start}`));
  });
  clock.after(20, () => ran.push('last'));
  await clock.runFor(20);
  expect(ran).toEqual(['first', 'inner at 15', 'last']);
});

test('promise chains settle before the next timer runs', async () => {
  const clock = clockAtStart();
  const ran: string[] = [];
  const chain = async (): Promise<void> => {
    await clock.sleep(10);
    for (let turn = 0; turn < 50; turn++) await Promise.resolve();
    ran.push('chain');
  };
  const done = chain();
  clock.after(10, () => ran.push('timer'));
  await clock.runFor(10);
  await done;
  expect(ran).toEqual(['chain', 'timer']);
});

test('a disposed timer never runs, and disposing twice is harmless', async () => {
  const clock = clockAtStart();
  let runs = 0;
  const timer = clock.after(5, () => runs++);
  timer.dispose();
  timer.dispose();
  expect(clock.nextDueMs()).toBeUndefined();
  await clock.runFor(10);
  expect(runs).toBe(0);
});

test('a sleep rejects with the reason of its signal and leaves no timer behind', async () => {
  const clock = clockAtStart();
  const controller = new AbortController();
  const sleeping = clock.sleep(1_000, controller.signal);
  controller.abort(new Error('enough'));
  await expect(sleeping).rejects.toThrow('enough');
  await expect(clock.sleep(1, controller.signal)).rejects.toThrow('enough');
  expect(clock.nextDueMs()).toBeUndefined();
});

test('a task that throws ends the run, and a later run continues with the others', async () => {
  const clock = clockAtStart();
  let ran = false;
  clock.after(5, () => {
    throw new Error('broken task');
  });
  clock.after(6, () => {
    ran = true;
  });
  await expect(clock.runFor(10)).rejects.toThrow('broken task');
  expect(clock.now()).toBe(start + 5);
  await clock.runFor(1);
  expect(ran).toBe(true);
});

test('runs do not nest', async () => {
  const clock = clockAtStart();
  const first = clock.runFor(10);
  await expect(clock.runFor(10)).rejects.toMatchObject({ code: 'ClockRunning' });
  await first;
});

test('a conditional run stops as soon as the condition holds, or at its limit', async () => {
  const clock = clockAtStart();
  let ticks = 0;
  const tick = (): void => {
    ticks++;
    clock.after(1_000, tick);
  };
  clock.after(1_000, tick);
  expect(await clock.runUntilTrue(() => ticks === 3, 60_000)).toBe(true);
  expect(clock.now()).toBe(start + 3_000);
  expect(await clock.runUntilTrue(() => ticks === 300, 10_000)).toBe(false);
  expect(ticks).toBe(13);
});
