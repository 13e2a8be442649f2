import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Condition, NodeOverlay, NodePool } from '../../api/index.ts';
import type { InstanceTypeSpec, RequirementSpec } from '../../core/index.ts';
import { CloudError } from '../../ports/index.ts';
import { nodeOverlays } from '../own-resources.ts';
import { type Bench, openBench } from '../testing/bench.testing.ts';
import { nodeOverlayController } from './controller.ts';
import { OverlayStore, overlaidCloud } from './overlay-store.ts';

const oneOf = (key: string, ...values: string[]): RequirementSpec => ({ key, operator: 'In', values });
const offering = (zone: string, price: number) => ({
  requirements: [oneOf('topology.kubernetes.io/zone', zone), oneOf('karpenter.sh/capacity-type', 'on-demand')],
  price,
  available: true,
});
const type = (name: string): InstanceTypeSpec => ({
  name,
  requirements: [
    oneOf('node.kubernetes.io/instance-type', name),
    oneOf('topology.kubernetes.io/zone', 'a', 'b'),
    oneOf('karpenter.sh/capacity-type', 'on-demand'),
  ],
  capacity: { cpu: '4', memory: '8Gi' },
  offerings: [offering('a', 1), offering('b', 2)],
});

let bench: Bench;
let store: OverlayStore;
let catalogue: InstanceTypeSpec[];
let unreadable: Set<string>;
beforeEach(async () => {
  catalogue = [type('small'), type('large')];
  unreadable = new Set();
  bench = await openBench({
    controllers: (context) => {
      store = new OverlayStore(context.cloud.facts);
      return [nodeOverlayController(context, store)];
    },
    cloud: (cloud) =>
      Object.assign(cloud, {
        instanceTypes: (pool: NodePool) =>
          unreadable.has(pool.metadata.name ?? '')
            ? Promise.reject(new CloudError('nodeClassNotReady', 'no subnets'))
            : Promise.resolve(catalogue),
      }),
  });
});
afterEach(() => bench.close());

const overlay = (name: string, spec: Partial<NodeOverlay['spec']>) =>
  bench.apply(nodeOverlays, { metadata: { name }, spec: { requirements: [], ...spec } });
const verdict = async (name: string): Promise<Condition[]> =>
  (await bench.get(nodeOverlays, name))?.status?.conditions ?? [];
const through = () => overlaidCloud(bench.cloud, store, (name) => bench.context.cluster.nodePools.get(name));
const seen = async (pool = 'default') => {
  const stored = bench.context.cluster.nodePools.get(pool) as NodePool;
  return through().instanceTypes(stored);
};
const prices = async (pool?: string) => (await seen(pool)).map(({ offerings }) => offerings.map(({ price }) => price));

describe('the provider seen through overlays', () => {
  test('has other prices where an overlay applies', async () => {
    await bench.pool();
    await overlay('half', {
      requirements: [oneOf('topology.kubernetes.io/zone', 'b')],
      priceAdjustment: '-50%',
    });
    await bench.run(1_000);
    expect(await prices()).toEqual([
      [1, 1],
      [1, 1],
    ]);
    expect((await verdict('half')).map(({ type, status }) => `${type}=${status}`)).toEqual([
      'ValidationSucceeded=True',
      'Ready=True',
    ]);
  });

  test('is awaited until a NodePool was looked at, also without any overlay', async () => {
    const pool = { metadata: { name: 'new' }, spec: { template: {} } } as unknown as NodePool;
    await expect(through().instanceTypes(pool)).rejects.toThrow('nodepool "new" is awaiting evaluation');
    await bench.pool();
    await bench.run(1_000);
    expect(await prices()).toEqual([
      [1, 2],
      [1, 2],
    ]);
  });

  test('gives the same array while nothing changed, and a new one when an overlay did', async () => {
    await bench.pool();
    await overlay('fixed', { price: '5' });
    await bench.run(1_000);
    const before = await seen();
    expect(await seen()).toBe(before);
    await overlay('fixed', { price: '6' });
    await bench.run(1_000);
    expect((await seen())[0]?.offerings[0]?.price).toBe(6);
  });

  test('applies overlays to types the provider offers only later', async () => {
    await bench.pool();
    await overlay('fixed', { price: '5' });
    await bench.run(1_000);
    catalogue = [...catalogue, type('huge')];
    expect((await seen()).at(-1)?.offerings.map(({ price }) => price)).toEqual([5, 5]);
  });

  test('returns to the provider’s own figures when the overlay is deleted', async () => {
    await bench.pool();
    await overlay('fixed', { price: '5' });
    await bench.run(1_000);
    await bench.remove(nodeOverlays, 'fixed');
    await bench.run(1_000);
    expect(await seen()).toEqual(catalogue);
  });

  test('is what machines are launched by', async () => {
    const reported: unknown[] = [];
    Object.assign(bench.cloud, { create: (_: unknown, options: unknown) => Promise.resolve(reported.push(options)) });
    await bench.pool();
    await overlay('fixed', { price: '5' });
    await bench.run(1_000);
    await through().create({ metadata: { labels: { 'karpenter.sh/nodepool': 'default' } } } as never);
    await through().create({ metadata: { name: 'standalone' } } as never);
    expect(reported).toEqual([{ instanceTypes: await seen() }, {}]);
  });

  test('does everything else as the provider itself', () => {
    const cloud = through();
    expect([cloud.name, cloud.facts, cloud.repairPolicies()]).toEqual([
      bench.cloud.name,
      bench.cloud.facts,
      bench.cloud.repairPolicies(),
    ]);
  });
});

