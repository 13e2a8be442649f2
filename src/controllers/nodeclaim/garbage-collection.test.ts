import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { resources } from '../../ports/index.ts';
import { nodeClaims } from '../own-resources.ts';
import type { MachineParts } from '../testing/bench.testing.ts';
import { type LifecycleBench, openLifecycle } from '../testing/lifecycle.testing.ts';
import { garbageCollectionController } from './garbage-collection.ts';

/** Two minutes, and the second look ten seconds later. */
const interval = 131_000;
let bench: LifecycleBench;
beforeEach(async () => {
  bench = await openLifecycle({ controllers: (context, metrics) => [garbageCollectionController(context, metrics)] });
});
afterEach(() => bench.close());

const notReady = { status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } };
const make = (over: MachineParts = {}) => bench.machine('default', 'a', over);
const collected = (): number | undefined =>
  bench.metrics.value('karpenter_nodeclaims_disrupted_total', { reason: 'garbage_collected', nodepool: 'default' });

describe('a claim whose machine is gone', () => {
  test('is deleted after two looks, and counted', async () => {
    await make({ node: notReady });
    await bench.run(interval);
    expect(await bench.isGone()).toBe(true);
    expect(collected()).toBe(1);
    expect(bench.log.lines.map(({ message }) => message)).toContain(
      'garbage collecting nodeclaim with no cloudprovider representation',
    );
  });

  test('is deleted also if its node is gone as well', async () => {
    await make({ node: false });
    await bench.run(interval);
    expect(await bench.isGone()).toBe(true);
  });

  test('is deleted if the provider only has it as going', async () => {
    bench.cloud.facets = { isDeleting: true };
    bench.cloud.launch('kwok://a');
    await make({ node: false });
    await bench.run(interval);
    expect(await bench.isGone()).toBe(true);
  });

  test('is kept while its node is Ready', async () => {
    await make();
    await bench.run(10 * interval);
    expect(await bench.isGone()).toBe(false);
    await bench.apply(resources.nodes, { metadata: { name: 'a' }, ...notReady });
    await bench.run(interval);
    expect(await bench.isGone()).toBe(true);
  });

  test('is kept while its node is Ready as it is stored, whatever the cache shows', async () => {
    await make({ node: notReady, claim: { status: { nodeName: 'a' } } });
    const catchUp = bench.storedOtherwise(resources.nodes, (nodes) =>
      nodes.map((node) => ({ ...node, status: { conditions: [{ type: 'Ready', status: 'True' }] } })),
    );
    await bench.run(10 * interval);
    expect(await bench.isGone()).toBe(false);
    catchUp();
    await bench.run(interval);
    expect(await bench.isGone()).toBe(true);
  });

  test('is left to the registration timeout if it never registered', async () => {
    await make({ node: false, conditions: { Launched: 'True', Registered: 'Unknown', Initialized: 'Unknown' } });
    await bench.run(10 * interval);
    expect(await bench.isGone()).toBe(false);
  });
});

test('a claim whose machine is there is kept, whatever its node says', async () => {
  bench.cloud.launch('kwok://a');
  await make({ node: notReady });
  await bench.run(10 * interval);
  expect(await bench.isGone()).toBe(false);
});

test('one that only the list leaves out, as EC2 does with a new machine, is kept', async () => {
  const machine = bench.cloud.launch('kwok://a');
  bench.cloud.list = async () => [];
  await make({ node: notReady });
  await bench.run(10 * interval);
  expect(await bench.isGone()).toBe(false);
  bench.cloud.machines.delete(machine.providerID);
  await bench.run(interval);
  expect(await bench.isGone()).toBe(true);
});

test('one that is listed again at the second look is kept', async () => {
  await make({ node: notReady });
  const before = bench.cloud.listings;
  while (bench.cloud.listings === before) await bench.run(1_000);
  expect(await bench.isGone()).toBe(false);
  bench.cloud.launch('kwok://a');
  await bench.run(10 * interval);
  expect(await bench.isGone()).toBe(false);
});

test('when every machine seems gone, claims go a share at a time, and it is said', async () => {
  for (let index = 0; index < 30; index += 1) await bench.machine('default', `lost-${index}`, { node: false });
  await bench.run(interval);
  const left = async () => (await bench.list(nodeClaims)).length;
  expect(await left()).toBe(20);
  expect(bench.metrics.value('kerf_garbage_collection_held_back', { controller: 'nodeclaim.garbagecollection' })).toBe(
    20,
  );
  expect(bench.events.filter(({ reason }) => reason === 'GarbageCollectionHeldBack')).toHaveLength(20);
  await bench.run(2 * 60_000);
  expect(await left()).toBe(0);
});

test('nothing is collected while the provider cannot list', async () => {
  bench.cloud.listError = new Error('throttled');
  await make({ node: false });
  await bench.run(interval);
  expect(await bench.isGone()).toBe(false);
  bench.cloud.listError = undefined;
  await bench.run(3 * interval);
  expect(await bench.isGone()).toBe(true);
});
