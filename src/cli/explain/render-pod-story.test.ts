import { expect, test } from 'vitest';
import type { Plan, Snapshot } from '../../core/index.ts';
import type { Pod } from '../../ports/index.ts';
import { findPod, podStory } from '../../view/index.ts';
import { paintFor } from '../output/index.ts';
import { renderPodStory } from './render-pod-story.ts';

const named = (name: string, namespace: string, parts: Partial<Pod> = {}): Pod => ({
  ...parts,
  metadata: { name, namespace, ...parts.metadata },
});
const snapshot = (...pods: Pod[]): Snapshot =>
  ({ objects: { items: pods.map((pod) => ({ kind: 'Pod', ...pod })) } }) as unknown as Snapshot;
const chosen = { instanceType: 'm5.large', zone: 'zone-1', capacityType: 'spot', pricePerHour: 0.04 };
const plan = {
  newNodes: [{ nodePool: 'default', chosen, instanceTypes: ['m5.large', 'm5.xlarge'], pods: ['shop/web', 'shop/api'] }],
  existingNodes: [
    { name: 'node-1', pods: ['shop/worker'] },
    { name: 'on-its-way', pods: ['shop/early'] },
    { name: 'failing', pods: ['shop/unlucky'] },
  ],
  unschedulable: [
    {
      pod: 'shop/huge',
      reasons: [{ code: 'InsufficientResources', message: 'too big', nodePool: 'default', suggestion: 'ask for less' }],
    },
  ],
} as unknown as Plan;
/** Beside pods: a claim whose node has not registered, and one that is not launched. */
const cluster = {
  time: '2026-01-01T00:02:00Z',
  objects: {
    items: [
      {
        kind: 'NodeClaim',
        metadata: { name: 'on-its-way', creationTimestamp: '2026-01-01T00:00:00Z' },
        status: { providerID: 'x:///1' },
      },
      {
        kind: 'NodeClaim',
        metadata: { name: 'failing', creationTimestamp: '2026-01-01T00:01:30Z' },
        status: { conditions: [{ type: 'Launched', status: 'Unknown', reason: 'LaunchFailed', message: 'throttled' }] },
      },
    ],
  },
} as unknown as Snapshot;
const nothing = new Map<string, readonly string[]>();
const paint = paintFor({ isTerminal: false, env: {} });
const text = (pod: Pod, relaxed: ReadonlyMap<string, readonly string[]> = nothing): string =>
  renderPodStory(podStory(pod, { plan, snapshot: cluster, relaxed }), { paint, columns: 100 });

test('a pod is found by its name, or by namespace and name where the name alone is not enough', () => {
  const cluster = snapshot(named('web', 'shop'), named('web', 'test'), named('api', 'shop'));
  expect(findPod(cluster, 'api').metadata.namespace).toBe('shop');
  expect(findPod(cluster, 'test/web').metadata.namespace).toBe('test');
  expect(() => findPod(cluster, 'web')).toThrow('there are 2 pods called web: ask about one of shop/web, test/web');
  expect(() => findPod(cluster, 'db')).toThrow('there is no pod db here');
});

test('a pod that gets a new node hears which one, and what it does without', () => {
  const story = text(named('web', 'shop'), new Map([['shop/web', ['removing: spec.x=1']]]));
  expect(story).toBe(
    [
      'shop/web  gets a new node of NodePool default',
      '  m5.large in zone-1, spot, $0.0400/h ($29.20 a month), or one of 1 other type; shared by 2 pods',
      '  it does without what it prefers:',
      '    spec.x=1',
      '',
    ].join('\n'),
  );
});

test('a pod that fits on a node hears which one', () => {
  expect(text(named('worker', 'shop'))).toBe('shop/worker  fits on node-1: kube-scheduler places it there\n');
  expect(text(named('early', 'shop'))).toBe(
    'shop/early  is planned onto on-its-way, which was launched 2 minutes ago and has not registered\n',
  );
  expect(text(named('unlucky', 'shop'))).toBe(
    'shop/unlucky  is planned onto NodeClaim failing, which was created 30 seconds ago and has not been launched: LaunchFailed (throttled)\n',
  );
});

test('a pod without a place hears why in each pool, and what would help', () => {
  expect(text(named('huge', 'shop'))).toBe(
    'shop/huge  finds no place\n  pool default: too big (InsufficientResources)\n    try: ask for less\n',
  );
});

test.each<[string, Partial<Pod>, string]>([
  ['runs', { spec: { nodeName: 'n' } as never, status: { phase: 'Running' } }, 'has a node: n'],
  ['starts', { spec: { nodeName: 'n' } as never, status: { phase: 'Pending' } }, 'has a node: n, where it has yet to'],
  ['has ended', { status: { phase: 'Failed' } }, 'has ended (Failed)'],
  ['is deleted', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }, 'is being deleted'],
  [
    'is a daemon',
    { metadata: { ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: 'd' }] } },
    'belongs to a DaemonSet',
  ],
  ['makes room', { status: { nominatedNodeName: 'n' } }, 'waits for room on n'],
  [
    'is gated',
    { status: { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }] } },
    'is held back by its scheduling gates',
  ],
  [
    'is new',
    {},
    'scheduler default-scheduler has not marked this pod Unschedulable; Kerf adds nodes only for such pods',
  ],
])('a pod that %s waits for no new node, and hears why', (_, parts, message) => {
  const story = podStory(named('other', 'shop', parts), { plan, snapshot: cluster, relaxed: nothing });
  expect(story).toMatchObject({ outcome: 'none', message: expect.stringContaining(message) });
});
