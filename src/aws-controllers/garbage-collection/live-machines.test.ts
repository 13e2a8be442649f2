// A live machine is never taken for an orphan, whatever caches, lists and parsers say.
import { afterEach, describe, expect, test } from 'vitest';
import { ScriptedCloud } from '../../controllers/testing/scripted-cloud.testing.ts';
import { type Kube, type KubeObject, resources, type WatchEvent } from '../../ports/index.ts';
import { type AwsBench, makeInstance, openAwsBench, providerIdOf } from '../aws-bench.testing.ts';
import { instanceGarbageCollectionController } from './controller.ts';

const minute = 60_000;
let bench: AwsBench;
let cloud: ScriptedCloud;
afterEach(() => bench.close());

async function open(between?: (kube: Kube) => Kube): Promise<void> {
  cloud = new ScriptedCloud();
  bench = await openAwsBench({
    cloud: () => cloud,
    ...(between === undefined ? {} : { between }),
    controllers: (context) => [instanceGarbageCollectionController(context)],
  });
}

/** A machine that runs for a claim, and its Node. */
async function live(name: string, tag = true): Promise<void> {
  await makeInstance(bench, name);
  const instance = cloud.launch(providerIdOf(`i-${name}`), tag ? name : undefined);
  const labels = { 'karpenter.sh/nodepool': 'default' };
  cloud.machines.set(instance.providerID, { ...instance, labels, createdAt: bench.nowPlus(-minute) });
}

const isClaims = ({ plural }: { plural: string }): boolean => plural === 'nodeclaims';
const changed = (kube: Kube, changes: Partial<Kube>): Kube =>
  new Proxy(kube, {
    get: (target, method: keyof Kube) => changes[method] ?? target[method].bind(target),
  });

/** What a newer or edited definition lets through, and this build cannot parse. */
const unparsable = (object: KubeObject): KubeObject =>
  ({ ...object, spec: { requirements: [{ key: 'example.com/tier', operator: 'Near' }] } }) as KubeObject;
const unparsed = (kube: Kube): Kube =>
  changed(kube, {
    list: (async (resource, options) => {
      const list = await kube.list(resource, options);
      return isClaims(resource) ? { ...list, items: list.items.map(unparsable) } : list;
    }) as Kube['list'],
    watch: async function* (resource, options) {
      for await (const event of kube.watch(resource, options) as AsyncIterable<WatchEvent<KubeObject>>)
        yield event.type !== 'BOOKMARK' && isClaims(resource) ? { ...event, object: unparsable(event.object) } : event;
    } as Kube['watch'],
  });

/** Says what is there at first, then nothing, and does not end. */
const frozen = (kube: Kube): Kube =>
  changed(kube, {
    watch: async function* (resource, options) {
      for await (const event of kube.watch(resource, options) as AsyncIterable<WatchEvent<KubeObject>>) {
        if (isClaims(resource) && event.type !== 'BOOKMARK') continue;
        yield event;
      }
    } as Kube['watch'],
  });

const empty = (kube: Kube): Kube =>
  changed(kube, {
    list: async (resource, options) => {
      const list = await kube.list(resource, options);
      return isClaims(resource) ? { ...list, items: [] } : list;
    },
  });

async function expectAlive(): Promise<void> {
  await bench.run(10 * minute);
  expect(cloud.deletions).toEqual([]);
  expect((await bench.list(resources.nodes)).map(({ metadata }) => metadata.name)).toEqual(['a', 'b', 'c']);
}

describe('machines of stored claims live on', () => {
  test('when this build cannot parse their claims', async () => {
    await open(unparsed);
    for (const name of ['a', 'b', 'c']) await live(name);
    await expectAlive();
  });

  test('when the watch of claims went silent before they were made', async () => {
    await open(frozen);
    for (const name of ['a', 'b', 'c']) await live(name, false);
    await expectAlive();
  });

  test('when lists of claims come back empty and the watch is silent, but their claims can be asked for by name', async () => {
    await open((kube) => empty(frozen(kube)));
    for (const name of ['a', 'b', 'c']) await live(name);
    await expectAlive();
  });

  test('when claims cannot be listed at all', async () => {
    const refuse = (): Promise<never> => Promise.reject(new Error('the answer is not a NodeClaimList'));
    await open((kube) =>
      changed(frozen(kube), {
        list: (resource, options) => (isClaims(resource) ? refuse() : kube.list(resource, options)),
      }),
    );
    for (const name of ['a', 'b', 'c']) await live(name, false);
    await expectAlive();
  });
});

test('a machine whose claim has another machine by now is an orphan, whatever its tag says', async () => {
  await open();
  await live('a');
  const second = cloud.launch(providerIdOf('i-second'), 'a');
  const labels = { 'karpenter.sh/nodepool': 'default' };
  cloud.machines.set(second.providerID, { ...second, labels, createdAt: bench.nowPlus(-minute) });
  await bench.run(minute);
  expect(cloud.deletions).toEqual([providerIdOf('i-second')]);
});
