import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Operator } from '../snapshot.ts';
import {
  allows,
  describeRequirement,
  intersection,
  intersects,
  operatorOf,
  type Requirement,
  requirementOf,
  toSpecs,
} from './requirement.ts';

const universe = ['0', '1', '2', '3', '4', '5', '6', '7', 'a', 'b', 'c', 'zz'];

const anyRequirement: fc.Arbitrary<Requirement> = fc.oneof(
  fc
    .tuple(fc.constantFrom<Operator>('In', 'NotIn'), fc.subarray(universe), fc.option(fc.nat(3), { nil: undefined }))
    .map(([operator, values, minValues]) => requirementOf('k', operator, values, minValues)),
  fc.constantFrom<Operator>('Exists', 'DoesNotExist').map((operator) => requirementOf('k', operator)),
  fc
    .tuple(fc.constantFrom<Operator>('Gt', 'Lt', 'Gte', 'Lte'), fc.nat(8))
    .map(([operator, bound]) => requirementOf('k', operator, [String(bound)])),
);

/** The obvious meaning, over a small universe of values. */
const members = (requirement: Requirement): string[] => universe.filter((value) => allows(requirement, value));

test('intersection allows exactly what both allow', () => {
  fc.assert(
    fc.property(anyRequirement, anyRequirement, anyRequirement, (a, b, c) => {
      const both = members(a).filter((value) => members(b).includes(value));
      expect(members(intersection(a, b))).toEqual(both);
      expect(members(intersection(a, b))).toEqual(members(intersection(b, a)));
      expect(members(intersection(intersection(a, b), c))).toEqual(members(intersection(a, intersection(b, c))));
      expect(members(intersection(a, a))).toEqual(members(a));
    }),
    { seed: 1, numRuns: 1000 },
  );
});

test('two requirements intersect when some value of the world satisfies both', () => {
  fc.assert(
    fc.property(anyRequirement, anyRequirement, (a, b) => {
      const both = intersection(a, b);
      // Complements always have values no one mentions; concrete results must really have one.
      const hasSome = both.complement || both.values.length > 0;
      expect(intersects(a, b)).toBe(hasSome);
      expect(intersects(a, b)).toBe(intersects(b, a));
    }),
    { seed: 2, numRuns: 1000 },
  );
});

test('the larger minValues survives an intersection, also one that is empty', () => {
  const low = requirementOf('k', 'In', ['a'], 2);
  const high = requirementOf('k', 'In', ['b'], 5);
  expect(intersection(low, high)).toMatchObject({ values: [], minValues: 5 });
  const contradiction = intersection(requirementOf('k', 'Gt', ['9'], 3), requirementOf('k', 'Lt', ['2']));
  expect(operatorOf(contradiction)).toBe('DoesNotExist');
  expect(contradiction.minValues).toBe(3);
});

test('reading back what was written gives the same set, except exclusions beside bounds', () => {
  fc.assert(
    fc.property(anyRequirement, (requirement) => {
      fc.pre(requirement.gte === undefined && requirement.lte === undefined);
      const [spec] = toSpecs(requirement);
      const again = requirementOf('k', spec?.operator ?? 'Exists', spec?.values, spec?.minValues);
      expect(members(again)).toEqual(members(requirement));
    }),
    { seed: 3 },
  );
});

test('In without values is DoesNotExist, and nothing exceeds the largest integer', () => {
  expect(operatorOf(requirementOf('k', 'In', []))).toBe('DoesNotExist');
  expect(operatorOf(requirementOf('k', 'Gt', ['9223372036854775807']))).toBe('DoesNotExist');
});

test('bounds exclude values that are not integers, and are written as Gte and Lte', () => {
  const between = intersection(requirementOf('k', 'Gt', ['1'], 2), requirementOf('k', 'Lt', ['5']));
  expect(members(between)).toEqual(['2', '3', '4']);
  expect(operatorOf(between)).toBe('Exists');
  expect(toSpecs(between)).toEqual([
    { key: 'k', operator: 'Gte', values: ['2'], minValues: 2 },
    { key: 'k', operator: 'Lte', values: ['4'], minValues: 2 },
  ]);
});

test('a concrete set forgets bounds once they have been applied', () => {
  const result = intersection(requirementOf('k', 'In', ['1', '5', 'x']), requirementOf('k', 'Gte', ['3']));
  expect(result).toMatchObject({ complement: false, values: ['5'], gte: undefined });
});

test.each([
  [requirementOf('k', 'Exists'), 'k Exists'],
  [requirementOf('k', 'DoesNotExist'), 'k DoesNotExist'],
  [requirementOf('k', 'In', ['b', 'a']), 'k In [a b]'],
  [requirementOf('k', 'NotIn', ['a'], 2), 'k NotIn [a] minValues 2'],
  [requirementOf('k', 'In', ['f', 'e', 'd', 'c', 'b', 'a']), 'k In [a b c d e and 1 others]'],
  [intersection(requirementOf('k', 'Gt', ['1']), requirementOf('k', 'Lte', ['4'])), 'k Exists >=2 <=4'],
])('%o is described as %s', (requirement, text) => {
  expect(describeRequirement(requirement)).toBe(text);
});

test('an operator that does not exist is satisfied by nothing', () => {
  const requirement = requirementOf('a', 'Foo' as Operator, ['x']);
  expect(allows(requirement, 'x')).toBe(false);
  expect(allows(requirement, 'y')).toBe(false);
});
