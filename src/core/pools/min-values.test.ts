import { expect, test } from 'vitest';
import { label } from '../../api/names.ts';
import {
  expectScheduled,
  expectUnscheduled,
  instanceType,
  nodeAffinity,
  nodePool,
  plan,
  pod,
  reasonsOf,
  requirement,
} from '../testing/builders.testing.ts';

const pool = nodePool({ requirements: [requirement(label.zone, 'In', ['zone-1', 'zone-2', 'zone-3'], 2)] });
const types = [instanceType()];

test('a node tied to one zone does not meet minValues 2, however many zones its types are sold in', () => {
  const tied = pod({ cpu: '1', spec: { nodeSelector: { [label.zone]: 'zone-1' } } });
  const result = plan([pool, tied], { types });
  expectUnscheduled(result, tied);
  expect(reasonsOf(result, tied)[0]?.message).toContain('minValues');
});

test('two zones that are left do', () => {
  const flexible = pod({ cpu: '1', spec: nodeAffinity([requirement(label.zone, 'In', ['zone-1', 'zone-2'])]) });
  expectScheduled(plan([pool, flexible], { types }), flexible);
});
