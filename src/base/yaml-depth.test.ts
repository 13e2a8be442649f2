import { expect, test } from 'vitest';
import { yamlTooDeepAt } from './yaml-depth.ts';

test('honest manifests are not deep, however long', () => {
  const list = `items:\n${'  - {a: [1, 2], b: {c: d}}\n'.repeat(5_000)}`;
  expect(yamlTooDeepAt(list)).toBeUndefined();
  expect(yamlTooDeepAt(`text: |\n${'  [ an open bracket per line is not\n'.repeat(150)}`)).toBeUndefined();
});
