import { afterEach, beforeEach, expect, test } from 'vitest';
import { OverlayStore, overlaidCloud } from '../overlay/overlay-store.ts';
import { nodeClaims, nodePools } from '../own-resources.ts';
import { type Bench, openBench } from '../testing/bench.testing.ts';
import { costController } from './cost.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await openBench({ controllers: (context) => [costController(context)] });
  await bench.pool();
});
afterEach(() => bench.close());

const machine = (name: string, capacityType: string, zone = 'test-zone-a') =>
  bench.machine('default', name, {
    claim: {
      metadata: { labels: { 'topology.kubernetes.io/zone': zone, 'karpenter.sh/capacity-type': capacityType } },
    },
  });
const cost = () => bench.metrics.value('karpenter_nodepools_cost_total', { nodepool: 'default' });
/** Of the machines of the bench: 4 cpus, 8 GiB. */
const onDemand = 0.025 * 4 + (0.001 * 8 * 2 ** 30) / 1e9;

test('a pool costs what its machines cost by type, zone and capacity type', async () => {
  await machine('a', 'on-demand');
  await machine('b', 'spot');
  await bench.run(100);
  expect(cost()).toBeCloseTo(onDemand * 1.7, 9);
});

test('a machine counts until it is gone', async () => {
  await machine('a', 'on-demand');
  await bench.run(100);
  expect(cost()).toBeCloseTo(onDemand, 9);
  await bench.remove(nodeClaims, 'a');
  await bench.run(100);
  expect(cost()).toBe(0);
});

test('a machine that is not sold anywhere counts as an error, not as a price', async () => {
  await machine('a', 'on-demand', 'nowhere');
  await bench.run(100);
  expect(cost()).toBe(0);
  expect(bench.metrics.value('karpenter_nodepools_cost_tracker_errors_total', { nodepool: 'default' })).toBeGreaterThan(
    0,
  );
});

test('the cost follows overlays as soon as they are in force', async () => {
  await bench.close();
  const stores: OverlayStore[] = [];
  bench = await openBench({
    controllers: (context) => {
      const store = new OverlayStore(context.cloud.facts);
      store.set([], new Set(['default']));
      stores.push(store);
      const poolNamed = (name: string) => context.cluster.nodePools.get(name);
      return [costController({ ...context, cloud: overlaidCloud(context.cloud, store, poolNamed) }, store)];
    },
  });
  await bench.pool();
  await machine('a', 'on-demand');
  await bench.run(100);
  expect(cost()).toBeCloseTo(onDemand, 9);
  stores[0]?.set([{ name: 'dear', weight: 1, requirements: [], price: '7' }], new Set(['default']));
  await bench.run(100);
  expect(cost()).toBe(7);
});

test('a deleted pool has no cost', async () => {
  await bench.run(100);
  expect(cost()).toBe(0);
  await bench.remove(nodePools, 'default');
  await bench.run(100);
  expect(cost()).toBeUndefined();
});