describe('an overlay', () => {
  test('of equal weight for the same price is in conflict and applied nowhere', async () => {
    await bench.pool();
    await overlay('a', { price: '5', weight: 3 });
    await overlay('b', { price: '5', weight: 3 });
    await bench.run(1_000);
    expect(await verdict('a')).toContainEqual(
      expect.objectContaining({
        type: 'ValidationSucceeded',
        status: 'False',
        reason: 'Conflict',
        message: 'conflict with another overlay',
      }),
    );
    expect(await verdict('b')).toContainEqual(expect.objectContaining({ type: 'Ready', status: 'True' }));
    expect((await prices())[0]).toEqual([5, 5]);
  });

  test('is in force again when the one it conflicted with is gone', async () => {
    await bench.pool();
    await overlay('a', { price: '5', weight: 3 });
    await overlay('b', { price: '6', weight: 3 });
    await bench.run(1_000);
    await bench.remove(nodeOverlays, 'b');
    await bench.run(1_000);
    expect(await verdict('a')).toContainEqual(expect.objectContaining({ type: 'Ready', status: 'True' }));
    expect((await prices())[0]).toEqual([5, 5]);
  });

  test('that fails runtime validation says why, and does not count', async () => {
    await bench.pool();
    await overlay('bad', {
      requirements: [oneOf('karpenter.sh/capacity-type', 'free')],
      price: '5',
    });
    await overlay('good', { price: '6', weight: 1 });
    await bench.run(1_000);
    expect(await verdict('bad')).toContainEqual(
      expect.objectContaining({
        type: 'ValidationSucceeded',
        status: 'False',
        reason: 'RuntimeValidation',
        message: expect.stringContaining('no valid values found in [free] for karpenter.sh/capacity-type'),
      }),
    );
    expect((await prices())[0]).toEqual([6, 6]);
  });

  test('adds resources to whole types', async () => {
    await bench.pool();
    await overlay('gpu', {
      requirements: [oneOf('node.kubernetes.io/instance-type', 'small')],
      capacity: { 'example.com/gpu': '2' },
    });
    await bench.run(1_000);
    const [small, large] = await seen();
    expect(small).toMatchObject({ capacity: { cpu: '4', 'example.com/gpu': '2' }, capacityOverlayApplied: true });
    expect(large).toBe(catalogue[1]);
  });

  test('may name the pools it is for', async () => {
    await bench.pool();
    await bench.pool('other');
    await overlay('o', { requirements: [oneOf('karpenter.sh/nodepool', 'other')], price: '7' });
    await bench.run(1_000);
    expect((await prices('other'))[0]).toEqual([7, 7]);
    expect((await prices('default'))[0]).toEqual([1, 2]);
  });
});

test('a pool whose instance types cannot be read waits and is tried again; others do not wait for it', async () => {
  unreadable.add('broken');
  await bench.pool('broken');
  await bench.pool();
  await bench.run(1_000);
  expect(await prices()).toEqual([
    [1, 2],
    [1, 2],
  ]);
  unreadable.clear();
  await bench.run(120_000);
  expect(await prices('broken')).toHaveLength(2);
});

test('a new evaluation makes earlier verdicts about consolidation worthless', async () => {
  await bench.pool();
  await bench.run(1_000);
  const before = bench.context.cluster.changedAt();
  await overlay('fixed', { price: '5' });
  await bench.run(1_000);
  expect(bench.context.cluster.changedAt()).toBeGreaterThan(before);
});
