import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isEqual } from './equality.ts';
import { mergePatchBetween } from './merge-patch.ts';

function apply(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result: Record<string, unknown> =
    typeof target === 'object' && target !== null && !Array.isArray(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = apply(result[key], value);
  }
  return result;
}

const key = fc.constantFrom('a', 'b', 'c', 'd');
const tree = fc.letrec((tie) => ({
  object: fc.dictionary(key, tie('value'), { maxKeys: 4 }),
  value: fc.oneof(
    { depthSize: 'small' },
    fc.integer(),
    fc.string(),
    fc.array(fc.integer(), { maxLength: 3 }),
    tie('object'),
  ),
}));

test('applying the patch to the old value gives the new one', () => {
  fc.assert(
    fc.property(tree.object, tree.object, (before, after) => {
      expect(apply(before, mergePatchBetween(before, after) ?? {})).toEqual(after);
    }),
    { seed: 7, numRuns: 500 },
  );
});

test('equal values need no patch', () => {
  fc.assert(
    fc.property(tree.object, (value) => {
      expect(mergePatchBetween(value, structuredClone(value))).toBeUndefined();
      expect(isEqual(value, structuredClone(value))).toBe(true);
    }),
    { seed: 7, numRuns: 200 },
  );
});

test('only what changed is in the patch, with null for what went away', () => {
  expect(mergePatchBetween({ a: { x: 1, y: 2 }, b: 1 }, { a: { x: 1, y: 3 } })).toEqual({ a: { y: 3 }, b: null });
});
