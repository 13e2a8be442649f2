import { setImmediate as settle } from 'node:timers/promises';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { VirtualClock } from '../base/index.ts';
import { WorkQueue } from './index.ts';

function queueAt() {
  const clock = new VirtualClock({ settle });
  return { clock, queue: new WorkQueue({ clock, backoff: { baseMs: 100, maxMs: 1_000 } }) };
}

const takeNow = async (queue: WorkQueue): Promise<string | undefined> =>
  queue.depth === 0 ? undefined : (await queue.take())?.key;

test('a key waits once however often it is added, and keys come out in order', async () => {
  const { queue } = queueAt();
  for (const key of ['b', 'a', 'b', 'c', 'a']) queue.add(key);
  expect([await takeNow(queue), await takeNow(queue), await takeNow(queue), await takeNow(queue)]).toEqual([
    'b',
    'a',
    'c',
    undefined,
  ]);
});

test('a key added while it is worked on comes again afterwards, not before', async () => {
  const { queue } = queueAt();
  queue.add('a');
  await takeNow(queue);
  queue.add('a');
  queue.add('a');
  expect(queue.depth).toBe(0);
  queue.done('a');
  expect(await takeNow(queue)).toBe('a');
  queue.done('a');
  expect(queue.depth).toBe(0);
});

test('of several delays the earliest counts, and adding at once makes them void', async () => {
  const { clock, queue } = queueAt();
  queue.addAfter('a', 500);
  queue.addAfter('a', 200);
  queue.addAfter('a', 900);
  queue.addAfter('b', 300);
  queue.add('b');
  expect(queue.depth).toBe(1);
  await clock.runFor(200);
  expect(queue.depth).toBe(2);
  expect(queue.delayedCount).toBe(0);
  await clock.runFor(1_000);
  expect(queue.depth).toBe(2);
});

test('failures wait twice as long each time, up to the limit, until the key succeeds', () => {
  const { queue } = queueAt();
  expect(Array.from({ length: 6 }, () => queue.retry('a'))).toEqual([100, 200, 400, 800, 1_000, 1_000]);
  expect(queue.retry('b')).toBe(100);
  expect(queue.failuresOf('a')).toBe(6);
  queue.forget('a');
  expect(queue.retry('a')).toBe(100);
});

test('a worker waits for a key, learns how long it had been ready, and is let go when the queue closes', async () => {
  const { clock, queue } = queueAt();
  const first = queue.take();
  const second = queue.take();
  queue.add('a');
  expect(await first).toEqual({ key: 'a', waitedMs: 0 });
  queue.addAfter('late', 50);
  queue.close();
  expect(await second).toBeUndefined();
  queue.add('b');
  queue.addAfter('c', 10);
  expect([queue.depth, queue.delayedCount]).toEqual([0, 0]);
  expect(clock.nextDueMs()).toBeUndefined();
  const slow = queueAt();
  slow.queue.add('x');
  await slow.clock.runFor(70);
  expect(await slow.queue.take()).toEqual({ key: 'x', waitedMs: 70 });
});

test('no key is lost, doubled or given to two workers, whatever is added when', async () => {
  const keys = ['a', 'b', 'c'];
  const step = fc.record({
    key: fc.constantFrom(...keys),
    delayMs: fc.constantFrom(0, 0, 5, 40),
    pauseMs: fc.integer({ min: 0, max: 15 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.integer({ min: 1, max: 3 }), async (steps, workers) => {
      const { clock, queue } = queueAt();
      const wantedAfter = new Map<string, number>();
      const startedAt = new Map<string, number>();
      const busy = new Set<string>();
      const worker = async (): Promise<void> => {
        for (let taken = await queue.take(); taken !== undefined; taken = await queue.take()) {
          expect(busy.has(taken.key)).toBe(false);
          busy.add(taken.key);
          startedAt.set(taken.key, clock.now());
          await clock.sleep(10);
          busy.delete(taken.key);
          queue.done(taken.key);
        }
      };
      const running = Array.from({ length: workers }, worker);
      for (const { key, delayMs, pauseMs } of steps) {
        queue.addAfter(key, delayMs);
        wantedAfter.set(key, clock.now());
        await clock.runFor(pauseMs);
      }
      await clock.runFor(1_000);
      // Whoever was wanted was looked at after the last time it was wanted, and then left alone.
      for (const [key, wantedMs] of wantedAfter) expect(startedAt.get(key) ?? 0).toBeGreaterThanOrEqual(wantedMs);
      expect([queue.depth, queue.delayedCount, busy.size]).toEqual([0, 0, 0]);
      queue.close();
      await Promise.all(running);
    }),
    { seed: 3, numRuns: 100 },
  );
});
