import { setImmediate as settle } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { VirtualClock } from '../../base/index.ts';
import { OfferingMemory } from './offering-memory.ts';

const minuteMs = 60_000;
const sizes = ['m5.large', 'm5.xlarge', 'm5.2xlarge', 'm5.4xlarge', 'm5.8xlarge', 'c5.8xlarge'];
const offering = (instanceType = 'm5.large', zone = 'a', capacityType = 'spot') => ({
  instanceType,
  zone,
  capacityType,
});

let clock: VirtualClock;
let memory: OfferingMemory;
let changes: string[];
beforeEach(() => {
  clock = new VirtualClock({ settle });
  changes = [];
  memory = new OfferingMemory({ clock, typeNames: () => sizes, onChange: (type) => changes.push(type) });
});
const failAll = (types: readonly string[]): void => {
  for (const type of types) memory.failed(offering(type), 'no capacity', { isShortage: true });
};

test('an offering that fails again after its time is left alone for longer, and says how often it failed', async () => {
  memory.failed(offering(), 'no capacity');
  await clock.runFor(3 * minuteMs);
  expect(memory.isLeftAlone(offering())).toBe(false);
  memory.failed(offering(), 'no capacity');
  await clock.runFor(6 * minuteMs - 1);
  const until = new Date(clock.now() + 1).toISOString().replace('.000', '');
  expect(memory.list()).toEqual([{ ...offering(), until, reason: 'no capacity (2 times in a row)' }]);
  await clock.runFor(1);
  expect(memory.isLeftAlone(offering())).toBe(false);
  expect(changes).toEqual(['m5.large', 'm5.large', 'm5.large', 'm5.large']);
});

test('three failed sizes make larger ones suspected in the same place for three minutes', async () => {
  failAll(['m5.large', 'm5.xlarge', 'm5.2xlarge']);
  const left = sizes.filter((type) => memory.isLeftAlone(offering(type)));
  expect(left).toEqual(['m5.large', 'm5.xlarge', 'm5.2xlarge', 'm5.4xlarge', 'm5.8xlarge']);
  expect(memory.isLeftAlone(offering('m5.8xlarge', 'b'))).toBe(false);
  expect(memory.list().find(({ instanceType }) => instanceType === 'm5.8xlarge')?.reason).toMatch(
    'suspected, as 3 other sizes of m5 failed here',
  );
  await clock.runFor(3 * minuteMs);
  expect(sizes.filter((type) => memory.isLeftAlone(offering(type)))).toEqual([]);
});

test('failures that say nothing about capacity make nothing suspected', () => {
  for (const type of sizes.slice(0, 3)) memory.failed(offering(type), 'taken back');
  expect(memory.isLeftAlone(offering('m5.8xlarge'))).toBe(false);
});

test('a suspected offering may be asked for at once, a failed one a minute after its failure', async () => {
  failAll(['m5.large', 'm5.xlarge', 'm5.2xlarge']);
  expect(memory.isProbeDue(offering('m5.8xlarge'))).toBe(true);
  expect(memory.isProbeDue(offering())).toBe(false);
  expect(memory.list({ probing: true }).map(({ instanceType }) => instanceType)).toEqual(sizes.slice(0, 3));
  await clock.runFor(minuteMs);
  expect(memory.list({ probing: true })).toEqual([]);
});

test('a success ends what is remembered of its family and place, but not how often the others failed', async () => {
  failAll(['m5.large', 'm5.xlarge', 'm5.2xlarge', 'c5.8xlarge']);
  await clock.runFor(minuteMs);
  memory.succeeded(offering('m5.4xlarge'));
  expect(sizes.filter((type) => memory.isLeftAlone(offering(type)))).toEqual(['m5.8xlarge', 'c5.8xlarge']);
  memory.succeeded(offering('m5.xlarge'));
  memory.failed(offering(), 'no capacity');
  memory.failed(offering('m5.xlarge'), 'no capacity');
  const reasons = memory.list().map(({ instanceType, reason }) => `${instanceType}: ${reason}`);
  expect(reasons.sort()).toEqual([
    'c5.8xlarge: no capacity',
    'm5.8xlarge: suspected, as 3 other sizes of m5 failed here',
    'm5.large: no capacity (2 times in a row)',
    'm5.xlarge: no capacity',
  ]);
});

test('a success says nothing about what failed in the same minute', async () => {
  failAll(['m5.large']);
  await clock.runFor(minuteMs - 1);
  memory.succeeded(offering('m5.xlarge'));
  expect(memory.isLeftAlone(offering())).toBe(true);
});
