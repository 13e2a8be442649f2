import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ScriptedCloud } from '../../controllers/testing/scripted-cloud.testing.ts';
import { type Instance, resources } from '../../ports/index.ts';
import { type AwsBench, makeInstance, openAwsBench, providerIdOf } from '../aws-bench.testing.ts';
import { instanceGarbageCollectionController } from './controller.ts';

const minute = 60_000;
let bench: AwsBench;
let cloud: ScriptedCloud;
beforeEach(async () => {
  cloud = new ScriptedCloud();
  bench = await openAwsBench({
    cloud: () => cloud,
    controllers: (context) => [instanceGarbageCollectionController(context)],
  });
});
afterEach(() => bench.close());

/** An instance of EC2, launched so long ago. */
const launch = (id: string, ageMs: number, labels: Record<string, string> = { 'karpenter.sh/nodepool': 'default' }) => {
  const instance = cloud.launch(providerIdOf(id));
  cloud.machines.set(instance.providerID, { ...instance, labels, createdAt: bench.nowPlus(-ageMs) });
};
const hasNode = async (name: string): Promise<boolean> => (await bench.get(resources.nodes, name)) !== undefined;

describe('an instance without a claim', () => {
  test('an orphan and its Node are deleted', async () => {
    await makeInstance(bench, 'a');
    await bench.apply(resources.nodes, { metadata: { name: 'orphan' }, spec: { providerID: providerIdOf('i-lost') } });
    launch('i-a', minute);
    launch('i-lost', minute);
    await bench.run(25_000);
    expect([...cloud.machines.keys()]).toEqual([providerIdOf('i-a')]);
    expect([await hasNode('orphan'), await hasNode('a')]).toEqual([false, true]);
  });

  test('many at once go a share of the fleet at a time, and their pool is notified', async () => {
    for (let index = 0; index < 250; index++) launch(`i-${index}`, minute);
    await bench.run(25_000);
    expect([cloud.deletions.length, cloud.machines.size]).toEqual([50, 200]);
    expect(bench.metrics.value('kerf_garbage_collection_held_back', { controller: 'instance.garbagecollection' })).toBe(
      200,
    );
    expect(bench.eventsOf('default')).toContain('NodePool GarbageCollectionHeldBack');
    await bench.run(minute);
    expect(cloud.machines.size).toBe(160);
    await bench.run(60 * minute);
    expect(cloud.machines.size).toBe(0);
  });

  test('nothing goes at first sight', async () => {
    launch('i-lost', minute);
    const before = cloud.listings;
    while (cloud.listings === before) await bench.run(1_000);
    expect(cloud.deletions).toEqual([]);
    await bench.run(10_000);
    expect(cloud.deletions).toEqual([providerIdOf('i-lost')]);
  });

  test('an instance launched just now is kept until it is thirty seconds old', async () => {
    launch('i-new', 0);
    await bench.run(25_000);
    expect(cloud.machines.size).toBe(1);
    await bench.run(30_000);
    expect(cloud.machines.size).toBe(0);
  });

  test('an instance of no known age is never touched', async () => {
    launch('i-ageless', minute);
    const { createdAt: _, ...ageless } = cloud.machines.get(providerIdOf('i-ageless')) as Instance;
    cloud.machines.set(ageless.providerID, ageless);
    await bench.run(10 * minute);
    expect(cloud.deletions).toEqual([]);
  });

  test('an instance without the nodepool tag is never touched', async () => {
    launch('i-foreign', minute, {});
    await bench.run(10 * minute);
    expect(cloud.deletions).toEqual([]);
  });

  test('an instance that is going already is left alone', async () => {
    launch('i-going', minute);
    cloud.machines.set(providerIdOf('i-going'), { ...cloud.launch(providerIdOf('i-going')), isDeleting: true });
    await bench.run(15_000);
    expect(cloud.deletions).toEqual([]);
  });
});

test('instances are listed every ten seconds twenty times, then every two minutes', async () => {
  await bench.run(190_000);
  expect(cloud.listings).toBe(20);
  await bench.run(10 * minute);
  expect(cloud.listings).toBe(25);
});

test('a failed deletion is tried again, and does not keep others from being collected', async () => {
  launch('i-1', minute);
  launch('i-2', minute);
  cloud.deleteError = new Error('throttled');
  await bench.run(15_000);
  expect(cloud.machines.size).toBe(2);
  cloud.deleteError = undefined;
  await bench.run(5 * minute);
  expect(cloud.machines.size).toBe(0);
});
