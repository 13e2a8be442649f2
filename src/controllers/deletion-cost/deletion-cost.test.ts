import { afterEach, expect, test } from 'vitest';
import { annotation } from '../../api/index.ts';
import { type Kube, KubeError, type Pod, resources } from '../../ports/index.ts';
import { podOn, quiet } from '../disruption/disruption-bench.testing.ts';
import { type Bench, openBench } from '../testing/bench.testing.ts';
import { DeletionCostQueue } from './queue.ts';
import { deletionCostController } from './ranking.ts';

let bench: Bench;
afterEach(() => bench.close());

const featureGates = { PodDeletionCostManagement: true };
const replicaSet = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'web', controller: true };

async function open(between: (kube: Kube) => Kube = (kube) => kube): Promise<void> {
  bench = await openBench({
    controllers: (context) => {
      const queue = new DeletionCostQueue(context);
      return [deletionCostController(context, queue, () => new Set()), queue.controller];
    },
    settings: { featureGates },
    between,
  });
  await bench.nodeClass();
  await bench.pool('default', { spec: { disruption: { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] } } });
}

const web = (name: string, node: string, annotations: Record<string, string> = {}) => ({
  ...podOn(name, node),
  metadata: { name, namespace: 'default', ownerReferences: [replicaSet], annotations },
});
const annotationsOf = async (name: string): Promise<Record<string, string>> =>
  (await bench.get<Pod>(resources.pods, name, 'default'))?.metadata.annotations ?? {};
const costOf = async (name: string): Promise<string | undefined> =>
  (await annotationsOf(name))[annotation.podDeletionCost];
const written = (result: string): number =>
  bench.metrics.value('karpenter_pod_deletion_cost_pod_annotation_writes_total', { result }) ?? 0;

test('pods carry the rank of their node within a minute, whatever cost was there; nothing is written twice', async () => {
  await open();
  for (const name of ['a', 'b']) await bench.machine('default', name, quiet);
  await bench.apply(resources.pods, web('a1', 'a', { [annotation.podDeletionCost]: '100', mine: 'kept' }));
  await bench.apply(resources.pods, web('b1', 'b'));
  await bench.apply(resources.pods, web('b2', 'b'));
  await bench.run(61_000);
  expect([await costOf('a1'), await costOf('b1'), await costOf('b2')]).toEqual(['-2', '-1', '-1']);
  expect(await annotationsOf('a1')).toMatchObject({ mine: 'kept' });
  expect(written('updated')).toBe(3);
  await bench.run(600_000);
  expect(written('updated')).toBe(3);
});

test('a node that stays loses its rank, and nothing but that', async () => {
  await open();
  await bench.machine('default', 'a', quiet);
  await bench.apply(resources.pods, web('a1', 'a', { [annotation.podDeletionCost]: '-7', mine: 'kept' }));
  await bench.apply(resources.nodes, { metadata: { name: 'a', annotations: { [annotation.doNotDisrupt]: 'true' } } });
  await bench.run(61_000);
  expect(await annotationsOf('a1')).toEqual({ mine: 'kept' });
});

test('a pass writes on fifty nodes, and the next goes on', async () => {
  await open();
  for (let at = 0; at < 60; at += 1) {
    const name = `n${String(at).padStart(2, '0')}`;
    await bench.machine('default', name, quiet);
    await bench.apply(resources.pods, web(`on-${name}`, name));
  }
  const gauge = () =>
    bench.metrics.value('karpenter_pod_deletion_cost_nodes_with_pending_annotation_writes', { nodepool: 'default' });
  await bench.run(59_000);
  const before = written('updated');
  await bench.run(60_000);
  expect(written('updated') - before).toBe(50);
  expect(gauge()).toBe(50);
  await bench.run(60_000);
  expect(written('updated') - before).toBe(60);
});

test('a pod that changed meanwhile is left to the next ranking; a server that is busy is asked again soon', async () => {
  const refusals = [409, 429];
  await open((kube) =>
    overridden(kube, {
      async patch(resource, ref, patch, options) {
        const status = resource.plural === 'pods' ? refusals.shift() : undefined;
        if (status !== undefined) {
          const reason = status === 409 ? 'Conflict' : 'TooManyRequests';
          throw new KubeError({ status, reason, message: 'refused' });
        }
        return kube.patch(resource, ref, patch, options);
      },
    }),
  );
  await bench.machine('default', 'a', quiet);
  await bench.apply(resources.pods, web('a1', 'a'));
  await bench.run(61_000);
  expect([written('skipped_conflict'), await costOf('a1')]).toEqual([1, undefined]);
  // Something changes, so that the next minute ranks again.
  await bench.machine('default', 'b', quiet);
  await bench.run(61_000);
  expect([written('error'), written('updated'), await costOf('a1')]).toEqual([1, 1, '-2']);
});

/** The same client with another way to do some things. */
const overridden = (kube: Kube, instead: Partial<Kube>): Kube =>
  new Proxy(kube, {
    get(target, name) {
      const found = Reflect.get(instead, name) ?? Reflect.get(target, name);
      return typeof found === 'function' ? found.bind(target) : found;
    },
  });
