import { expect, test } from 'vitest';
import { label } from '../../api/names.ts';
import type { Plan, SnapshotObject, SnapshotSettings } from '../index.ts';
import {
  affinity,
  instanceType,
  nodePool,
  plan,
  pods,
  podTerm,
  requirement,
  spread,
} from '../testing/builders.testing.ts';

/** Large machines cost far more than small ones of the same room. */
const types = [
  instanceType({ name: 'small', cpu: '4', memory: '16Gi', pods: '50', price: 1 }),
  instanceType({ name: 'large', cpu: '64', memory: '256Gi', pods: '500', price: 40 }),
];
const both = (objects: SnapshotObject[]): { greedy: Plan; improved: Plan } => ({
  greedy: plan(objects, { types }, { improve: false }),
  improved: plan(objects, { types }),
});
const placed = (result: Plan): string[] => result.newNodes.flatMap((node) => node.pods).sort();

test('a crowded node is bought anew where several smaller ones cost less', () => {
  const { greedy, improved } = both([nodePool(), ...pods(60, { cpu: '1' })]);
  expect(greedy.newNodes.map((node) => node.chosen.instanceType)).toEqual(['large']);
  expect(improved.newNodes.every((node) => node.chosen.instanceType === 'small')).toBe(true);
  expect(improved.pricePerHour).toBe(15);
  expect(placed(improved)).toEqual(placed(greedy));
});

test('nodes with few pods are left as they were packed', () => {
  const { greedy, improved } = both([nodePool(), ...pods(20, { cpu: '1' })]);
  expect(improved).toEqual(greedy);
});

test('of two nearly equal ways the one with fewer nodes wins, because a node costs more than its price', () => {
  const even = [
    instanceType({ name: 'small', cpu: '4', memory: '16Gi', pods: '50', price: 0.1 }),
    instanceType({ name: 'medium', cpu: '32', memory: '128Gi', pods: '300', price: 0.81 }),
    instanceType({ name: 'large', cpu: '64', memory: '256Gi', pods: '500', price: 40 }),
  ];
  const objects = [nodePool(), ...pods(62, { cpu: '1' })];
  const chosen = (settings?: SnapshotSettings): string[] =>
    plan(objects, { types: even, ...(settings ? { settings } : {}) }).newNodes.map((node) => node.chosen.instanceType);
  expect(chosen()).toEqual(['medium', 'medium']);
  expect(chosen({ nodeCostPerHour: 0 })).toContain('small');
  expect(chosen({ nodeCostPerHour: 40 })).toEqual(['large']);
});

test('the cost of a node is no part of the price of a plan', () => {
  const objects = [nodePool(), ...pods(60, { cpu: '1' })];
  expect(plan(objects, { types, settings: { nodeCostPerHour: 0.5 } }).pricePerHour).toBe(15);
});

test('nodes are only replaced where that saves something', () => {
  const even = [
    instanceType({ name: 'small', cpu: '4', pods: '50', price: 1 }),
    instanceType({ name: 'large', cpu: '64', memory: '256Gi', pods: '500', price: 16 }),
  ];
  const objects = [nodePool(), ...pods(62, { cpu: '1' })];
  expect(plan(objects, { types: even })).toEqual(plan(objects, { types: even }, { improve: false }));
});

const app = { app: 'web' };
test.each([
  ['spread over hosts', spread(label.hostname, app, { maxSkew: 60 })],
  ['keep together', affinity('podAffinity', podTerm(label.hostname, app))],
  [
    'use a host port',
    {
      containers: [{ name: 'm', ports: [{ containerPort: 1, hostPort: 0 }], resources: {} }],
      ...affinity('podAffinity', podTerm(label.hostname, app)),
    },
  ],
])('pods that %s are not moved', (_, spec) => {
  const { greedy, improved } = both([nodePool(), ...pods(60, { cpu: '1', labels: app, spec })]);
  expect(improved).toEqual(greedy);
});

test('pods spread over zones stay in their zones', () => {
  const { greedy, improved } = both([
    nodePool(),
    ...pods(180, { cpu: '1', labels: app, spec: spread(label.zone, app) }),
  ]);
  expect(improved.pricePerHour).toBeLessThan(greedy.pricePerHour);
  const perZone = (result: Plan): Record<string, number> => {
    const counts: Record<string, number> = {};
    for (const node of result.newNodes) counts[node.chosen.zone] = (counts[node.chosen.zone] ?? 0) + node.pods.length;
    return counts;
  };
  expect(perZone(improved)).toEqual(perZone(greedy));
});

test('limits hold for what is bought anew', () => {
  const limited = nodePool({ limits: { cpu: '64' } });
  const { greedy, improved } = both([limited, ...pods(60, { cpu: '1' })]);
  expect(improved.newNodes).toHaveLength(greedy.newNodes.length);
});

test('flexibility a pool asks for is kept', () => {
  const flexible = nodePool({ requirements: [requirement(label.instanceType, 'Exists', undefined, 1)] });
  const { greedy, improved } = both([flexible, ...pods(60, { cpu: '1' })]);
  expect(improved).toEqual(greedy);
});

test('the same packing is improved the same way, whatever the order of objects', () => {
  const objects = [nodePool(), ...pods(50, { cpu: '1' }), ...pods(70, { cpu: '300m', memory: '2Gi' })];
  const forward = plan(objects, { types });
  expect(JSON.stringify(plan([...objects].reverse(), { types }))).toBe(JSON.stringify(forward));
  expect(forward.pricePerHour).toBeLessThanOrEqual(plan(objects, { types }, { improve: false }).pricePerHour);
});
