import { setImmediate as settle } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { KerfError, VirtualClock } from '../base/index.ts';
import { KubeError } from '../ports/index.ts';
import { done, type Outcome, type Reconciled, Reconciler } from './index.ts';

function bench(reconcile: (key: string, signal: AbortSignal) => Promise<Outcome>, workers = 2) {
  const clock = new VirtualClock({ settle });
  const facts: Reconciled[] = [];
  const reconciler = new Reconciler({
    name: 'test',
    clock,
    workers,
    reconcile,
    backoff: { baseMs: 100, maxMs: 1_000 },
    observer: { onReconciled: (fact) => facts.push(fact) },
  });
  const stop = new AbortController();
  const running = reconciler.run(stop.signal);
  return { clock, reconciler, facts, stop, running };
}

const startMs = new VirtualClock({ settle }).now();

test.each<[string, () => Promise<Outcome>, Partial<Reconciled>]>([
  ['done', async () => done, { result: 'success' }],
  ['again', async () => ({ kind: 'again', afterMs: 7_000 }), { result: 'requeue_after', retryInMs: 7_000 }],
  ['retry', async () => ({ kind: 'retry' }), { result: 'requeue', retryInMs: 100 }],
  ['a throw', () => Promise.reject(new Error('odd')), { result: 'error', retryInMs: 100 }],
  [
    'a failed call',
    () => Promise.reject(new KubeError({ status: 409, reason: 'Conflict', message: 'x' })),
    { result: 'error', retryInMs: 100 },
  ],
  ['a hopeless error', () => Promise.reject(new KerfError('FlagsInvalid', 'x')), { result: 'terminal_error' }],
])('%s has one meaning', async (_what, reconcile, expected) => {
  const { clock, reconciler, facts, stop, running } = bench(reconcile);
  reconciler.queue.add('a');
  await clock.runFor(0);
  expect(facts[0]).toMatchObject({ key: 'a', ...expected });
  expect(reconciler.queue.delayedCount).toBe(expected.retryInMs === undefined ? 0 : 1);
  stop.abort();
  await running;
});

test('failures come again with growing waits, and a success starts them afresh', async () => {
  let fails = true;
  const attempts: number[] = [];
  const { clock, reconciler, stop, running } = bench(async () => {
    attempts.push(clock.now() - startMs);
    if (fails) throw new Error('not yet');
    return done;
  });
  reconciler.queue.add('a');
  await clock.runFor(750);
  expect(attempts).toEqual([0, 100, 300, 700]);
  fails = false;
  await clock.runFor(2_000);
  fails = true;
  attempts.length = 0;
  reconciler.queue.add('a');
  await clock.runFor(150);
  expect(attempts.length).toBe(2);
  stop.abort();
  await running;
});

test('a slow key does not hold up the others, and never runs twice at once', async () => {
  const finished: string[] = [];
  let slowRuns = 0;
  const { clock, reconciler, stop, running } = bench(async (key) => {
    if (key === 'slow') {
      slowRuns++;
      await clock.sleep(10_000);
    }
    finished.push(key);
    return done;
  });
  reconciler.queue.add('slow');
  await clock.runFor(0);
  reconciler.queue.add('slow');
  for (const key of ['a', 'b', 'c']) reconciler.queue.add(key);
  await clock.runFor(100);
  expect(finished).toEqual(['a', 'b', 'c']);
  expect([slowRuns, reconciler.activeWorkers]).toEqual([1, 1]);
  await clock.runFor(10_000);
  expect(slowRuns).toBe(2);
  await clock.runFor(10_000);
  stop.abort();
  await running;
});

test('stopping lets the keys under way finish, tells them, and starts no others', async () => {
  const log: string[] = [];
  const { clock, reconciler, stop, running } = bench(async (key, signal) => {
    log.push(`start ${key}`);
    await clock.sleep(1_000);
    log.push(`end ${key}, aborted ${signal.aborted}`);
    return done;
  }, 1);
  reconciler.queue.add('a');
  reconciler.queue.add('b');
  await clock.runFor(500);
  stop.abort();
  await clock.runFor(500);
  await running;
  expect(log).toEqual(['start a', 'end a, aborted true']);
  expect(clock.nextDueMs()).toBeUndefined();
});
