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
const app = { app: 'web' };
const placed = (result: Plan): string[] => result.newNodes.flatMap((node) => node.pods).sort();

test('a crowded node is bought anew where several smaller ones cost less', () => {
  const { greedy, improved } = both([nodePool(), ...pods(60, { cpu: '1' })]);
  expect(greedy.newNodes.map((node) => node.chosen.instanceType)).toEqual(['large']);
  expect(improved.newNodes.every((node) => node.chosen.instanceType === 'small')).toBe(true);
  expect(improved.pricePerHour).toBe(15);
  expect(placed(improved)).toEqual(placed(greedy));
});

test('few pods are bought anew as well where that is worth it', () => {
  const { greedy, improved } = both([nodePool(), ...pods(6, { cpu: '3' })]);
  expect(greedy.newNodes.map((node) => node.chosen.instanceType)).toEqual(['large']);
  expect(improved.newNodes.map((node) => node.chosen.instanceType)).toEqual(Array(6).fill('small'));
});

test('a saving below a cent an hour or one per cent leaves the nodes as they were packed', () => {
  const cheap = [
    instanceType({ name: 'small', cpu: '4', memory: '16Gi', pods: '50', price: 0.01 }),
    instanceType({ name: 'large', cpu: '64', memory: '256Gi', pods: '500', price: 0.025 }),
  ];
  const objects = [nodePool(), ...pods(6, { cpu: '1' })];
  const settings = { nodeCostPerHour: 0 };
  const packed = plan(objects, { types: cheap, settings }, { improve: false });
  expect(plan(objects, { types: cheap, settings })).toEqual(packed);
});

test('few pods on nodes that are filled well stay as packed, the sooner the more they say about their hosts', () => {
  const types = (price: number) => [
    instanceType({ name: 'small', cpu: '8', memory: '32Gi', pods: '500', price: 1 }),
    instanceType({ name: 'large', cpu: '16', memory: '64Gi', pods: '500', price }),
  ];
  const saved = (count: number, price: number, spreads: number) => {
    const apart = Array.from({ length: spreads }, (_, index) => ({ app: `apart-${index}` }));
    const objects = [
      nodePool(),
      ...apart.flatMap((labels) => pods(1, { cpu: '1', labels, spec: spread(label.hostname, labels) })),
      ...pods(count - spreads, { cpu: '1' }),
    ];
    const packed = plan(objects, { types: types(price) }, { improve: false }).pricePerHour;
    return 1 - plan(objects, { types: types(price) }).pricePerHour / packed;
  };
  expect(saved(32, 2.06, 0)).toBe(0);
  expect(saved(32, 2.2, 0)).toBeGreaterThan(0.08);
  expect(saved(32, 2.2, 2)).toBeGreaterThan(0.08);
  expect(saved(32, 2.2, 20)).toBe(0);
  expect(saved(320, 2.06, 0)).toBeGreaterThan(0.02);
  expect(saved(320, 2.2, 20)).toBeGreaterThan(0.08);
});

test('pods that keep together on a host stay together, and their nodes get the size they need', () => {
  const near = (name: string) => ({
    affinity: {
      podAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey: label.hostname, labelSelector: { matchLabels: { near: name } } },
        ],
      },
    },
  });
  const pairs = ['one', 'two', 'three'].flatMap((name) =>
    pods(2, { cpu: '1', labels: { near: name }, spec: near(name) }),
  );
  const { greedy, improved } = both([nodePool(), ...pairs, ...pods(30, { cpu: '1' })]);
  expect(improved.pricePerHour).toBeLessThan(0.9 * greedy.pricePerHour);
  const homes = pairs.map((pod) => {
    const key = `${pod.metadata.namespace}/${pod.metadata.name}`;
    return improved.newNodes.findIndex((node) => node.pods.includes(key));
  });
  expect(homes).not.toContain(-1);
  expect([homes[1], homes[3], homes[5]]).toEqual([homes[0], homes[2], homes[4]]);
});

test('pods spread over hosts keep to their hosts, but the hosts get the size they need', () => {
  const { greedy, improved } = both([
    nodePool(),
    ...pods(6, { cpu: '1', labels: app, spec: spread(label.hostname, app) }),
    ...pods(40, { cpu: '1' }),
  ]);
  expect(improved.pricePerHour).toBeLessThan(greedy.pricePerHour);
  expect(placed(improved)).toEqual(placed(greedy));
});

