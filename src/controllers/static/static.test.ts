import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { NodeClaim, NodePool } from '../../api/index.ts';
import type { Pod } from '../../ports/index.ts';
import { resources } from '../../ports/index.ts';
import { nodeClaims, nodePools } from '../own-resources.ts';
import { type Bench, type DeepPartial, openBench } from '../testing/bench.testing.ts';
import { staticDeprovisioningController } from './deprovisioning.ts';
import { NodeCounts } from './node-counts.ts';
import { staticProvisioningController } from './provisioning.ts';

let bench: Bench;
let counts: NodeCounts;
beforeEach(async () => {
  bench = await openBench({
    controllers: (context) => {
      counts = new NodeCounts(context.cluster);
      return [staticProvisioningController(context, counts), staticDeprovisioningController(context, counts)];
    },
  });
});
afterEach(() => bench.close());

const readyCondition = (status: 'True' | 'False') => ({
  status: {
    conditions: [
      { type: 'Ready', status, reason: 'Ready', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' } as const,
    ],
  },
});
const pool = (replicas: number, over: DeepPartial<NodePool['spec']> = {}, ready: 'True' | 'False' = 'True') =>
  bench.pool('static', { spec: { replicas, ...over }, ...readyCondition(ready) });
const staying = async (): Promise<NodeClaim[]> =>
  (await bench.list(nodeClaims)).filter((claim) => claim.metadata.deletionTimestamp === undefined);
const keep = { metadata: { finalizers: ['example.com/keep'] } };

/** As the lifecycle would: every claim gets a machine that registered. */
async function settle(): Promise<void> {
  for (const claim of await staying()) {
    if (claim.status?.providerID !== undefined) continue;
    await bench.machine('static', claim.metadata.name ?? '', { claim: keep });
  }
}

describe('a pool with replicas', () => {
  test('gets that many nodes without any pod', async () => {
    await pool(3);
    await bench.run(1_000);
    expect(await staying()).toHaveLength(3);
    expect(bench.metrics.value('karpenter_nodeclaims_created_total', { nodepool: 'static' })).toBe(3);
  });

  test('gets claims made of its template alone: no instance types, no capacity types, no requests', async () => {
    await pool(1, {
      template: {
        metadata: { labels: { team: 'a' } },
        spec: { requirements: [{ key: 'beta.kubernetes.io/arch', operator: 'In', values: ['amd64'] }] },
      },
    } as never);
    await bench.run(1_000);
    const [claim] = await staying();
    expect(claim?.spec.resources).toBeUndefined();
    expect(claim?.spec.requirements).toEqual([
      { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] },
      { key: 'team', operator: 'In', values: ['a'] },
      { key: 'karpenter.sh/nodepool', operator: 'In', values: ['static'] },
      { key: 'karpenter.kwok.sh/kwoknodeclass', operator: 'In', values: ['default'] },
    ]);
    expect(claim?.metadata.labels).toMatchObject({ team: 'a', 'karpenter.sh/nodepool': 'static' });
    expect(claim?.metadata.ownerReferences?.[0]).toMatchObject({ kind: 'NodePool', name: 'static' });
  });

  test('waits until it is Ready, and starts when it becomes so', async () => {
    await pool(2, {}, 'False');
    await bench.run(120_000);
    expect(await staying()).toHaveLength(0);
    await pool(2);
    await bench.run(1_000);
    expect(await staying()).toHaveLength(2);
  });

  test('grows when replicas are raised, also through the scale subresource', async () => {
    await pool(1);
    await bench.run(1_000);
    await bench.kube.patch(
      nodePools,
      { name: 'static' },
      { type: 'merge', body: { spec: { replicas: 4 } } },
      { subresource: 'scale' },
    );
    await bench.run(1_000);
    expect(await staying()).toHaveLength(4);
  });

  test('may have no nodes at all', async () => {
    await pool(0);
    await bench.run(61_000);
    expect(await staying()).toHaveLength(0);
  });

  test('replaces a node as soon as its claim is deleted', async () => {
    await pool(2);
    await bench.run(1_000);
    await settle();
    const [first] = await staying();
    await bench.remove(nodeClaims, first?.metadata.name ?? '');
    await bench.run(1_000);
    expect(await staying()).toHaveLength(2);
  });

  test('makes nothing more while it is being deleted', async () => {
    await bench.pool('static', { ...keep, spec: { replicas: 2 }, ...readyCondition('True') });
    await bench.run(1_000);
    await bench.remove(nodePools, 'static');
    for (const claim of await staying()) await bench.remove(nodeClaims, claim.metadata.name ?? '');
    await bench.run(120_000);
    expect(await staying()).toHaveLength(0);
  });

  test('launches slower and slower while its claims go before their nodes register', async () => {
    await pool(1);
    const created = (): number => bench.metrics.value('karpenter_nodeclaims_created_total') ?? 0;
    const times: number[] = [];
    const startMs = bench.clock.now();
    for (let round = 0; round < 240; round += 1) {
      for (const claim of await staying()) {
        await bench.remove(nodeClaims, claim.metadata.name ?? '');
        times.push(Math.round((bench.clock.now() - startMs) / 1_000));
      }
      await bench.run(1_000);
    }
    expect(created()).toBeLessThan(12);
    expect((times.at(-1) ?? 0) - (times.at(-2) ?? 0)).toBeGreaterThanOrEqual(60);
  });
});

