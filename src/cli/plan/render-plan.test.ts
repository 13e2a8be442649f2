import { expect, test } from 'vitest';
import type { Plan, PlannedNode, Snapshot, SnapshotObject } from '../../core/index.ts';
import { paintFor } from '../output/index.ts';
import { comparePlans } from './diff.ts';
import { perHour } from './money.ts';
import { renderDiff } from './render-diff.ts';
import { renderPlan } from './render-plan.ts';

const paint = paintFor({ isTerminal: false, env: {} });

const pod = (name: string, owner?: string): SnapshotObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    namespace: 'shop',
    ...(owner && { ownerReferences: [{ kind: 'ReplicaSet', name: owner, controller: true }] }),
  },
});

const snapshot = (pods: SnapshotObject[]): Snapshot => ({
  apiVersion: 'kerf/v1',
  kind: 'Snapshot',
  objects: { apiVersion: 'v1', kind: 'List', items: pods },
  instanceTypes: [
    {
      nodePool: 'default',
      items: [
        {
          name: 'large',
          requirements: [],
          capacity: { cpu: '4', memory: '10Gi' },
          overhead: { kubeReserved: { memory: '2Gi' } },
          offerings: [],
        },
      ],
    },
  ],
});

const node = (name: string, pods: string[], rest: Partial<PlannedNode['chosen']> = {}): PlannedNode => ({
  name,
  nodePool: 'default',
  instanceTypes: ['large', 'larger', 'largest'],
  chosen: { instanceType: 'large', zone: 'a', capacityType: 'spot', pricePerHour: 0.5, ...rest },
  requirements: [],
  requests: { cpu: '1', memory: '4Gi' },
  annotations: {},
  pods,
});

const plan = (rest: Partial<Plan>): Plan => ({
  apiVersion: 'kerf/v1',
  kind: 'Plan',
  solveMs: 1,
  pods: 0,
  pricePerHour: 0,
  newNodes: [],
  existingNodes: [],
  unschedulable: [],
  ...rest,
});

const render = (value: Plan, pods: SnapshotObject[] = []): string =>
  renderPlan(value, snapshot(pods), { paint, columns: 100 });

test('nothing to do is one line', () => {
  expect(render(plan({}))).toBe('0 pods to place.\n');
});

test('a node line has price, how full it is of what pods can use, and the other types', () => {
  const text = render(plan({ pods: 1, pricePerHour: 0.5, newNodes: [node('default-1', ['shop/a'])] }));
  expect(text).toMatch(/New nodes cost \$0\.5000\/h \(\$365\.00 a month\)/);
  expect(text).toMatch(/default-1 +default +large +a +spot +0\.5000 +25 % +50 % +1 +larger and 1 more/);
});

test('a narrow terminal loses the other types, a pipe never does', () => {
  const value = plan({ pods: 1, pricePerHour: 0.5, newNodes: [node('default-1', ['shop/a'])] });
  const draw = (widestLine: number): string => renderPlan(value, snapshot([]), { paint, columns: 60, widestLine });
  expect(draw(60)).not.toContain('other types');
  expect(draw(200)).toContain('larger and 1 more');
});

test('a terminal of 60 columns keeps node, type, zone, capacity type and price on one line', () => {
  const place = { instanceType: 'm6g.4xlarge', zone: 'us-east-1a', capacityType: 'on-demand' };
  const value = plan({ pods: 1, pricePerHour: 0.5, newNodes: [node('default-1', ['shop/a'], place)] });
  const text = renderPlan(value, snapshot([]), { paint, columns: 60, widestLine: 60 });
  expect(text).toMatch(/default-1 +m6g\.4xlarge +us-east-1a +on-demand +0\.5000\n/);
  expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(60);
});

test('equal nodes share a line with their number, their total price and their pods by workload', () => {
  const pods = ['a1', 'a2', 'b1', 'b2'].map((name) => pod(name, name.charAt(0)));
  const newNodes = [node('default-1', ['shop/a1', 'shop/b1']), node('default-2', ['shop/a2', 'shop/b2'])];
  const text = render(plan({ pods: 4, pricePerHour: 1, newNodes }), pods);
  expect(text).toMatch(/default-1 … \(2\) +default +large +a +spot +1\.0000 +25 % +50 % +4 /);
  expect(text).toMatch(/default-1 … \(2\) {2}shop\/a ×2, shop\/b ×2\n/);
});

test('many different nodes are summed up by type and place', () => {
  const newNodes = Array.from({ length: 100 }, (_, index) => node(`default-${index}`, [`shop/p${index}`]));
  const text = render(plan({ pods: 100, pricePerHour: 50, newNodes }));
  expect(text).toMatch(/default-0 … \(100\)/);
  expect(text.split('\n').length).toBeLessThan(12);
});