test('two pods that use the same host port get two hosts', () => {
  const spec = { containers: [{ name: 'm', ports: [{ containerPort: 80, hostPort: 80 }], resources: {} }] };
  const asking = pods(6, { cpu: '3', spec: { ...spec, nodeSelector: {} } });
  const { improved } = both([nodePool(), ...asking, ...pods(30, { cpu: '1' })]);
  const names = new Set(asking.map(({ metadata }) => `default/${metadata.name}`));
  for (const { pods: own } of improved.newNodes) expect(own.filter((pod) => names.has(pod)).length).toBeLessThan(2);
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

test('the cost of a node is not part of the price of a plan', () => {
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

test.each([
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

test('limits hold for what is bought anew: nodes do without larger types where the pool could not have them all', () => {
  const { greedy, improved } = both([nodePool({ limits: { cpu: '64' } }), ...pods(60, { cpu: '1' })]);
  expect(greedy.newNodes).toHaveLength(1);
  expect(improved.newNodes.map((node) => node.instanceTypes.join())).toEqual(Array(15).fill('small'));
  const fewNodes = both([nodePool({ limits: { nodes: '14' } }), ...pods(60, { cpu: '1' })]);
  expect(fewNodes.improved).toEqual(fewNodes.greedy);
});

test('limits that the first packing uses up by what its nodes could become leave no pod behind', () => {
  const { greedy, improved } = both([
    nodePool({ limits: { cpu: '68' } }),
    ...pods(30, { cpu: '1', spec: spread(label.zone, app), labels: app }),
  ]);
  expect(greedy.unschedulable.length).toBeGreaterThan(0);
  expect(improved.unschedulable).toEqual([]);
  const most = (name: string): number => (name === 'large' ? 64 : 4);
  const charged = improved.newNodes.map((node) => Math.max(...node.instanceTypes.map(most)));
  expect(charged.reduce((sum, cpu) => sum + cpu, 0)).toBeLessThanOrEqual(68);
});

test('pods are bought from any pool of the same weight, and never from a lighter one', () => {
  const pool = (name: string, size: string, weight?: number): SnapshotObject =>
    nodePool({
      name,
      ...(weight === undefined ? {} : { weight }),
      requirements: [requirement(label.instanceType, 'In', [size])],
    });
  const work = pods(60, { cpu: '1' });
  const pools = (result: Plan): string[] => [...new Set(result.newNodes.map((node) => node.nodePool))];
  const alike = both([pool('a-small', 'small'), pool('b-large', 'large'), ...work]);
  expect(pools(alike.greedy)).toEqual(['b-large']);
  expect(pools(alike.improved)).toEqual(['a-small']);
  expect(alike.improved.pricePerHour).toBe(15);
  const heavier = both([pool('a-small', 'small'), pool('b-large', 'large', 10), ...work]);
  expect(heavier.improved).toEqual(heavier.greedy);
});

test('a pod that does not tolerate the taints of a pool is not bought from it', () => {
  const tainted = nodePool({
    name: 'a-small',
    taints: [{ key: 'only', value: 'some', effect: 'NoSchedule' }],
    requirements: [requirement(label.instanceType, 'In', ['small'])],
  });
  const large = nodePool({ name: 'b-large', requirements: [requirement(label.instanceType, 'In', ['large'])] });
  const tolerations = [{ key: 'only', operator: 'Exists' }];
  const { improved } = both([
    tainted,
    large,
    ...pods(30, { cpu: '1' }),
    ...pods(30, { cpu: '1', labels: app, spec: { tolerations } }),
  ]);
  expect(new Set(improved.newNodes.map((node) => node.nodePool))).toEqual(new Set(['b-large']));
});

test('flexibility a pool asks for is kept', () => {
  const flexible = (minValues: number) =>
    nodePool({ requirements: [requirement(label.instanceType, 'Exists', undefined, minValues)] });
  const work = pods(60, { cpu: '1' });
  expect(both([flexible(1), ...work]).improved.pricePerHour).toBe(15);
  // Full small nodes could still become large ones; full large ones could become nothing else.
  expect(both([flexible(2), ...work]).improved.newNodes.every((node) => node.instanceTypes.length === 2)).toBe(true);
});

test('a fee per host that a NodePool states counts in its plans', () => {
  const even = [
    instanceType({ name: 'small', cpu: '4', memory: '16Gi', pods: '50', price: 1 }),
    instanceType({ name: 'large', cpu: '64', memory: '256Gi', pods: '500', price: 20 }),
  ];
  const pool = nodePool();
  const dear = { ...pool, metadata: { ...pool.metadata, annotations: { 'kerf.sh/node-cost-per-hour': '1' } } };
  const work = pods(60, { cpu: '1' });
  const types = (own: SnapshotObject): string[] =>
    plan([own, ...work], { types: even }).newNodes.map((node) => node.chosen.instanceType);
  expect(types(pool)).toEqual(Array(15).fill('small'));
  expect(types(dear)).toEqual(['large']);
});

test('the same packing is improved the same way, whatever the order of objects', () => {
  const objects = [nodePool(), ...pods(50, { cpu: '1' }), ...pods(70, { cpu: '300m', memory: '2Gi' })];
  const forward = plan(objects, { types });
  expect(JSON.stringify(plan([...objects].reverse(), { types }))).toBe(JSON.stringify(forward));
  expect(forward.pricePerHour).toBeLessThanOrEqual(plan(objects, { types }, { improve: false }).pricePerHour);
});
