import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { SortedMap } from './sorted-map.ts';

const keys = fc.stringMatching(/^[a-d]{1,3}(\/[a-d]{1,2})?$/);
const change = fc.oneof(
  fc.record({ op: fc.constant('set' as const), key: keys, value: fc.integer() }),
  fc.record({ op: fc.constant('delete' as const), key: keys }),
);

test('behaves like an ordinary map read in key order, whatever is done to it', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 400 }), keys, (changes, probe) => {
      let map = new SortedMap<number>();
      const model = new Map<string, number>();
      for (const step of changes) {
        if (step.op === 'set') {
          map = map.set(step.key, step.value);
          model.set(step.key, step.value);
        } else {
          map = map.delete(step.key);
          model.delete(step.key);
        }
      }
      const sorted = [...model].sort(([left], [right]) => (left < right ? -1 : 1));
      expect([...map.values()]).toEqual(sorted.map(([, value]) => value));
      expect(map.size).toBe(model.size);
      expect(map.get(probe)).toBe(model.get(probe));
      expect([...map.values('', probe)]).toEqual(sorted.filter(([key]) => key > probe).map(([, value]) => value));
      expect([...map.values('a/')]).toEqual(sorted.filter(([key]) => key.startsWith('a/')).map(([, value]) => value));
    }),
    { seed: 7 },
  );
});

test('an old version stays as it was while new ones are made', () => {
  let map = new SortedMap<number>();
  for (let index = 0; index < 1_000; index += 1) map = map.set(`key-${String(index).padStart(4, '0')}`, index);
  const before = map;
  for (let index = 0; index < 1_000; index += 2) map = map.delete(`key-${String(index).padStart(4, '0')}`);
  map = map.set('key-0001', -1);
  expect([...before.values()]).toEqual(Array.from({ length: 1_000 }, (_, index) => index));
  expect(map.size).toBe(500);
});