test('pods of one workload with one reason are one entry, with what would help', () => {
  const reasons = [{ code: 'TaintNotTolerated' as const, message: 'no', nodePool: 'gpu', suggestion: 'tolerate it' }];
  const unschedulable = ['a1', 'a2'].map((name) => ({ pod: `shop/${name}`, reasons }));
  const text = render(plan({ pods: 2, unschedulable }), [pod('a1', 'a'), pod('a2', 'a')]);
  expect(text).toContain('2 pods to place: 2 without a place.\n');
  expect(text).toContain('  TaintNotTolerated: shop/a ×2\n    pool gpu: no\n      try: tolerate it\n');
});

test('the lower bound is shown with the distance to it', () => {
  const text = render(plan({ pods: 1, pricePerHour: 0.5, lowerBoundPerHour: 0.4, newNodes: [node('n', ['shop/a'])] }));
  expect(text).toMatch(/cost less than \$0\.4000\/h \(this plan is 25\.0 % above\)/);
});

test('a comparison shows price, nodes and pods that go elsewhere, both ways', () => {
  const pods = [pod('a1', 'a'), pod('a2', 'a'), pod('b')];
  const reasons = [{ code: 'NoOffering' as const, message: 'none' }];
  const before = plan({
    pods: 3,
    pricePerHour: 1,
    newNodes: [node('x', ['shop/a1', 'shop/a2'], { pricePerHour: 1 })],
    unschedulable: [{ pod: 'shop/b', reasons }],
  });
  const after = plan({
    pods: 3,
    pricePerHour: 0.3,
    newNodes: [node('y', ['shop/a1', 'shop/b'], { instanceType: 'small', pricePerHour: 0.3 })],
    unschedulable: [{ pod: 'shop/a2', reasons }],
  });
  const diff = comparePlans(
    { name: 'old', plan: before, snapshot: snapshot(pods) },
    { name: 'new', plan: after, snapshot: snapshot(pods) },
  );
  expect(diff).toMatchObject({ pricePerHour: -0.7, lost: ['shop/a2'], gained: ['shop/b'] });
  expect(diff.moves).toEqual([
    { workload: 'shop/a', from: 'default: large spot', to: 'default: small spot', pods: 1 },
    { workload: 'shop/a', from: 'default: large spot', to: 'no place', pods: 1 },
    { workload: 'shop/b', from: 'no place', to: 'default: small spot', pods: 1 },
  ]);
  const text = renderDiff(diff, { paint });
  expect(text).toMatch(/\$\/hour +1\.0000 +0\.3000 +-0\.7000/);
  expect(text).toContain('The second is cheaper by $511.00 a month (70.0 %).');
  expect(text).toContain('1 pod placed elsewhere');
  expect(text).toContain('1 pod would gain a place');
  const narrow = renderDiff(diff, { paint, widestLine: 40 });
  expect(narrow).toContain('  shop/a ×1\n    from default: large spot\n    to   default: small spot\n');
  expect(narrow).not.toContain('to   no place');
  expect(
    Math.max(
      ...(narrow
        .split(/placed elsewhere/)[1]
        ?.split('\n')
        .map((line) => line.length) ?? []),
    ),
  ).toBeLessThan(41);
});

test('on a narrow screen long names of configurations stand above the figures', () => {
  const pods = [pod('a1', 'a')];
  const cost = (pricePerHour: number) =>
    plan({ pods: 1, pricePerHour, newNodes: [node('x', ['shop/a1'], { pricePerHour })] });
  const [first, second] = ['a-rather-long-name.yaml', 'another-long-name.yaml'];
  const diff = comparePlans(
    { name: first, plan: cost(1), snapshot: snapshot(pods) },
    { name: second, plan: cost(0.5), snapshot: snapshot(pods) },
  );
  const lines = renderDiff(diff, { paint, widestLine: 60 }).split('\n');
  expect(lines.slice(0, 2)).toEqual([`before: ${first}`, `after:  ${second}`]);
  expect(lines[2]).toMatch(/^ +before +after +change$/);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(61);
  expect(renderDiff(diff, { paint }).split('\n')[0]).toMatch(/a-rather-long-name\.yaml {2}another-long-name\.yaml/);
});

test('a sum of equal prices is rounded as its parts are', () => {
  expect(perHour(Array.from({ length: 9 }, () => 0.05355).reduce((sum, each) => sum + each, 0))).toBe(
    perHour(9 * 0.05355),
  );
});

test('pods on NodeClaims whose node has not come are on nodes on their way', () => {
  const there: SnapshotObject = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'rack' } };
  const existingNodes = [
    { name: 'rack', pods: ['default/a'] },
    { name: 'default-x2', pods: ['default/b', 'default/c'] },
  ];
  expect(render(plan({ pods: 3, existingNodes }), [there])).toBe(
    '3 pods to place: 1 on nodes that exist, 2 on nodes on their way.\n' +
      '\nPods on nodes that exist\n  rack  default/a\n' +
      '\nPods on nodes on their way\n  default-x2  default/b, default/c\n',
  );
});
