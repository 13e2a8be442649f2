import { expect, test } from 'vitest';
import { VirtualClock } from '../../base/index.ts';
import { PodBatcher } from './pod-batcher.ts';

function batcher() {
  const clock = new VirtualClock({ startMs: 0, settle: () => new Promise((resolve) => setImmediate(resolve)) });
  const made = new PodBatcher(clock, { idleMs: 1_000, maxMs: 10_000 });
  const closed: { atMs: number; count: number }[] = [];
  const wait = (): void => void made.next().then((count) => closed.push({ atMs: clock.now(), count }));
  const triggerAt = (atMs: number, uid: string): void => void clock.after(atMs, () => made.trigger(uid));
  return { clock, made, closed, wait, triggerAt };
}

test('a window closes one idle time after its only trigger', async () => {
  const { clock, closed, wait, triggerAt } = batcher();
  wait();
  triggerAt(500, 'a');
  await clock.runFor(20_000);
  expect(closed).toEqual([{ atMs: 1_500, count: 1 }]);
});

test('every new uid keeps the window open, up to its longest time', async () => {
  const { clock, closed, wait, triggerAt } = batcher();
  wait();
  for (let i = 0; i < 30; i += 1) triggerAt(i * 500, `pod-${i}`);
  await clock.runFor(20_000);
  expect(closed[0]?.atMs).toBe(10_000);
});

test('a uid already seen does not keep the window open', async () => {
  const { clock, closed, wait, triggerAt } = batcher();
  wait();
  triggerAt(0, 'a');
  triggerAt(900, 'a');
  await clock.runFor(20_000);
  expect(closed).toEqual([{ atMs: 1_000, count: 1 }]);
});

test('seen uids are forgotten when the window closes', async () => {
  const { clock, closed, wait, triggerAt } = batcher();
  wait();
  triggerAt(0, 'a');
  await clock.runFor(2_000);
  wait();
  triggerAt(0, 'a');
  await clock.runFor(2_000);
  expect(closed).toEqual([
    { atMs: 1_000, count: 1 },
    { atMs: 3_000, count: 1 },
  ]);
});

test('a trigger without a waiting caller opens the next window at once', async () => {
  const { clock, made, closed, wait } = batcher();
  made.trigger('a');
  await clock.runFor(5_000);
  wait();
  await clock.runFor(1);
  expect(closed).toEqual([{ atMs: 5_000, count: 1 }]);
});

test('an aborted wait rejects and leaves no timer behind', async () => {
  const { clock, made } = batcher();
  const abort = new AbortController();
  const waiting = made.next(abort.signal);
  made.trigger('a');
  await clock.runFor(1);
  abort.abort(new Error('stopping'));
  await expect(waiting).rejects.toThrow('stopping');
  expect(clock.nextDueMs()).toBeUndefined();
});
