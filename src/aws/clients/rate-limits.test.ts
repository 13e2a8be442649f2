import { setImmediate as settle } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { VirtualClock } from '../../base/index.ts';
import { RateLimits } from './rate-limits.ts';

const open = () => {
  const clock = new VirtualClock({ startMs: 0, settle });
  return { clock, limits: new RateLimits(clock) };
};

test('each action has a bucket of its own: a burst passes, the rest comes at its rate', async () => {
  const { clock, limits } = open();
  const passed: number[] = [];
  for (let call = 0; call < 60; call++) void limits.take('EC2', 'CreateFleet').then(() => passed.push(clock.now()));
  let other = false;
  void limits.take('EC2', 'DescribeInstances').then(() => (other = true));
  await clock.runFor(0);
  expect(passed).toHaveLength(50);
  expect(other).toBe(true);
  await clock.runFor(1_000);
  expect(passed).toHaveLength(55);
});

test('a throttled action slows down by half each time, never below a tenth, and recovers with successes', () => {
  const { limits } = open();
  const rate = (): number => limits.rateOf('EC2', 'CreateFleet');
  limits.slowDown('EC2', 'CreateFleet');
  expect(rate()).toBe(2.5);
  for (let more = 0; more < 10; more++) limits.slowDown('EC2', 'CreateFleet');
  expect(rate()).toBe(0.5);
  expect(limits.rateOf('EC2', 'TerminateInstances')).toBe(5);
  for (let success = 0; success < 30; success++) limits.speedUp('EC2', 'CreateFleet');
  expect(rate()).toBe(5);
});

test('messages of the queue are not limited', async () => {
  const { limits } = open();
  for (let call = 0; call < 1_000; call++) await limits.take('SQS', 'ReceiveMessage');
  expect(limits.rateOf('SQS', 'ReceiveMessage')).toBe(0);
});
