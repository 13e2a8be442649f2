import { expect, test } from 'vitest';
import type { Device, DevicePool } from './device-pools.ts';
import { AnyOf, Tally, Together } from './tally.ts';

const pool: DevicePool = {
  driver: 'd',
  name: 'p',
  complete: true,
  invalid: false,
  devices: [],
  counters: new Map(),
  without: () => pool,
};
const shared = (id: string, slots: bigint): Device => ({
  id,
  driver: 'd',
  pool,
  reach: { kind: 'everywhere' },
  attributes: {},
  capacity: { memory: { value: '10' } },
  shared: true,
  counters: [{ counter: 'all/slots', amount: slots }],
  taints: [],
});
const tallyOf = (...uses: [Device, bigint][]): Tally => {
  const tally = new Tally();
  for (const [device, memory] of uses) tally.take({ device, consumed: new Map([['memory', memory]]) });
  return tally;
};
const first = shared('first', 2n);
const second = shared('second', 3n);

test('counters of a device are counted once, its capacity as often as it is used', () => {
  const tally = tallyOf([first, 1n], [first, 4n], [second, 1n]);
  expect(tally.countedOf(pool, 'all/slots')).toBe(5n);
  expect(tally.consumedOf(first, 'memory')).toBe(5n);
});

test('what is used together adds up', () => {
  const both = new Together([tallyOf([first, 1n]), tallyOf([second, 4n], [first, 2n])]);
  expect(both.countedOf(pool, 'all/slots')).toBe(7n);
  expect(both.consumedOf(first, 'memory')).toBe(3n);
});

test('of what may be used the most counts, and a device is in use for sure only if every case uses it', () => {
  const either = new AnyOf([tallyOf([first, 1n]), tallyOf([second, 4n])]);
  expect(either.countedOf(pool, 'all/slots')).toBe(3n);
  expect(either.consumedOf(first, 'memory')).toBe(1n);
  expect(either.isInUse(first)).toBe(false);
  expect(new AnyOf([tallyOf([first, 1n]), tallyOf([first, 2n])]).isInUse(first)).toBe(true);
});
