import { expect, test } from 'vitest';
import { planSnapshot, type Snapshot } from '../../../core/index.ts';
import { instanceType, nodePool, pod, snapshot } from '../../../core/testing/builders.testing.ts';
import { confirmSuggestions } from './confirm-suggestions.ts';

const types = [instanceType({ name: 'm', cpu: '4' })];
const reasonsOf = (given: Snapshot) =>
  confirmSuggestions(planSnapshot(given), given, {}).unschedulable[0]?.reasons.map(
    ({ code, nodePool, suggestion }) => `${nodePool}: ${code}${suggestion === undefined ? '' : ' !'}`,
  );
const taints = [
  { key: 'a', effect: 'NoSchedule' },
  { key: 'b', effect: 'NoSchedule' },
];

test('a suggestion that works is kept', () => {
  expect(reasonsOf(snapshot([nodePool({ taints }), pod({ cpu: '1' })], { types }))).toEqual([
    'default: TaintNotTolerated !',
  ]);
});

test('suggestions that do not lead to a place are dropped; what is in the way is said all the same', () => {
  const gpu = pod({ requests: { 'a.com/gpu': '1' } });
  expect(reasonsOf(snapshot([nodePool({ taints }), gpu], { types }))).toEqual([
    'default: TaintNotTolerated',
    'default: InsufficientResources',
  ]);
});

test('what stands behind an obstacle is found, and all of it together is the suggestion', () => {
  const wish = pod({ cpu: '8', spec: { nodeSelector: { disk: 'nvme' } } });
  expect(reasonsOf(snapshot([nodePool({ taints, limits: { cpu: '2' } }), wish], { types }))).toEqual([
    'default: LimitsExceeded !',
    'default: TaintNotTolerated !',
    'default: RequirementsIncompatible !',
    'default: InsufficientResources !',
  ]);
});

test('a pool that can be opened comes before one that cannot', () => {
  const gpu = { ...types[0], name: 'g', capacity: { cpu: '4', memory: '8Gi', pods: '10', 'a.com/gpu': '1' } };
  const given = snapshot(
    [nodePool({ name: 'plain' }), nodePool({ name: 'gpu', taints }), pod({ requests: { 'a.com/gpu': '1' } })],
    {
      instanceTypes: [
        { nodePool: 'plain', items: types },
        { nodePool: 'gpu', items: [gpu as never] },
      ],
    },
  );
  expect(reasonsOf(given)).toEqual(['gpu: TaintNotTolerated !', 'plain: InsufficientResources']);
});

test('a pause is over once it is waited for', () => {
  const given = snapshot([nodePool(), pod({ cpu: '1' })], {
    types,
    poolState: [{ nodePool: 'default', pausedUntil: '2026-01-01T01:00:00Z' }],
  });
  expect(reasonsOf(given)).toEqual(['default: NodePoolPaused !']);
});
