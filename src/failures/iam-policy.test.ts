import { expect, test } from 'vitest';
import { matches } from './iam-policy.ts';

test.each<[pattern: string, text: string, isMatch: boolean]>([
  ['ec2:RunInstances', 'ec2:RunInstances', true],
  ['ec2:runinstances', 'EC2:RunInstances', true],
  ['ec2:*', 'ec2:RunInstances', true],
  ['*', '', true],
  ['', '', true],
  ['', 'a', false],
  ['ec2:Run*s', 'ec2:RunInstances', true],
  ['ec2:Run*x', 'ec2:RunInstances', false],
  ['system:serviceaccount:*:karpenter', 'system:serviceaccount:kube-system:karpenter', true],
  ['a?c', 'abc', true],
  ['a?c', 'ac', false],
  ['a.c', 'abc', false],
  ['a*b*', 'axxbyybz', true],
])('%s and %s', (pattern, text, isMatch) => {
  expect(matches(pattern, text)).toBe(isMatch);
});

test('a pattern of many stars takes no longer for it', () => {
  const startedMs = performance.now();
  expect(matches(`${'a*'.repeat(60)}b`, 'a'.repeat(2_000))).toBe(false);
  expect(performance.now() - startedMs).toBeLessThan(1_000);
});
