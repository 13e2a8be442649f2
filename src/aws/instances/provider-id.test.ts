import { expect, test } from 'vitest';
import { instanceIdOf, providerIdOf } from './provider-id.ts';

test('a machine is named by its zone and id', () => {
  expect(providerIdOf({ zone: 'us-east-1a', id: 'i-1' })).toBe('aws:///us-east-1a/i-1');
});

test.each([
  ['aws:///us-east-1a/i-1', 'i-1'],
  ['anything:///zone/id', 'id'],
  ['aws://us-east-1a/i-1', undefined],
  ['aws:///us-east-1a', undefined],
  ['aws:///us-east-1a/i-1/more', undefined],
  ['i-1', undefined],
  ['', undefined],
])('%j names the instance %j', (providerID, id) => {
  expect(instanceIdOf(providerID)).toBe(id);
});
