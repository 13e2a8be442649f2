import fc from 'fast-check';
import { expect, test } from 'vitest';
import { objectKey } from './object-key.ts';

test('a key is namespace and name, whatever was asked for before; without a namespace it is the name', () => {
  const part = fc.constantFrom('a', 'b', 'a/b');
  fc.assert(
    fc.property(fc.array(fc.record({ namespace: fc.option(part, { nil: undefined }), name: part })), (asked) => {
      for (const { namespace, name } of asked)
        expect(objectKey(namespace, name)).toBe(namespace === undefined ? name : `${namespace}/${name}`);
    }),
  );
  expect(objectKey('', 'node-1')).toBe('node-1');
});
