import { expect, test } from 'vitest';
import type { Decision } from '../ports/index.ts';
import { decisionText } from './decision-text.ts';

const disrupt = (names: readonly string[], params: Record<string, number>, rest: Partial<Decision> = {}): Decision => ({
  kind: 'Decision',
  id: 'd-0001',
  time: '2026-01-01T00:00:00Z',
  what: 'disrupt',
  objects: names.map((name) => ({ kind: 'NodeClaim', name })),
  reasons: [{ code: 'Empty', message: 'delete 1 node, saving $0.107 per hour', params }],
  ...rest,
});

test('nodes that go are named with why and what that is worth', () => {
  const one = disrupt(['default-a'], { nodes: 1, replacements: 0, savingsPerHour: 0.107 });
  expect(decisionText(one)).toBe('remove default-a: only daemons run there, saves $0.107/h');
  const three = disrupt(['default-a', 'default-b', 'default-c'], { nodes: 3, replacements: 0, savingsPerHour: 2 });
  expect(decisionText(three)).toBe('remove default-a and 2 more: only daemons run there, saves $2.00/h');
});

test('a replacement is named by what it is, and is not counted among the nodes that go', () => {
  const chosen = { instanceType: 'c6a.large', zone: 'us-east-1a', capacityType: 'spot', pricePerHour: 0.054 };
  const reasons = [
    { code: 'Drifted', message: 'replace 1 node', params: { nodes: 1, replacements: 1, savingsPerHour: -0.01 } },
  ];
  expect(decisionText(disrupt(['default-a', 'default-b'], {}, { chosen, reasons }))).toBe(
    'replace default-a by c6a.large us-east-1a spot $0.054/h: the NodePool or node class asks for something else by now, costs $0.010/h',
  );
});

test('what is seen from outside has no figures, and says what the Event says', () => {
  const reasons = [{ code: 'Underutilized', message: 'disrupted as Underutilized' }];
  expect(decisionText(disrupt(['default-a'], {}, { reasons }))).toBe('disrupted as Underutilized: default-a');
});
