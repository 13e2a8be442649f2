import { setImmediate as settle } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { RateLimiter } from './rate-limiter.ts';
import { VirtualClock } from './virtual-clock.ts';

test('a burst passes at once, the rest at the rate, in order', async () => {
  const clock = new VirtualClock({ startMs: 0, settle });
  const limiter = new RateLimiter({ qps: 10, burst: 3 }, clock);
  const passed: string[] = [];
  for (let call = 0; call < 6; call++) void limiter.take().then(() => passed.push(`${call} at ${clock.now()}`));
  await clock.runFor(1_000);
  expect(passed).toEqual(['0 at 0', '1 at 0', '2 at 0', '3 at 100', '4 at 200', '5 at 300']);
});

test('an idle bucket fills up to the burst, not beyond', async () => {
  const clock = new VirtualClock({ startMs: 0, settle });
  const limiter = new RateLimiter({ qps: 10, burst: 2 }, clock);
  await clock.runFor(60_000);
  let passed = 0;
  for (let call = 0; call < 5; call++) void limiter.take().then(() => passed++);
  await clock.runFor(0);
  expect(passed).toBe(2);
});

test('a waiter that gives up returns its place', async () => {
  const clock = new VirtualClock({ startMs: 0, settle });
  const limiter = new RateLimiter({ qps: 1, burst: 1 }, clock);
  await limiter.take();
  const impatient = new AbortController();
  const given = limiter.take(impatient.signal);
  impatient.abort(new Error('enough'));
  await expect(given).rejects.toThrow('enough');
  let passedAt = -1;
  void limiter.take().then(() => {
    passedAt = clock.now();
  });
  await clock.runFor(5_000);
  expect(passedAt).toBe(1_000);
});

test('no rate means no limit', async () => {
  const limiter = new RateLimiter({ qps: 0, burst: 0 }, new VirtualClock({ settle }));
  for (let call = 0; call < 1_000; call++) await limiter.take();
});
