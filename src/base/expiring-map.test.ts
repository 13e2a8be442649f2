import { expect, test } from 'vitest';
import { ExpiringMap } from './expiring-map.ts';
import { VirtualClock } from './virtual-clock.ts';

test('an entry is believed for its time and not a moment longer', async () => {
  const clock = new VirtualClock({ settle: async () => undefined });
  const map = new ExpiringMap<string, number>(clock, 1_000);
  map.set('a', 1);
  await clock.runFor(999);
  expect(map.get('a')).toBe(1);
  await clock.runFor(1);
  expect(map.get('a')).toBeUndefined();
  expect(map.has('a')).toBe(false);
});

test('setting an entry again starts its time anew, with a time of its own if asked', async () => {
  const clock = new VirtualClock({ settle: async () => undefined });
  const map = new ExpiringMap<string, number>(clock, 1_000);
  map.set('a', 1);
  await clock.runFor(900);
  map.set('a', 2);
  map.set('b', 3, 5_000);
  await clock.runFor(900);
  expect(map.entries()).toEqual([
    ['a', 2],
    ['b', 3],
  ]);
  await clock.runFor(100);
  expect(map.entries()).toEqual([['b', 3]]);
});

test('deleting and clearing forget at once', () => {
  const map = new ExpiringMap<string, number>(new VirtualClock({ settle: async () => undefined }), 1_000);
  map.set('a', 1);
  map.set('b', 2);
  map.delete('a');
  expect(map.entries()).toEqual([['b', 2]]);
  map.clear();
  expect(map.entries()).toEqual([]);
});
