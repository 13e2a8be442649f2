import { expect, test } from 'vitest';
import type { NodeVerdict } from '../../core/index.ts';
import { paintFor, textWidth } from '../output/index.ts';
import { renderConsolidation } from './render-consolidation.ts';

const plain = paintFor({ isTerminal: false, env: {} });

const node: NodeVerdict = {
  node: 'ip-10-0-123-45.eu-central-1.compute.internal',
  nodePool: 'default',
  instanceType: 'm6a.24xlarge',
  pricePerHour: 1.5,
  costPerDay: 36,
  verdict: 'keep',
  savingsPerHour: 0,
  blockers: [
    {
      code: 'SpotToSpotDisabled',
      message: "SpotToSpotConsolidation is disabled, can't replace a spot node with a spot node",
      objects: [],
      suggestion: '',
    } as unknown as NodeVerdict['blockers'][number],
  ],
};
const plan = {
  apiVersion: 'kerf/v1',
  kind: 'ConsolidationPlan',
  pricePerHour: 1.5,
  nodes: [node],
} as const;
const rendered = (widestLine?: number): string =>
  renderConsolidation(
    { ...plan, nodes: [...plan.nodes] },
    { paint: plain, ...(widestLine === undefined ? {} : { widestLine }) },
  );

test.each([60, 80, 140])('no line is wider than a terminal of %i columns, and the reason is whole', (columns) => {
  const text = rendered(columns);
  expect(text.split('\n').filter((line) => textWidth(line) > columns)).toEqual([]);
  expect(text.replaceAll(/\s+/g, ' ')).toContain("can't replace a spot node with a spot node");
  expect(text).toContain('keep');
  expect(text).toContain('1.5000');
});

test('in a pipe, and where it fits, a node is one line', () => {
  expect(rendered()).toMatch(/\.internal {2}default {2}m6a\.24xlarge {2}1\.5000 {2}keep .* SpotToSpotConsolidation/);
  expect(rendered(220)).toBe(rendered());
});
