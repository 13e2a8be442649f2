import { expect, test } from 'vitest';
import type { Node, Pod } from '../../ports/index.ts';
import { overview } from './overview.ts';
import { age, picture, summary } from './screen.ts';

const plain = (text: string): string => text;
const paint = { bold: plain, dim: plain, red: plain, yellow: plain, green: plain, blue: plain, cyan: plain };
const nowMs = Date.parse('2026-11-16T12:00:00Z');

const node = (name: string, more: { labels?: object; taints?: object[]; ready?: string } = {}): Node =>
  ({
    metadata: { name, creationTimestamp: '2026-11-16T11:58:30Z', labels: more.labels ?? {} },
    spec: { taints: more.taints ?? [] },
    status: {
      allocatable: { cpu: '4', memory: '8Gi' },
      conditions: [{ type: 'Ready', status: more.ready ?? 'True' }],
    },
  }) as unknown as Node;

const pod = (name: string, phase: string, nodeName?: string, owner?: string): Pod =>
  ({
    metadata: {
      name,
      namespace: 'shop',
      labels: owner === undefined ? {} : { 'pod-template-hash': 'abc' },
      ...(owner === undefined
        ? {}
        : { ownerReferences: [{ kind: 'ReplicaSet', name: `${owner}-abc`, controller: true }] }),
    },
    spec: { nodeName, containers: [{ resources: { requests: { cpu: '500m', memory: '1Gi' } } }] },
    status: { phase },
  }) as unknown as Pod;

test('counts nodes, pods and what they cost and use', () => {
  const seen = overview(
    [node('a', { labels: { 'eks-node-viewer/instance-price': '0.25' } }), node('b', { ready: 'False' })],
    [
      pod('p1', 'Running', 'a', 'web'),
      pod('p2', 'Running', 'a', 'web'),
      pod('p3', 'Pending'),
      pod('p4', 'Succeeded', 'a'),
    ],
    nowMs,
  );
  expect(seen).toMatchObject({ readyNodes: 1, running: 2, waiting: 1, priceUsdPerHour: 0.25 });
  expect(seen.nodes.map(({ name, pods, cpu, memory, status }) => [name, pods, cpu, memory, status])).toEqual([
    ['a', 2, 0.25, 0.25, 'Ready'],
    ['b', 0, 0, 0, 'NotReady'],
  ]);
  expect(seen.workloads).toEqual([
    { namespace: 'shop', name: 'p3', running: 0, waiting: 1, ending: 0 },
    { namespace: 'shop', name: 'web', running: 2, waiting: 0, ending: 0 },
  ]);
  expect(summary(seen)).toBe('2 nodes (1 ready), 2 pods running, 1 waiting, $0.250/h');
});

test.each([
  [{ taints: [{ key: 'karpenter.sh/disrupted', effect: 'NoSchedule' }] }, 'Disrupted'],
  [{ taints: [{ key: 'karpenter.sh/unregistered', effect: 'NoExecute' }] }, 'Joining'],
  [{ ready: 'Unknown' }, 'NotReady'],
])('a node with %j is %s', (more, status) => {
  expect(overview([node('a', more)], [], nowMs).nodes[0]?.status).toBe(status);
});

test('the picture fits the rows it is given and says how much more there is', () => {
  const nodes = Array.from({ length: 40 }, (_, index) => node(`node-${index}`));
  const pods = Array.from({ length: 60 }, (_, index) => pod(`pod-${index}`, 'Running', 'node-0'));
  const lines = picture(overview(nodes, pods, nowMs), '12:00:00', 20, paint);
  expect(lines.length).toBeLessThanOrEqual(28);
  expect(lines.join('\n')).toContain('… and 28 more');
  expect(lines.join('\n')).toContain('… and 52 more');
});

test.each([
  [500, '0s'],
  [119_000, '119s'],
  [121_000, '2m'],
  [7_300_000, '2h'],
  [200_000_000, '2d'],
])('%i ms is %s', (ms, text) => {
  expect(age(ms)).toBe(text);
});
