import { expect, test } from 'vitest';
import type { NodeVerdict } from '../core/index.ts';
import { costView } from './cost.ts';
import type { NodeFacts } from './view-model.ts';
import type { Cell } from './wire.ts';

const facts = (name: string, more: Partial<NodeFacts> = {}): NodeFacts => ({
  name,
  pool: 'default',
  type: 'm5.large',
  zone: 'a',
  capacityType: 'spot',
  state: 'ready',
  verdict: 'keep',
  code: 'NotCheaper',
  pricePerHour: 1,
  savingsPerHour: 0,
  createdMs: 0,
  cpu: 4_000,
  memory: 8_192,
  cpuUsed: 0,
  memoryUsed: 0,
  cpuDaemons: 0,
  memoryDaemons: 0,
  pods: 1,
  ...more,
});
const cell = (workload: string, cpu: number, memory: number, count = 1): Cell => ({
  workload,
  state: 'running',
  count,
  cpu,
  memory,
});
const kept = (node: string, code: string, message: string, savings: number): NodeVerdict => ({
  node,
  nodePool: 'default',
  pricePerHour: 1,
  costPerDay: 24,
  verdict: 'keep',
  savingsPerHour: 0,
  savingsIfFreedPerHour: savings,
  blockers: [{ code, message, suggestion: 'change it' }],
});

test('what namespaces cost and what no pod requests add up to the price', () => {
  const rows = [
    { facts: facts('a'), cells: [cell('shop/web', 1_000, 1_024, 2), cell('ml/train', 500, 4_096)] },
    { facts: facts('b', { pool: 'gpu', pricePerHour: 3 }), cells: [cell('ml/train', 4_000, 1_024)] },
  ];
  const view = costView({ time: 't', rows, verdicts: [] });
  expect(view.byNamespace).toEqual([
    { name: 'ml', pricePerHour: 3.5, pods: 2, nodes: 2 },
    { name: 'shop', pricePerHour: 0.25, pods: 2, nodes: 1 },
  ]);
  expect(view.notRequestedPerHour).toBeCloseTo(0.25);
  const sum = view.byNamespace.reduce((total, { pricePerHour }) => total + pricePerHour, view.notRequestedPerHour);
  expect(sum).toBeCloseTo(view.pricePerHour);
  expect(view.byPool.map(({ name, pricePerHour }) => [name, pricePerHour])).toEqual([
    ['gpu', 3],
    ['default', 1],
  ]);
});

test('requests that come to more than a node share its whole price and no more', () => {
  const rows = [{ facts: facts('a'), cells: [cell('x/cpu', 4_000, 0), cell('y/memory', 0, 8_192)] }];
  const { byNamespace, notRequestedPerHour } = costView({ time: 't', rows, verdicts: [] });
  expect(byNamespace.map(({ pricePerHour }) => pricePerHour)).toEqual([0.5, 0.5]);
  expect(notRequestedPerHour).toBe(0);
});

test('nodes without a price are named', () => {
  const rows = [{ facts: facts('a', { pricePerHour: 0 }), cells: [] }];
  expect(costView({ time: 't', rows, verdicts: [] }).unpriced).toEqual({ count: 1, names: ['a'] });
});

test('money that is held is grouped by who can free it, the most first', () => {
  const verdicts = [
    kept('a', 'PodBudgetExhausted', 'pdb prevents pod evictions (PodDisruptionBudget=[shop/checkout])', 0.1),
    kept('b', 'PodBudgetExhausted', 'pdb prevents pod evictions (PodDisruptionBudget=[shop/checkout])', 0.2),
    kept('c', 'PodDoNotDisrupt', 'pod has "karpenter.sh/do-not-disrupt" annotation (Pod=ml/train-1)', 0.9),
    kept('d', 'OnlyWhenEmpty', 'NodePool "default" has consolidationPolicy WhenEmpty', 0.05),
    kept('e', 'NotQuiet', 'pods came or went', 0),
  ];
  const { held } = costView({ time: 't', rows: [], verdicts });
  expect(held.map(({ by, nodes }) => [by, nodes])).toEqual([
    ['pods of ml', ['c']],
    ['PodDisruptionBudget shop/checkout', ['a', 'b']],
    ['NodePool default', ['d']],
  ]);
  expect(held[1]?.savingsPerHour).toBeCloseTo(0.3);
});