test('a pool whose launches are paused waits until the pause is over', async () => {
  const { metadata } = await pool(0);
  const failure = { kind: 'LaunchFailed', message: 'no quota' };
  const { launchBackoff } = bench.context.cluster;
  launchBackoff.failed(metadata.uid ?? '', { ...failure, claimMs: bench.clock.now() });
  const pause = launchBackoff.failed(metadata.uid ?? '', { ...failure, claimMs: bench.clock.now() + 1 });
  const leftMs = (pause?.untilMs ?? 0) - bench.clock.now();
  await pool(2);
  await bench.run(leftMs - 100);
  expect(await staying()).toHaveLength(0);
  await bench.run(200);
  expect(await staying()).toHaveLength(2);
});

describe('the node limit of a static pool', () => {
  test('holds back nodes above it, and lets them come when there is room', async () => {
    await pool(3, { limits: { nodes: '2' } });
    await bench.run(1_000);
    expect(await staying()).toHaveLength(2);
    expect(bench.log.lines.map(({ message }) => message)).not.toContain('nodepool node limit reached');
    await bench.run(61_000);
    expect(bench.log.lines.map(({ message }) => message)).toContain('nodepool node limit reached');
    await pool(3, { limits: { nodes: '3' } });
    await bench.run(1_000);
    expect(await staying()).toHaveLength(3);
  });

  test('counts nodes that are still being deleted', async () => {
    await pool(2, { limits: { nodes: '2' } });
    await bench.run(1_000);
    await settle();
    const [first] = await staying();
    await bench.remove(nodeClaims, first?.metadata.name ?? '');
    await bench.run(1_000);
    expect(await staying()).toHaveLength(1);
  });

  test('counts claims that a command is about to replace, and room that was taken', async () => {
    const limited = await pool(2, { limits: { nodes: '3' } });
    await bench.run(1_000);
    await settle();
    counts.setPendingDisruption((await staying()).slice(0, 1), true);
    expect(counts.of('static')).toMatchObject({ deleting: 0, pendingDisruption: 1 });
    expect(counts.reserve(limited, 5)).toBe(1);
    expect(counts.reserve(limited, 1)).toBe(0);
    counts.release(limited, 1);
    expect(counts.reserve(limited, 1)).toBe(1);
  });

  test('is no limit when it is not set', async () => {
    const unlimited = await pool(0);
    expect(counts.reserve(unlimited, 7)).toBe(7);
  });
});

test('a claim about to be replaced is not counted as missing', async () => {
  await pool(2);
  await bench.run(1_000);
  await settle();
  counts.setPendingDisruption((await staying()).slice(0, 1), true);
  await bench.run(61_000);
  expect(await staying()).toHaveLength(2);
});

test('a node marked for deletion is replaced', async () => {
  await pool(2);
  await bench.run(1_000);
  await settle();
  bench.context.cluster.mark([`kwok://${(await staying())[0]?.metadata.name}`], true);
  await bench.run(61_000);
  expect(await staying()).toHaveLength(3);
});

