import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { nodeClaims } from '../../controllers/index.ts';
import { CloudError } from '../../ports/index.ts';
import { type AwsBench, makeInstance, openAwsBench } from '../aws-bench.testing.ts';
import { taggingController } from './controller.ts';

/** As an instance is launched. */
const ours = { 'kubernetes.io/cluster/one': 'owned', 'karpenter.sh/nodepool': 'default' };

let bench: AwsBench;
let instances: Map<string, Record<string, string>>;
let added: Record<string, string>[];
beforeEach(async () => {
  instances = new Map([['i-a', ours]]);
  added = [];
  const tags = {
    async read(id: string) {
      const found = instances.get(id);
      if (found === undefined) throw new CloudError('notFound', id);
      return found;
    },
    async add(id: string, more: Readonly<Record<string, string>>) {
      added.push({ ...more });
      instances.set(id, { ...(await this.read(id)), ...more });
    },
  };
  bench = await openAwsBench({ controllers: (context) => [taggingController(context, { tags, clusterName: 'one' })] });
});
afterEach(() => bench.close());

const marked = async (name = 'a'): Promise<boolean> => {
  const { annotations = {} } = (await bench.claim(name)).metadata;
  return (
    annotations['karpenter.k8s.aws/tagged'] === 'true' &&
    annotations['compatibility.karpenter.k8s.aws/cluster-name-tagged'] === 'true'
  );
};
const all = { Name: 'a', 'karpenter.sh/nodeclaim': 'a', 'eks:eks-cluster-name': 'one' };

describe('tags of an instance', () => {
  test('nothing before the node has a name', async () => {
    await makeInstance(bench, 'a');
    await bench.apply(nodeClaims, { metadata: { name: 'b' }, spec: (await bench.claim('a')).spec });
    await bench.apply(nodeClaims, { metadata: { name: 'b' }, status: { providerID: 'aws:///us-east-1a/i-b' } });
    await bench.run(5_000);
    expect(await marked('b')).toBe(false);
    expect(added).toHaveLength(1);
  });

  test('nothing for a provider id that names no instance', async () => {
    await makeInstance(bench, 'a');
    await bench.run(5_000);
    added.length = 0;
    await bench.machine('default', 'odd', { claim: { status: { providerID: 'odd', nodeName: 'odd' } } });
    await bench.run(5_000);
    expect([added.length, await marked('odd')]).toEqual([0, false]);
    expect(bench.log.lines.map(({ message }) => message)).toContain('cannot tag instance');
  });

  test('nothing for a claim that is being deleted', async () => {
    instances.clear();
    await makeInstance(bench, 'a');
    await bench.remove(nodeClaims, 'a');
    instances.set('i-a', ours);
    await bench.apply(nodeClaims, { metadata: { name: 'a', labels: { touched: 'yes' } } });
    await bench.run(5_000);
    expect([added.length, await marked()]).toEqual([0, false]);
  });

  test('nothing for an instance that is gone, and no error', async () => {
    instances.clear();
    await makeInstance(bench, 'a');
    await bench.run(5_000);
    expect([added.length, await marked()]).toEqual([0, false]);
    expect(bench.log.lines.filter(({ error }) => error !== undefined)).toEqual([]);
  });

  const keys = Object.keys(all) as (keyof typeof all)[];
  const subsets = Array.from({ length: 8 }, (_, bits) => keys.filter((_, index) => bits & (1 << index)));
  test.each(subsets)('tags that are there (%s %s %s) keep their values, the others are added', async (...present) => {
    const mine = Object.fromEntries(present.map((key) => [key, 'mine']));
    instances.set('i-a', { ...ours, ...mine });
    await makeInstance(bench, 'a');
    await bench.run(5_000);
    expect(instances.get('i-a')).toEqual({ ...ours, ...all, ...mine });
    expect(added).toHaveLength(present.length === 3 ? 0 : 1);
    expect(await marked()).toBe(true);
  });
});

test('claims are tagged one after the other, a second apart, and once', async () => {
  for (const name of ['a', 'b', 'c']) instances.set(`i-${name}`, ours);
  for (const name of ['a', 'b', 'c']) await makeInstance(bench, name);
  await bench.run(1_500);
  expect(added.length).toBeLessThan(3);
  await bench.run(5_000);
  expect(added).toHaveLength(3);
  await bench.apply(nodeClaims, { metadata: { name: 'a', labels: { touched: 'yes' } } });
  await bench.run(5_000);
  expect(added).toHaveLength(3);
});

test.each<[string, Record<string, string>]>([
  ['nothing', {}],
  ['another cluster', { 'eks:eks-cluster-name': 'two', 'karpenter.sh/nodepool': 'default' }],
  ['this cluster but no pool', { 'eks:eks-cluster-name': 'one', 'kubernetes.io/cluster/one': 'owned' }],
  ['a pool but no cluster', { 'karpenter.sh/nodepool': 'default' }],
])('an instance that a claim names but that is tagged with %s is not made ours', async (_, tags) => {
  instances.set('i-a', tags);
  await makeInstance(bench, 'a');
  await bench.run(5_000);
  expect([added.length, await marked()]).toEqual([0, false]);
  expect(bench.eventsOf('a')).toEqual(['NodeClaim InstanceForeign']);
});
