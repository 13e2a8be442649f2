import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { awsLabels, keyProblems, kwokLabels, labelPolicy, restrictionOf, valueProblems } from './index.ts';
import { qualifiedName } from './kinds/patterns.ts';

describe('label keys', () => {
  test.each(['a', 'A-b_c.d', 'example.com/a', 'a.b-c.d/E', `${'d'.repeat(253)}/a`, 'n'.repeat(63)])('%s', (key) => {
    expect(keyProblems(key)).toEqual([]);
  });

  test.each([
    ['', 'name part must be non-empty'],
    ['a/', 'name part must be non-empty'],
    ['/a', 'prefix part must be non-empty'],
    ['A.com/a', 'prefix part a lowercase RFC 1123 subdomain'],
    [`${'d'.repeat(254)}/a`, 'prefix part must be no more than 253 bytes'],
    ['n'.repeat(64), 'name part must be no more than 63 bytes'],
    ['-a', 'name part must consist of'],
    ['a/b/c', 'a valid label key must consist of'],
  ])('%j is none: %s', (key, why) => {
    expect(keyProblems(key)[0]).toContain(why);
  });

  test('what is a key here is one for admission, too', () => {
    const pattern = new RegExp(qualifiedName);
    const part = fc.string({ unit: fc.constantFrom('a', 'B', '1', '-', '.', '_', '/'), maxLength: 12 });
    fc.assert(
      fc.property(part, (key) => {
        expect(keyProblems(key).length > 0 || pattern.test(key)).toBe(true);
      }),
      { seed: 7, numRuns: 2000 },
    );
  });
});

test.each([
  ['', true],
  ['a', true],
  ['A.b_c-1', true],
  ['v'.repeat(63), true],
  ['v'.repeat(64), false],
  ['-a', false],
  ['a b', false],
  ['ä', false],
])('%j is a label value: %s', (value, isValue) => {
  expect(valueProblems(value).length === 0).toBe(isValue);
});

test.each([
  ['example.com/a', false],
  ['karpenter.sh/nodepool', false],
  ['karpenter.sh/x', true],
  ['sub.karpenter.kwok.sh/x', true],
  ['karpenter.kwok.sh/instance-cpu', false],
  ['karpenter.k8s.aws/ec2nodeclass', false],
  ['topology.k8s.aws/zone-id', false],
  ['kubernetes.io/hostname', true],
])('%s is restricted where both providers are known: %s', (key, isRestricted) => {
  expect(restrictionOf(labelPolicy(awsLabels, kwokLabels), key) !== undefined).toBe(isRestricted);
});
