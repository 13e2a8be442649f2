import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SharedParts } from './shared-parts.ts';

test('what is returned equals what was given, and equal parts are one', () => {
  const json = fc.jsonValue().filter((value): value is object => typeof value === 'object' && value !== null);
  fc.assert(
    fc.property(fc.array(json, { maxLength: 30 }), (parts) => {
      const shared = new SharedParts();
      for (const part of parts) {
        const kept = shared.one(part);
        expect(kept).toEqual(part);
        expect(shared.one(structuredClone(part))).toBe(kept);
      }
    }),
  );
});

test('texts are shared like objects, and a part that did not change is the one from before', () => {
  const shared = new SharedParts();
  const before = { app: 'web' };
  expect(shared.one({ app: 'web' }, before)).toBe(before);
  expect(shared.one('node-1')).toBe('node-1');
});

test('parts that differ only where the hash does not look are kept apart', () => {
  const shared = new SharedParts();
  const value = (middle: string): object => ({ text: `aaaa${middle}zzzzzzzzzz` });
  expect(shared.one(value('b'))).toEqual(value('b'));
  expect(shared.one(value('c'))).toEqual(value('c'));
  expect(shared.one(value('b'))).toEqual(value('b'));
});

test('the table is bounded; what is asked for stays, what is not goes', () => {
  const shared = new SharedParts(100);
  const used = shared.one({ app: 'used' });
  const unused = shared.one({ app: 'unused' });
  for (let number = 0; number < 1_000; number++) {
    shared.one({ number });
    expect(shared.one({ app: 'used' })).toBe(used);
    expect(shared.size).toBeLessThanOrEqual(200);
  }
  expect(shared.one({ app: 'unused' })).not.toBe(unused);
});
