import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { NodeClaim } from '../../api/index.ts';
import { formatTime } from '../../base/index.ts';
import type { Node, RepairPolicy } from '../../ports/index.ts';
import { resources } from '../../ports/index.ts';
import { claimMetrics } from '../nodeclaim/claim-metrics.ts';
import { nodeClaims } from '../own-resources.ts';
import { type Bench, type MachineParts, openBench } from '../testing/bench.testing.ts';
import { nodeHealthController } from './node-health.ts';

const minuteMs = 60_000;
const policies: RepairPolicy[] = [
  { conditionType: 'Ready', conditionStatus: 'False', tolerationMs: 10 * minuteMs },
  { conditionType: 'Ready', conditionStatus: 'Unknown', tolerationMs: 10 * minuteMs },
  { conditionType: 'KernelReady', conditionStatus: 'False', tolerationMs: 4 * minuteMs },
];

let bench: Bench;
beforeEach(async () => {
  bench = await openBench({
    controllers: (context) => [nodeHealthController(context, claimMetrics(context.metrics))],
    cloud: (cloud) => Object.assign(cloud, { repairPolicies: () => policies }),
  });
  await bench.pool();
  // Timestamps have whole seconds; so that they are exact, the clock stands at one.
  await bench.run(1_000 - (bench.clock.now() % 1_000));
});
afterEach(() => bench.close());

const keep = { claim: { metadata: { finalizers: ['example.com/keep'] } } };
const deadline = 'karpenter.sh/nodeclaim-termination-timestamp';
const machines = async (count: number, pool: string | undefined = 'default', over: MachineParts = {}) => {
  for (let index = 0; index < count; index += 1) await bench.machine(pool, `n${index}`, { ...keep, ...over });
};
const says = (name: string, ...conditions: [string, 'True' | 'False' | 'Unknown'][]) =>
  bench.apply<Node>(resources.nodes, {
    metadata: { name },
    status: {
      conditions: conditions.map(([type, status]) => ({
        type,
        status,
        lastTransitionTime: formatTime(bench.clock.now()),
      })),
    },
  });
const isLeaving = async (name: string): Promise<boolean> =>
  (await bench.get(nodeClaims, name))?.metadata.deletionTimestamp !== undefined;
const blocked = () => bench.events.filter(({ reason }) => reason === 'NodeRepairBlocked');

