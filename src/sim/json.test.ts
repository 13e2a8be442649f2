import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { isIdentical } from '../base/index.ts';
import { freeze, share, thaw } from './json.ts';

const json = fc.jsonValue({ maxDepth: 4 });

test('what is thawed equals the original and shares nothing that could be changed', () => {
  fc.assert(
    fc.property(json, (value) => {
      const copy = thaw(value);
      expect(copy).toEqual(value);
      expect(copy === value).toBe(typeof value !== 'object' || value === null);
    }),
    { seed: 7 },
  );
});

test('sharing changes identity, never content; equal as a whole means the old value itself', () => {
  fc.assert(
    fc.property(json, json, (before, after) => {
      const old = freeze(thaw(before));
      const next = share(old, thaw(after));
      expect(next).toEqual(after);
      expect(next === old).toBe(isIdentical(before, after));
    }),
    { seed: 7 },
  );
});

test('an unchanged part of a changed object is the identical part', () => {
  const old = freeze({ metadata: { labels: { a: 'b' } }, spec: { list: [{ x: 1 }] }, status: { ready: false } });
  const next = share(old, { metadata: { labels: { a: 'b' } }, spec: { list: [{ x: 1 }] }, status: { ready: true } });
  expect(next).not.toBe(old);
  expect(next.spec).toBe(old.spec);
  expect(next.metadata).toBe(old.metadata);
});