describe('fewer replicas', () => {
  const onNode = (name: string, node: string, over: DeepPartial<Pod> = {}): Promise<Pod> =>
    bench.apply<Pod>(resources.pods, {
      ...over,
      metadata: { name, namespace: 'default', ...over.metadata },
      spec: { containers: [{ name: 'c', image: 'i' }], nodeName: node },
    });
  const names = async (): Promise<string[]> => (await staying()).map(({ metadata }) => metadata.name ?? '').sort();
  const scaleTo = async (replicas: number): Promise<string[]> => {
    await pool(replicas);
    await bench.run(1_000);
    return names();
  };

  beforeEach(async () => {
    const labels = { app: 'daemon' };
    const { metadata: owner } = await bench.kube.create(resources.daemonSets, {
      metadata: { name: 'daemon', namespace: 'default' },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    });
    const daemon = [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'daemon', uid: owner.uid ?? '' }];
    for (const name of ['ds-1', 'ds-2', 'high-1', 'high-2', 'keep-1', 'keep-2', 'low-1', 'low-2'])
      await bench.machine('static', name, { claim: keep });
    const cost = (value: string) => ({ annotations: { 'controller.kubernetes.io/pod-deletion-cost': value } });
    for (const index of [1, 2]) {
      await onNode(`daemon-${index}`, `ds-${index}`, { metadata: { ownerReferences: daemon } });
      await onNode(`cheap-${index}`, `low-${index}`, { metadata: cost('-100000000') });
      await onNode(`dear-${index}`, `high-${index}`, { metadata: cost('100000000') });
      await onNode(`held-${index}`, `keep-${index}`, {
        metadata: { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } },
      });
    }
  });

  test('drop nodes with nothing but DaemonSets first, then by rising cost, those with do-not-disrupt pods last', async () => {
    expect(await scaleTo(8)).toHaveLength(8);
    expect(await scaleTo(6)).toEqual(['high-1', 'high-2', 'keep-1', 'keep-2', 'low-1', 'low-2']);
    expect(await scaleTo(4)).toEqual(['high-1', 'high-2', 'keep-1', 'keep-2']);
    expect(await scaleTo(2)).toEqual(['keep-1', 'keep-2']);
    expect(await scaleTo(0)).toEqual([]);
  });

  test('drop claims that were not launched before anything else', async () => {
    await bench.machine('static', 'z-launching', { launched: false, node: false, conditions: {} });
    expect(await scaleTo(8)).not.toContain('z-launching');
  });

  test('a DaemonSet pod with do-not-disrupt protects its node too', async () => {
    await bench.apply<Pod>(resources.pods, {
      metadata: { name: 'daemon-1', namespace: 'default', annotations: { 'karpenter.sh/do-not-disrupt': 'true' } },
    });
    expect(await scaleTo(7)).toContain('ds-1');
  });

  test('drop nothing while the API server has more replicas, another pool or fewer claims than caches show', async () => {
    const all = await names();
    const other = (change: (pool: NodePool) => NodePool) =>
      bench.storedOtherwise(nodePools, (pools) => pools.map(change));
    let catchUp = other((stored) => ({ ...stored, spec: { ...stored.spec, replicas: 8 } }));
    expect(await scaleTo(2)).toEqual(all);
    catchUp();
    catchUp = other((stored) => ({ ...stored, metadata: { ...stored.metadata, uid: 'another' } }));
    await bench.run(20_000);
    expect(await names()).toEqual(all);
    catchUp();
    catchUp = bench.storedOtherwise(nodeClaims, (claims) =>
      claims.filter(({ metadata }) => ['low-1', 'low-2'].includes(metadata.name ?? '')),
    );
    await bench.run(20_000);
    expect(await names()).toEqual(all);
    catchUp();
    await bench.run(20_000);
    expect(await names()).toEqual(['keep-1', 'keep-2']);
  });

  test('do not wait for the pool to be Ready', async () => {
    await pool(6, {}, 'False');
    await bench.run(1_000);
    expect(await staying()).toHaveLength(6);
  });
});

test('of two nodes with equal pods, the one nearer to its expiry goes first', async () => {
  await bench.machine('static', 'b-old', { claim: { ...keep, spec: { expireAfter: '10h' } } });
  await bench.run(3_600_000);
  await bench.machine('static', 'a-young', { claim: { ...keep, spec: { expireAfter: '10h' } } });
  for (const node of ['b-old', 'a-young'])
    await bench.apply<Pod>(resources.pods, {
      metadata: { name: `on-${node}`, namespace: 'default' },
      spec: { containers: [{ name: 'c', image: 'i' }], nodeName: node },
    });
  await pool(1);
  await bench.run(1_000);
  expect((await staying()).map(({ metadata }) => metadata.name)).toEqual(['a-young']);
});
