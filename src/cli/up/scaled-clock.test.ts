import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { type Clock, TimerQueue } from '../../base/index.ts';
import { clockFrom, ScaledClock } from './scaled-clock.ts';

/** A machine's clock that can be held up: time jumps, and only then are timers looked at. */
let machineMs: number;
let timers: TimerQueue;
const machine: Clock = {
  now: () => machineMs,
  elapsed: () => machineMs,
  after: (delayMs, task) => timers.add(machineMs + delayMs, task),
  sleep: () => Promise.reject(new Error('nothing sleeps on the machine')),
};

async function holdUp(ms: number): Promise<void> {
  machineMs += ms;
  for (let timer = timers.takeDue(machineMs); timer !== undefined; timer = timers.takeDue(machineMs)) timer.task();
  for (let turn = 0; turn < 100; turn++) await nextTurn();
}

let clock: ScaledClock;
let startMs: number;
const passedMs = (): number => clock.now() - startMs;

beforeEach(() => {
  machineMs = 1_000_000;
  timers = new TimerQueue();
  clock = new ScaledClock(machine, 100);
  startMs = clock.now();
});

test('time passes faster than that of the machine', async () => {
  machineMs += 10;
  expect(passedMs()).toBe(1_000);
  let slept = false;
  void clock.sleep(2_000).then(() => void (slept = true));
  await holdUp(19);
  expect(slept).toBe(false);
  await holdUp(1);
  expect(slept).toBe(true);
  expect(passedMs()).toBe(3_000);
});

test('what was due while the machine was held up runs at its own time and in its order', async () => {
  const ran: [string, number][] = [];
  const note = (name: string): void => void ran.push([name, passedMs()]);
  const beat = (): void => {
    note('beat');
    clock.after(10_000, beat);
  };
  clock.after(10_000, beat);
  clock.after(35_000, () => note('look'));
  machineMs += 450;
  expect(passedMs()).toBe(10_000);
  await holdUp(0);
  expect(ran).toEqual([
    ['beat', 10_000],
    ['beat', 20_000],
    ['beat', 30_000],
    ['look', 35_000],
    ['beat', 40_000],
  ]);
  expect(passedMs()).toBe(45_000);
});

test('time that cannot be caught up with is let go', async () => {
  clock.after(1_000, () => undefined);
  await holdUp(3_600_000);
  expect(passedMs()).toBe(1_000);
  machineMs += 10;
  expect(passedMs()).toBe(2_000);
});

test('a promise chain that a timer starts is over before the next timer runs', async () => {
  const ran: string[] = [];
  clock.after(1_000, () => {
    void (async () => {
      for (let step = 0; step < 50; step++) await Promise.resolve();
      ran.push('first');
    })();
  });
  clock.after(1_001, () => ran.push('second'));
  await holdUp(20);
  expect(ran).toEqual(['first', 'second']);
});

test('a disposed timer never runs, and nothing waits for it', async () => {
  const timer = clock.after(600_000, () => expect.fail('it was disposed'));
  timer.dispose();
  timer.dispose();
  expect(timers.nextDueMs()).toBeUndefined();
  await holdUp(60_000);
});

test('a timer set for sooner than the others runs sooner', async () => {
  const ran: string[] = [];
  clock.after(10_000, () => ran.push('late'));
  clock.after(500, () => ran.push('soon'));
  await holdUp(5);
  expect(ran).toEqual(['soon']);
});

test('a cluster whose time ran ahead of the machine goes on from where it was', () => {
  const latestMs = machineMs + 3_600_000;
  const later = clockFrom(machine, 60, latestMs);
  expect(later.now()).toBe(latestMs);
  machineMs += 1_000;
  expect(later.now()).toBe(latestMs + 60_000);
  expect(clockFrom(machine, 1, latestMs).now()).toBe(latestMs);
  expect(clockFrom(machine, 60, machineMs - 5_000).now()).toBe(machineMs);
  expect(clockFrom(machine, 1, undefined).now()).toBe(machine.now());
});

test('paused, time stands still and nothing is due; afterwards it goes on from there', async () => {
  let rang = 0;
  clock.after(1_000, () => void (rang += 1));
  await holdUp(5);
  clock.setPaused(true);
  await holdUp(1_000);
  expect([passedMs(), rang, clock.paused]).toEqual([500, 0, true]);
  clock.setPaused(false);
  expect(passedMs()).toBe(500);
  await holdUp(5);
  expect([passedMs(), rang]).toEqual([1_000, 1]);
});

test('another speed counts from where time is, for what is waited for too', async () => {
  let rang = 0;
  clock.after(2_000, () => void (rang += 1));
  await holdUp(10);
  clock.setSpeed(10);
  await holdUp(10);
  expect([passedMs(), rang]).toEqual([1_100, 0]);
  clock.setSpeed(1_000);
  await holdUp(1);
  expect([passedMs(), rang]).toEqual([2_100, 1]);
});
