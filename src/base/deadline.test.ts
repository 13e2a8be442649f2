import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { within } from './deadline.ts';
import { VirtualClock } from './virtual-clock.ts';

const late = () => new Error('too late');
const never = new Promise<never>(() => {});

test('work that ends in time is passed on, and leaves no timer', async () => {
  const clock = new VirtualClock({ settle: () => setImmediate() });
  expect(await within(clock, 1_000, Promise.resolve(7), late)).toBe(7);
  await expect(within(clock, 1_000, Promise.reject(new Error('failed')), late)).rejects.toThrow('failed');
  expect(clock.nextDueMs()).toBeUndefined();
});

test('work that does not end is given up at the limit, also if it fails later', async () => {
  const clock = new VirtualClock({ settle: () => setImmediate() });
  const failsLater = clock.sleep(5_000).then(() => Promise.reject(new Error('nothing waits for this')));
  const both = Promise.allSettled([within(clock, 1_000, never, late), within(clock, 2_000, failsLater, late)]);
  await clock.runFor(10_000);
  expect((await both).map((each) => (each.status === 'rejected' ? String(each.reason) : each.value))).toEqual([
    'Error: too late',
    'Error: too late',
  ]);
});
