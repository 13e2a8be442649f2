// What an autoscaler wrote into a cluster, read by someone who looks at it from outside.
import { expect, test } from 'vitest';
import type { NodeClaim } from '../../api/index.ts';
import type { Kube, KubeObject } from '../../ports/index.ts';
import { RealClock } from '../../runtime/index.ts';
import { DecisionRing } from '../../telemetry/index.ts';
import { OutsideDecisions } from './outside-decisions.ts';

const claim = (name: string, created: string, initialized?: string): NodeClaim =>
  ({
    metadata: {
      name,
      uid: name,
      creationTimestamp: created,
      labels: {
        'karpenter.sh/nodepool': 'default',
        'node.kubernetes.io/instance-type': 'm5.large',
        'topology.kubernetes.io/zone': 'us-east-1a',
        'karpenter.sh/capacity-type': 'spot',
      },
    },
    status: {
      conditions: initialized
        ? [{ type: 'Initialized', status: 'True', lastTransitionTime: initialized, reason: '', message: '' }]
        : [],
    },
  }) as unknown as NodeClaim;

const event = (uid: string, reason: string, at: string, more: object = {}): KubeObject =>
  ({
    metadata: { name: uid, uid, namespace: 'default' },
    reason,
    message: `about ${uid}`,
    source: { component: 'karpenter' },
    lastTimestamp: at,
    involvedObject: { kind: 'Node', name: 'node-1' },
    ...more,
  }) as KubeObject;

function made(claims: NodeClaim[], listed: () => KubeObject[]) {
  const clock = new RealClock();
  const ring = new DecisionRing(clock);
  const problems: (string | undefined)[] = [];
  const kube = { list: async () => ({ items: listed(), resourceVersion: '1' }) } as unknown as Kube;
  const outside = new OutsideDecisions({
    kube,
    clock,
    ring,
    claims: () => claims,
    onProblem: (problem) => problems.push(problem),
  });
  return { ring, outside, problems };
}

test('NodeClaims are launches with their outcome, Events of the autoscaler the rest, in the order of their times', async () => {
  const claims = [claim('a', '2026-01-01T10:00:00Z', '2026-01-01T10:00:41Z'), claim('b', '2026-01-01T10:05:00Z')];
  const { ring, outside } = made(claims, () => [
    event('e1', 'DisruptionTerminating', '2026-01-01T10:03:00Z'),
    event('e2', 'FailedScheduling', '2026-01-01T10:01:00Z', {
      involvedObject: { kind: 'Pod', name: 'web-1', namespace: 'shop' },
    }),
    event('e3', 'FailedScheduling', '2026-01-01T10:01:00Z', { source: { component: 'default-scheduler' } }),
    event('e4', 'Nominated', '2026-01-01T10:01:00Z'),
  ]);
  await outside.look();
  expect([...ring.all()].map(({ what, time, objects }) => [what, time.slice(11, 16), objects[0]?.name])).toEqual([
    ['launch', '10:00', 'a'],
    ['refuse', '10:01', 'web-1'],
    ['disrupt', '10:03', 'node-1'],
    ['launch', '10:05', 'b'],
  ]);
  const [first, refused, , last] = [...ring.all()];
  expect(first?.outcome).toEqual({ state: 'done', seconds: 41 });
  expect(refused?.pods).toEqual({ count: 1, names: ['shop/web-1'] });
  expect(last?.outcome).toEqual({ state: 'pending' });
});

test('what was seen is not seen again; what happens again is; a claim that goes ends its launch', async () => {
  const claims = [claim('a', '2026-01-01T10:00:00Z')];
  let at = '2026-01-01T10:01:00Z';
  const { ring, outside } = made(claims, () => [event('e1', 'DisruptionBlocked', at)]);
  await outside.look();
  await outside.look();
  expect([...ring.all()]).toHaveLength(2);
  at = '2026-01-01T10:02:00Z';
  claims.length = 0;
  await outside.look();
  expect([...ring.all()]).toHaveLength(3);
  expect([...ring.all()][0]?.outcome).toMatchObject({ state: 'failed' });
});

test('without the right to read Events launches are still there, and the page says what is missing', async () => {
  const { ring, outside, problems } = made([claim('a', '2026-01-01T10:00:00Z')], () => {
    throw new Error('events is forbidden');
  });
  await outside.look();
  expect([...ring.all()]).toHaveLength(1);
  expect(problems).toEqual(['events is forbidden']);
});

test('what is reported on a NodeClaim and on its Node is one decision', async () => {
  const at = '2026-01-01T10:03:00Z';
  const { ring, outside } = made([], () => [
    event('e1', 'DisruptionTerminating', at, { message: 'Disrupting Node: Empty' }),
    event('e2', 'DisruptionTerminating', at, {
      message: 'Disrupting NodeClaim: Empty',
      involvedObject: { kind: 'NodeClaim', name: 'default-1' },
    }),
    event('e3', 'DisruptionTerminating', '2026-01-01T10:04:00Z', { message: 'Disrupting Node: Empty' }),
  ]);
  await outside.look();
  expect([...ring.all()].map(({ objects }) => objects[0]?.name)).toEqual(['default-1', 'node-1']);
});
