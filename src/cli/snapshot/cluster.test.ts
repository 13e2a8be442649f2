import { describe, expect, test } from 'vitest';
import type { SnapshotObject } from '../../core/index.ts';
import { KubeError, type KubeObject, type ListOptions, type Resource } from '../../ports/index.ts';
import { collectSnapshot } from './cluster.ts';
import { machinesOf } from './machines.ts';
import { checkSnapshot } from './snapshot-document.ts';

const now = Date.parse('2026-11-16T04:00:00Z');

/** An API with these objects, in pages of two. */
function api(objects: Record<string, object[]>) {
  const asked: string[] = [];
  return {
    asked,
    async list<T extends KubeObject>(resource: Resource<T>, options: ListOptions = {}) {
      asked.push(resource.plural);
      const all = objects[resource.plural];
      if (all === undefined) throw new KubeError({ status: 404, reason: 'NotFound', message: 'not served' });
      const from = Number(options.continue ?? 0);
      const rest = from + 2 < all.length ? { continue: String(from + 2) } : {};
      return { items: all.slice(from, from + 2) as T[], resourceVersion: '1', ...rest };
    },
  };
}

const object = (kind: string, name: string, rest: object = {}) => ({
  apiVersion: 'v1',
  kind,
  metadata: { name },
  ...rest,
});

test('every page of every kind that is served is read, and Secrets are never asked for', async () => {
  const kube = api({ pods: [1, 2, 3, 4, 5].map((n) => object('Pod', `p${n}`, { spec: {} })), namespaces: [] });
  const snapshot = await collectSnapshot(kube, now);
  expect(snapshot.objects.items.map(({ metadata }) => metadata.name)).toEqual(['p1', 'p2', 'p3', 'p4', 'p5']);
  expect(snapshot.time).toBe('2026-11-16T04:00:00Z');
  expect(kube.asked).not.toContain('secrets');
  expect(kube.asked).not.toContain('configmaps');
  expect(checkSnapshot(snapshot).problems).toEqual([]);
});

test('managedFields and the copy that kubectl apply leaves are dropped', async () => {
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{"env": "secret"}', kept: 'yes' };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', annotations, managedFields: [{}] }, spec: {} };
  const [item] = (await collectSnapshot(api({ pods: [pod] }), now)).objects.items;
  expect(item?.metadata).toEqual({ name: 'a', annotations: { kept: 'yes' } });
});

test('a list that outlives the server’s memory is begun again', async () => {
  let calls = 0;
  const kube = api({ nodes: [1, 2, 3].map((n) => object('Node', `n${n}`)) });
  const flaky = {
    list<T extends KubeObject>(resource: Resource<T>, options: ListOptions = {}) {
      if (resource.plural === 'nodes' && ++calls === 2)
        throw new KubeError({ status: 410, reason: 'Expired', message: 'too old' });
      return kube.list(resource, options);
    },
  };
  expect((await collectSnapshot(flaky, now)).objects.items).toHaveLength(3);
});

test('a cluster that refuses is an error, not an empty snapshot', async () => {
  const refusing = {
    list: () => Promise.reject(new KubeError({ status: 403, reason: 'Forbidden', message: 'no' })),
  };
  await expect(collectSnapshot(refusing, now)).rejects.toThrow('no');
});

describe('machines', () => {
  const node = (
    name: string,
    rest: { labels?: object; deletionTimestamp?: string; taints?: object[] } = {},
  ): SnapshotObject => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      ...(rest.labels && { labels: rest.labels }),
      ...(rest.deletionTimestamp && { deletionTimestamp: 'x' }),
    },
    spec: { providerID: `kwok://${name}`, ...(rest.taints && { taints: rest.taints }) },
  });
  const claim = (name: string, providerID: string | undefined, metadata: object = {}): SnapshotObject => ({
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name, ...metadata },
    status: providerID === undefined ? {} : { providerID },
  });

  test('a Node and the NodeClaim of its provider id are one machine', () => {
    const labels = { 'karpenter.sh/nodepool': 'default', 'karpenter.sh/initialized': 'true' };
    expect(machinesOf([node('a', { labels }), claim('claim-a', 'kwok://a')])).toEqual([
      { node: 'a', nodeClaim: 'claim-a', providerID: 'kwok://a', initialized: true, markedForDeletion: false },
    ]);
  });

  test('a NodeClaim with a machine and no Node is one of its own; without a machine it is none', () => {
    expect(machinesOf([claim('launched', 'kwok://b'), claim('wished', undefined)])).toEqual([
      { nodeClaim: 'launched', providerID: 'kwok://b', initialized: false, markedForDeletion: false },
    ]);
  });

  test('an unmanaged Node is initialized; a managed one only when labelled so', () => {
    expect(machinesOf([node('a')])[0]?.initialized).toBe(true);
    expect(machinesOf([node('a', { labels: { 'karpenter.sh/nodepool': 'default' } })])[0]?.initialized).toBe(false);
  });

  test('what is being deleted or carries the disrupted taint is leaving', () => {
    const disrupted = node('a', { taints: [{ key: 'karpenter.sh/disrupted', effect: 'NoSchedule' }] });
    expect(machinesOf([disrupted])[0]?.markedForDeletion).toBe(true);
    expect(machinesOf([node('a', { deletionTimestamp: 'x' })])[0]?.markedForDeletion).toBe(true);
    const leaving = claim('c', 'kwok://a', { deletionTimestamp: 'x' });
    expect(machinesOf([node('a'), leaving])[0]?.markedForDeletion).toBe(true);
  });
});