describe('a broken node', () => {
  test.each(['False', 'Unknown'] as const)('with Ready %s is replaced exactly when its time is up', async (status) => {
    await machines(5);
    await says('n0', ['Ready', status]);
    await bench.run(10 * minuteMs - 1);
    expect(await isLeaving('n0')).toBe(false);
    await bench.run(1);
    expect(await isLeaving('n0')).toBe(true);
    expect(bench.metrics.value('karpenter_nodeclaims_disrupted_total', { reason: 'unhealthy' })).toBe(1);
    expect(bench.log.lines).toContainEqual(expect.objectContaining({ message: 'deleting unhealthy node' }));
  });

  test('is replaced by the condition whose time is up first', async () => {
    await machines(5);
    await says('n0', ['Ready', 'False'], ['KernelReady', 'False']);
    await bench.run(4 * minuteMs);
    expect(await isLeaving('n0')).toBe(true);
    expect(
      bench.metrics.value('karpenter_nodeclaims_unhealthy_disrupted_total', {
        condition: 'kernel_ready',
        nodepool: 'default',
      }),
    ).toBe(1);
  });

  test('that its owner wants to keep stays, and an event says why', async () => {
    await machines(5);
    await bench.apply<Node>(resources.nodes, {
      metadata: { name: 'n0', annotations: { 'karpenter.sh/do-not-repair': 'true' } },
    });
    await says('n0', ['Ready', 'False']);
    await bench.run(20 * minuteMs);
    expect(await isLeaving('n0')).toBe(false);
    expect(bench.events.map(({ message }) => message)).toContain(
      'repair is blocked through the "karpenter.sh/do-not-repair" annotation',
    );
  });

  test.each<[string, (node: Node) => Node]>([
    [
      'well again',
      (node) => ({ ...node, status: { ...node.status, conditions: [{ type: 'Ready', status: 'True' }] } }),
    ],
    [
      'one that its owner wants to keep',
      (node) => ({
        ...node,
        metadata: { ...node.metadata, annotations: { 'karpenter.sh/do-not-repair': 'true' } },
      }),
    ],
    ['another one of that name', (node) => ({ ...node, metadata: { ...node.metadata, uid: 'another' } })],
  ])('that is stored as %s stays', async (_, change) => {
    await machines(5);
    await says('n0', ['Ready', 'False']);
    bench.storedOtherwise(resources.nodes, (nodes) => nodes.map(change));
    await bench.run(20 * minuteMs);
    expect(await isLeaving('n0')).toBe(false);
  });

  test('that names the machine of another Node does not end the claim of that one', async () => {
    await machines(5);
    await bench.apply<NodeClaim>(nodeClaims, { metadata: { name: 'n0' }, status: { nodeName: 'n0' } });
    await bench.machine('default', 'foreign', { node: { spec: { providerID: 'kwok://n0' } } });
    await bench.run(1_000);
    expect((await bench.get<Node>(resources.nodes, 'foreign'))?.spec?.providerID).toBe('kwok://n0');
    await says('foreign', ['Ready', 'False']);
    await bench.run(20 * minuteMs);
    expect(await isLeaving('n0')).toBe(false);
  });

  test('whose claim is stored with the wish to be left alone stays', async () => {
    await machines(5);
    await says('n0', ['Ready', 'False']);
    const annotations = { 'karpenter.sh/do-not-repair': 'true' };
    const catchUp = bench.storedOtherwise(nodeClaims, (claims) =>
      claims.map((claim) => ({ ...claim, metadata: { ...claim.metadata, annotations } })),
    );
    await bench.run(20 * minuteMs);
    expect(await isLeaving('n0')).toBe(false);
    catchUp();
    await bench.run(minuteMs);
    expect(await isLeaving('n0')).toBe(true);
  });

  test('that flaps is replaced when its first time is up', async () => {
    await machines(5);
    for (let round = 0; round < 3; round += 1) {
      await says('n0', ['Ready', 'False']);
      await bench.run(3 * minuteMs);
      await says('n0', ['Ready', 'True']);
      await bench.run(30_000);
    }
    await says('n0', ['Ready', 'False']);
    await bench.run(minuteMs);
    expect(await isLeaving('n0')).toBe(true);
  });

  test('that was well for long starts anew', async () => {
    await machines(5);
    await says('n0', ['Ready', 'False']);
    await bench.run(9 * minuteMs);
    await says('n0', ['Ready', 'True']);
    await bench.run(6 * minuteMs);
    await says('n0', ['Ready', 'False']);
    await bench.run(9 * minuteMs);
    expect(await isLeaving('n0')).toBe(false);
  });

  test('that recovers in time stays', async () => {
    await machines(5);
    await says('n0', ['Ready', 'False']);
    await bench.run(9 * minuteMs);
    await says('n0', ['Ready', 'True']);
    await bench.run(20 * minuteMs);
    expect(await isLeaving('n0')).toBe(false);
  });

  test('gives its pods no grace: the deadline is now, whatever was configured', async () => {
    await machines(5, 'default', {
      claim: { metadata: { ...keep.claim.metadata, annotations: { [deadline]: '2036-01-01T00:00:00Z' } } },
    });
    await says('n0', ['Ready', 'False']);
    await bench.run(10 * minuteMs);
    const claim = await bench.get(nodeClaims, 'n0');
    expect(claim?.metadata.annotations?.[deadline]).toBe(formatTime(bench.clock.now()));
  });

  test('keeps a deadline that has passed already', async () => {
    await machines(5, 'default', {
      claim: { metadata: { ...keep.claim.metadata, annotations: { [deadline]: '2025-01-01T00:00:00Z' } } },
    });
    await says('n0', ['Ready', 'False']);
    await bench.run(10 * minuteMs);
    expect((await bench.get(nodeClaims, 'n0'))?.metadata.annotations?.[deadline]).toBe('2025-01-01T00:00:00Z');
    expect(await isLeaving('n0')).toBe(true);
  });

  test('is replaced in spite of do-not-disrupt and a budget of zero', async () => {
    await bench.pool('default', { spec: { disruption: { budgets: [{ nodes: '0' }] } } });
    await machines(5, 'default', {
      node: { metadata: { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } } } as never,
    });
    await says('n0', ['Ready', 'False']);
    await bench.run(10 * minuteMs);
    expect(await isLeaving('n0')).toBe(true);
  });

  test('that was broken before it became ours is replaced although its conditions never change again', async () => {
    await machines(5);
    const classLabel = 'karpenter.kwok.sh/kwoknodeclass';
    const relabel = (value: string | null) =>
      bench.apply<Node>(resources.nodes, { metadata: { name: 'n0', labels: { [classLabel]: value as never } } });
    await relabel(null);
    await says('n0', ['Ready', 'False']);
    await bench.run(1_000);
    await relabel('default');
    await bench.run(10 * minuteMs);
    expect(await isLeaving('n0')).toBe(true);
  });

  test('that is not ours is left alone', async () => {
    await bench.apply<Node>(resources.nodes, { metadata: { name: 'bare' }, spec: { providerID: 'x://bare' } });
    await says('bare', ['Ready', 'False']);
    await bench.run(20 * minuteMs);
    expect((await bench.get(resources.nodes, 'bare'))?.metadata.deletionTimestamp).toBeUndefined();
  });

  test('with a condition no policy speaks of is left alone', async () => {
    await machines(5);
    await says('n0', ['Ready', 'True'], ['DiskPressure', 'True']);
    await bench.run(60 * minuteMs);
    expect(await isLeaving('n0')).toBe(false);
  });
});

