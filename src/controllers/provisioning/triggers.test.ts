import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Node, resources } from '../../ports/index.ts';
import { type Bench, openBench } from '../testing/bench.testing.ts';
import type { PodBatcher } from './pod-batcher.ts';
import { nodeTrigger, podTrigger } from './triggers.ts';

let bench: Bench;
let triggered: string[];
beforeEach(async () => {
  triggered = [];
  const batcher = { trigger: (uid: string) => triggered.push(uid) } as unknown as PodBatcher;
  bench = await openBench({
    controllers: (context) => [podTrigger(context, batcher), nodeTrigger(context, batcher)],
  });
});
afterEach(() => bench.close());

const unschedulable = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' } as const];
async function pod(name: string, over: { metadata?: object; spec?: object; status?: object } = {}): Promise<string> {
  const made = await bench.kube.create(resources.pods, {
    metadata: { name, namespace: 'default', ...over.metadata },
    spec: { containers: [{ name: 'main', image: 'x' }], ...over.spec },
  });
  const body = { status: { conditions: unschedulable, ...over.status } };
  const ref = { name, namespace: 'default' };
  await bench.kube.patch(resources.pods, ref, { type: 'merge', body }, { subresource: 'status' });
  await bench.run(100);
  return made.metadata.uid ?? '';
}

describe('a plan is asked for by a pod', () => {
  test('that kube-scheduler found no place for, and again every ten seconds for as long as that is so', async () => {
    const uid = await pod('waits');
    expect(triggered).toEqual([uid]);
    await bench.run(30_000);
    expect(triggered).toEqual([uid, uid, uid, uid]);
    await bench.kube.bind({ name: 'waits', namespace: 'default' }, 'somewhere');
    await bench.run(60_000);
    expect(triggered).toHaveLength(4);
  });

  test('once it is there, with the time it was first seen kept', async () => {
    await pod('waits');
    const seen = bench.context.cluster.pods.decisions;
    const first = seen.of('default/waits')?.seenMs;
    await bench.run(30_000);
    expect(first).toBeDefined();
    expect(seen.of('default/waits')?.seenMs).toBe(first);
  });
});

test('a plan is asked for by a pod nominated to a node that has not come for five minutes', async () => {
  const lastTransitionTime = new Date(bench.clock.now()).toISOString();
  const conditions = [{ ...unschedulable[0], lastTransitionTime }];
  const uid = await pod('waits', { status: { nominatedNodeName: 'gone', conditions } });
  await bench.run(290_000);
  expect(triggered).toEqual([]);
  await bench.run(20_000);
  expect(triggered).toContain(uid);
});

describe('no plan is asked for by a pod', () => {
  test.each([
    ['that no one has tried to place yet', { status: { conditions: [] } }],
    ['that preempts others and waits for their room', { status: { nominatedNodeName: 'n' } }],
    ['that is bound', { spec: { nodeName: 'n' } }],
    ['of a DaemonSet', owned('apps/v1', 'DaemonSet')],
    ['of a Node', owned('v1', 'Node')],
  ])('%s', async (_, over) => {
    await pod('other', over);
    await bench.run(30_000);
    expect(triggered).toEqual([]);
  });
});

test('a plan is asked for by a node about to lose its pods, every ten seconds until it is gone or kept', async () => {
  const taints = [{ key: 'karpenter.sh/disrupted', effect: 'NoSchedule' }];
  const { metadata } = await bench.apply<Node>(resources.nodes, { metadata: { name: 'a' } });
  await bench.run(30_000);
  expect(triggered).toEqual([]);
  await bench.apply<Node>(resources.nodes, { metadata: { name: 'a' }, spec: { taints } });
  await bench.run(20_100);
  expect(triggered).toEqual([metadata.uid, metadata.uid, metadata.uid]);
  await bench.apply<Node>(resources.nodes, { metadata: { name: 'a' }, spec: { taints: [] } });
  await bench.run(60_000);
  expect(triggered).toHaveLength(3);
});

function owned(apiVersion: string, kind: string) {
  return { metadata: { ownerReferences: [{ apiVersion, kind, name: 'owner', uid: 'u', controller: true }] } };
}
