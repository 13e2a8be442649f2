import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { difference, type FieldSet, isEmptySet, pathsOf, union } from './field-set.ts';

const { tree } = fc.letrec<{ tree: FieldSet }>((tie) => ({
  tree: fc.dictionary(
    fc.constantFrom('f:a', 'f:b', 'k:{"name":"x"}', 'v:1'),
    fc.oneof({ depthSize: 'small', withCrossShrink: true }, fc.constant({}), tie('tree')),
    { maxKeys: 3 },
  ),
}));
const leaves = (set: FieldSet): Set<string> => new Set(pathsOf(set));
const isWithin = (path: string, whole: string): boolean =>
  path === whole || (path.startsWith(whole) && (path[whole.length] === '.' || path[whole.length] === '['));

test('what is left of a set without another holds nothing the other names, and nothing new', () => {
  fc.assert(
    fc.property(tree, tree, (left, right) => {
      const rest = pathsOf(difference(left, right));
      expect(rest.filter((path) => pathsOf(right).some((whole) => isWithin(path, whole)))).toEqual([]);
      expect(rest.filter((path) => !pathsOf(left).some((whole) => isWithin(whole, path)))).toEqual([]);
      expect(isEmptySet(difference(left, left))).toBe(true);
    }),
    { seed: 5 },
  );
});

test('a union holds both, whichever comes first', () => {
  fc.assert(
    fc.property(tree, tree, (left, right) => {
      const both = union(left, right);
      expect(leaves(both)).toEqual(leaves(union(right, left)));
      expect(isEmptySet(difference(left, both))).toBe(true);
      expect(isEmptySet(difference(right, both))).toBe(true);
    }),
    { seed: 5 },
  );
});
