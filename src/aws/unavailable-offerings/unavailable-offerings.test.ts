import { setImmediate as settle } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { VirtualClock } from '../../base/index.ts';
import { firstSpellMs as unavailableMs } from '../../core/index.ts';
import { UnavailableOfferings } from './unavailable-offerings.ts';

let clock: VirtualClock;
let offerings: UnavailableOfferings;
beforeEach(() => {
  clock = new VirtualClock({ settle });
  offerings = new UnavailableOfferings(clock);
});

const pool = (zone = 'a', instanceType = 'm5.large', capacityType = 'spot') => ({ zone, instanceType, capacityType });
const group = { id: 'pg-1' };

test('a mark concerns its own pool only, and ends after three minutes', async () => {
  offerings.markPool(pool());
  expect(offerings.isUnavailable(pool(), [])).toBe(true);
  expect(offerings.isUnavailable(pool('b'), [])).toBe(false);
  expect(offerings.isUnavailable(pool('a', 'm5.xlarge'), [])).toBe(false);
  expect(offerings.isUnavailable(pool('a', 'm5.large', 'on-demand'), [])).toBe(false);
  await clock.runFor(unavailableMs - 1);
  expect(offerings.isUnavailable(pool(), [])).toBe(true);
  await clock.runFor(1);
  expect(offerings.isUnavailable(pool(), [])).toBe(false);
});

test('marked pools are listed until their time is over, those of placement groups not', async () => {
  offerings.markPool(pool());
  offerings.markPool({ ...pool('b'), placementGroup: group });
  offerings.markSubnet('subnet-1');
  const until = new Date(clock.now() + unavailableMs).toISOString().replace('.000', '');
  expect(offerings.list()).toEqual([{ ...pool(), until, reason: 'EC2 has no capacity' }]);
  await clock.runFor(unavailableMs);
  expect(offerings.list()).toEqual([]);
});

test('marking again starts the three minutes again', async () => {
  offerings.markPool(pool());
  offerings.markPool(pool('b'));
  await clock.runFor(unavailableMs - 1_000);
  offerings.markPool(pool());
  await clock.runFor(2_000);
  expect(offerings.isUnavailable(pool(), [])).toBe(true);
  expect(offerings.isUnavailable(pool('b'), [])).toBe(false);
});

test('a marked capacity type is unavailable everywhere, the other nowhere', () => {
  offerings.markCapacityType('spot');
  expect(offerings.isUnavailable(pool(), [])).toBe(true);
  expect(offerings.isUnavailable(pool('c', 'r5.large'), [])).toBe(true);
  expect(offerings.isUnavailable(pool('c', 'r5.large', 'on-demand'), [])).toBe(false);
});

test('a zone is out when all of its subnets are: one of one, three of three, but not one of three', () => {
  offerings.markSubnet('subnet-1');
  expect(offerings.isUnavailable(pool(), ['subnet-1'])).toBe(true);
  expect(offerings.isUnavailable(pool(), ['subnet-1', 'subnet-2', 'subnet-3'])).toBe(false);
  expect(offerings.isUnavailable(pool(), [])).toBe(false);
  offerings.markSubnet('subnet-2');
  offerings.markSubnet('subnet-3');
  expect(offerings.isUnavailable(pool(), ['subnet-1', 'subnet-2', 'subnet-3'])).toBe(true);
});

test('a mark for a placement group leaves launches outside it alone; a general one does not', () => {
  offerings.markPool({ ...pool(), placementGroup: group });
  expect(offerings.isUnavailable(pool(), [])).toBe(false);
  expect(offerings.isUnavailable({ ...pool(), placementGroup: group }, [])).toBe(true);
  expect(offerings.isUnavailable({ ...pool(), placementGroup: { ...group, partition: '2' } }, [])).toBe(true);
  offerings.markPool({ ...pool('b'), placementGroup: { ...group, partition: '1' } });
  expect(offerings.isUnavailable({ ...pool('b'), placementGroup: { ...group, partition: '1' } }, [])).toBe(true);
  expect(offerings.isUnavailable({ ...pool('b'), placementGroup: { ...group, partition: '2' } }, [])).toBe(false);
  offerings.markPool(pool('c'));
  expect(offerings.isUnavailable({ ...pool('c'), placementGroup: group }, [])).toBe(true);
});

test('the number of a type starts at 0 and rises with its marks, with those of all types, and at their end', async () => {
  const numbers = (): number[] => ['m5.large', 'm5.xlarge'].map((type) => offerings.sequenceOf(type));
  expect(numbers()).toEqual([0, 0]);
  offerings.markPool(pool());
  expect(numbers()).toEqual([1, 0]);
  offerings.markSubnet('subnet-1');
  expect(numbers()).toEqual([2, 1]);
  offerings.markCapacityType('spot');
  expect(numbers()).toEqual([3, 2]);
  await clock.runFor(unavailableMs);
  expect(numbers()).toEqual([6, 4]);
  offerings.markPool(pool());
  const { version } = offerings;
  offerings.clear();
  expect(numbers()).toEqual([8, 4]);
  expect(offerings.version).toBe(version + 1);
});
