import { afterEach, beforeEach, expect, test } from 'vitest';
import { resources } from '../../ports/index.ts';
import { nodeHydrationController } from '../node/hydration.ts';
import { nodeClassRef } from '../testing/bench.testing.ts';
import { type LifecycleBench, openLifecycle } from '../testing/lifecycle.testing.ts';
import { claimHydrationController } from './hydration.ts';

const key = 'karpenter.kwok.sh/kwoknodeclass';
let bench: LifecycleBench;
beforeEach(async () => {
  bench = await openLifecycle({
    controllers: (context) => [claimHydrationController(context), nodeHydrationController(context)],
  });
});
afterEach(() => bench.close());

test('a claim without the label of its node class gets it', async () => {
  await bench.makeClaim();
  expect((await bench.claim()).metadata.labels).toMatchObject({ [key]: 'default', 'karpenter.sh/nodepool': 'default' });
});

test('a label that is there is kept', async () => {
  await bench.makeClaim('a', { metadata: { labels: { [key]: 'other' } } });
  expect((await bench.claim()).metadata.labels?.[key]).toBe('other');
});

test('a claim of a node class that is not ours gets none', async () => {
  await bench.makeClaim('a', { spec: { nodeClassRef: { ...nodeClassRef, kind: 'OtherNodeClass' } } });
  expect(Object.keys((await bench.claim()).metadata.labels ?? {})).toEqual(['karpenter.sh/nodepool']);
});

test('the node of a claim gets it too, whichever of them is seen first', async () => {
  const spec = { providerID: 'kwok://a' };
  await bench.kube.create(resources.nodes, { metadata: { name: 'a' }, spec });
  await bench.run(100);
  expect((await bench.node()).metadata.labels?.[key]).toBeUndefined();
  await bench.machine('default', 'a', { node: false });
  await bench.run(100);
  expect((await bench.node()).metadata.labels?.[key]).toBe('default');
});

test('a node that belongs to no claim gets none', async () => {
  await bench.kube.create(resources.nodes, { metadata: { name: 'bare' }, spec: { providerID: 'kwok://bare' } });
  await bench.run(1_000);
  expect((await bench.node('bare')).metadata.labels?.[key]).toBeUndefined();
});

test('a node whose machine was not launched for this cluster gets none', async () => {
  bench.cloud.foreign.set('kwok://other', 'instance i-1 has no tag karpenter.sh/nodepool');
  await bench.kube.create(resources.nodes, { metadata: { name: 'other' }, spec: { providerID: 'kwok://other' } });
  await bench.machine('default', 'other', { node: false });
  await bench.run(1_000);
  expect((await bench.node('other')).metadata.labels?.[key]).toBeUndefined();
});
