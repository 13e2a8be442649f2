import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { addBit, bitset, fullBitset, hasBit, isEmptyBitset, keepCommon, membersOf } from './index.ts';

const size = 70;
const numbers = fc.uniqueArray(fc.nat(size - 1)).map((list) => list.sort((left, right) => left - right));
const setOf = (members: readonly number[]) => {
  const bits = bitset(size);
  for (const member of members) addBit(bits, member);
  return bits;
};

test('a bitset holds exactly what was added, in order', () => {
  fc.assert(
    fc.property(numbers, numbers, (left, right) => {
      const bits = setOf(left);
      expect(membersOf(bits)).toEqual(left);
      expect(isEmptyBitset(bits)).toBe(left.length === 0);
      for (let member = 0; member < size; member++) expect(hasBit(bits, member)).toBe(left.includes(member));
      keepCommon(bits, setOf(right));
      expect(membersOf(bits)).toEqual(left.filter((member) => right.includes(member)));
    }),
    { seed: 3, numRuns: 200 },
  );
});

test.each([0, 1, 31, 32, 33, 64, 70])('a full bitset of %i has that many members', (count) => {
  expect(membersOf(fullBitset(count))).toEqual(Array.from({ length: count }, (_, at) => at));
});