describe('when more than a fifth of the nodes are broken', () => {
  test('rounding up allows one of three', async () => {
    await machines(3);
    await says('n0', ['Ready', 'False']);
    await bench.run(10 * minuteMs);
    expect(await isLeaving('n0')).toBe(true);
  });

  test('no node of the NodePool is replaced, and Node, NodeClaim and NodePool say so', async () => {
    await machines(5);
    await says('n0', ['Ready', 'False']);
    await says('n1', ['Ready', 'Unknown']);
    await bench.run(10 * minuteMs);
    expect([await isLeaving('n0'), await isLeaving('n1')]).toEqual([false, false]);
    expect(blocked().filter(({ subject }) => subject.name !== 'n1')).toEqual(
      ['Node', 'NodeClaim', 'NodePool', 'NodePool'].map((kind) =>
        expect.objectContaining({
          subject: expect.objectContaining({ kind }),
          type: 'Warning',
          message: 'more than 20% nodes are unhealthy in the nodepool',
          dedupeMs: 15 * minuteMs,
        }),
      ),
    );
  });

  test('it is tried again after five minutes', async () => {
    await machines(5);
    await says('n0', ['Ready', 'False']);
    await bench.run(5 * minuteMs);
    await says('n1', ['Ready', 'False']);
    await bench.run(5 * minuteMs);
    expect(await isLeaving('n0')).toBe(false);
    await says('n1', ['Ready', 'True']);
    await bench.run(5 * minuteMs);
    expect(await isLeaving('n0')).toBe(true);
  });

  test('nodes of other pools do not count for a NodePool', async () => {
    await machines(5);
    for (const name of ['o1', 'o2', 'o3']) {
      await bench.machine('other', name, keep);
      await says(name, ['Ready', 'False']);
    }
    await says('n0', ['Ready', 'False']);
    await bench.run(10 * minuteMs);
    expect(await isLeaving('n0')).toBe(true);
  });

  test('for a claim without a NodePool all nodes of the cluster count', async () => {
    await bench.machine(undefined, 'alone', keep);
    await machines(4);
    await says('alone', ['Ready', 'False']);
    await says('n1', ['Ready', 'False']);
    await bench.run(10 * minuteMs);
    expect(await isLeaving('alone')).toBe(false);
    expect(
      blocked()
        .filter(({ subject }) => subject.name === 'alone')
        .map(({ message }) => message),
    ).toEqual(['more then 20% nodes are unhealthy in the cluster', 'more then 20% nodes are unhealthy in the cluster']);
  });
});
