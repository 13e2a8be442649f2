import { describe, expect, test } from 'vitest';
import type { SnapshotObject } from '../../core/index.ts';
import { KubeError, type KubeObject, type ListOptions, type Resource } from '../../ports/index.ts';
import { collectSnapshot } from './cluster.ts';
import { settingsNote } from './controller-facts.ts';
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
      const all = objects[resource.plural] ?? (resource.group === '' ? [] : undefined);
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
  const { snapshot } = await collectSnapshot(kube, now);
  expect(snapshot.objects.items.map(({ metadata }) => metadata.name)).toEqual(['p1', 'p2', 'p3', 'p4', 'p5']);
  expect(snapshot.time).toBe('2026-11-16T04:00:00Z');
  expect(kube.asked).not.toContain('secrets');
  expect(kube.asked).not.toContain('configmaps');
  expect(checkSnapshot(snapshot).problems).toEqual([]);
});

test('managedFields and the copy that kubectl apply leaves are dropped', async () => {
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{"env": "secret"}', kept: 'yes' };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', annotations, managedFields: [{}] }, spec: {} };
  const [item] = (await collectSnapshot(api({ pods: [pod] }), now)).snapshot.objects.items;
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
  expect((await collectSnapshot(flaky, now)).snapshot.objects.items).toHaveLength(3);
});

test('a cluster that refuses is an error, not an empty snapshot', async () => {
  const refusing = {
    list: () => Promise.reject(new KubeError({ status: 403, reason: 'Forbidden', message: 'no' })),
  };
  await expect(collectSnapshot(refusing, now)).rejects.toThrow('no');
});

test('a server that knows no pods is not a Kubernetes API', async () => {
  const other = {
    list: () => Promise.reject(new KubeError({ status: 404, reason: 'NotFound', message: '404 page not found' })),
  };
  await expect(collectSnapshot(other, now)).rejects.toThrow(/which every Kubernetes API has: check the server address/);
});

describe('what a controller says about itself', () => {
  const settings = { provider: 'kwok', settings: { featureGates: { SpotToSpotConsolidation: true } } };
  const state = {
    poolState: [{ nodePool: 'default', pausedUntil: '2026-11-16T04:01:00Z' }],
    failedOfferings: [{ instanceTypes: ['m', 'n'], zone: 'a', capacityType: 'spot' }],
  };
  const lease = (annotations: Record<string, string>) => ({
    metadata: { name: 'karpenter-leader-election', namespace: 'kube-system', annotations },
  });
  const reading = (annotations: Record<string, string>) => collectSnapshot(api({ leases: [lease(annotations)] }), now);

  test('is part of the snapshot', async () => {
    const { snapshot, controller } = await reading({
      'kerf.sh/settings': JSON.stringify(settings),
      'kerf.sh/state': JSON.stringify(state),
    });
    const failedOfferings = ['m', 'n'].map((instanceType) => ({ instanceType, zone: 'a', capacityType: 'spot' }));
    expect(snapshot).toMatchObject({ settings: settings.settings, ...state, failedOfferings });
    expect(checkSnapshot(snapshot).problems).toEqual([]);
    expect(settingsNote(controller, [])).toBe(
      'settings of the controller with Lease kube-system/karpenter-leader-election, gates on: SpotToSpotConsolidation',
    );
  });

  test('says which nodes pods are about to come to', async () => {
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' }, spec: { providerID: 'kwok://a' } };
    const annotations = {
      'kerf.sh/settings': JSON.stringify(settings),
      'kerf.sh/state': JSON.stringify({ nominated: ['a'] }),
    };
    const { snapshot } = await collectSnapshot(api({ leases: [lease(annotations)], nodes: [node] }), now);
    expect(snapshot.nodeState).toMatchObject([{ node: 'a', nominated: true }]);
  });

  test('names a default spread: then Services and owners of pods are read, as far as they select pods', async () => {
    const constraint = { maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'DoNotSchedule' };
    const published = { provider: 'kwok', settings: { defaultTopologySpreadConstraints: [constraint] } };
    const selector = { matchLabels: { app: 'web' } };
    const kube = (annotations: Record<string, string>) =>
      api({
        leases: [lease(annotations)],
        services: [object('Service', 'web', { spec: { selector: { app: 'web' }, clusterIP: '10.0.0.1' } })],
        replicasets: [
          object('ReplicaSet', 'web-new', { spec: { replicas: 2, selector, template: {} }, status: {} }),
          object('ReplicaSet', 'web-old', { spec: { replicas: 0, selector, template: {} } }),
        ],
      });
    const { snapshot } = await collectSnapshot(kube({ 'kerf.sh/settings': JSON.stringify(published) }), now);
    expect(snapshot.objects.items).toMatchObject([
      { kind: 'Service', metadata: { name: 'web' }, spec: { selector: { app: 'web' } } },
      { kind: 'ReplicaSet', metadata: { name: 'web-new' }, spec: { selector } },
    ]);
    expect(JSON.stringify(snapshot.objects)).not.toMatch(/clusterIP|template|status/);
    expect(checkSnapshot(snapshot)).toMatchObject({ problems: [], unknownKinds: new Map() });
    const without = kube({ 'kerf.sh/settings': JSON.stringify(settings) });
    await collectSnapshot(without, now);
    expect(without.asked).not.toContain('services');
    expect(without.asked).toContain('csidrivers');
    expect(without.asked).toContain('csistoragecapacities');
  });

  test('has overlays on: then they are read, because they change prices and capacity', async () => {
    const overlay = object('NodeOverlay', 'discount', { spec: { requirements: [], priceAdjustment: '-10%' } });
    const read = async (isOn: boolean) => {
      const published = JSON.stringify({ provider: 'kwok', settings: { featureGates: { NodeOverlay: isOn } } });
      const kube = api({ leases: [lease({ 'kerf.sh/settings': published })], nodeoverlays: [overlay] });
      return (await collectSnapshot(kube, now)).snapshot.objects.items.map(({ kind }) => kind);
    };
    expect(await read(true)).toEqual(['NodeOverlay']);
    expect(await read(false)).toEqual([]);
  });

  test('gives the time of a cluster whose time passes faster', async () => {
    const clock = { time: '2027-01-01T00:00:00Z', realTime: '2026-11-16T03:59:00Z', speed: 60 };
    const { snapshot } = await reading({
      'kerf.sh/settings': JSON.stringify(settings),
      'kerf.sh/state': JSON.stringify({ clock }),
    });
    expect(snapshot.time).toBe('2027-01-01T01:00:00Z');
    const paused = await reading({
      'kerf.sh/settings': JSON.stringify(settings),
      'kerf.sh/state': JSON.stringify({ clock: { ...clock, speed: 0 } }),
    });
    expect(paused.snapshot.time).toBe('2027-01-01T00:00:00Z');
  });

  test('is not there, or cannot be read: then defaults count, and that is said', async () => {
    const { snapshot, controller } = await reading({ 'kerf.sh/settings': '{"provider":' });
    expect(snapshot.settings).toBeUndefined();
    expect(settingsNote(controller, ['--feature-gates'])).toMatch(
      /^no Lease says what a controller was set to: assumed the default settings, and the flags --feature-gates; /,
    );
    expect(settingsNote({ kind: 'forbidden' }, [])).toMatch(/^the Leases of the cluster may not be read: assumed/);
  });
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

  test('a NodeClaim without a Node is a machine of its own, launched or not, unless it is deleted before', () => {
    const given = claim('given-up', undefined, { deletionTimestamp: 'x' });
    expect(machinesOf([claim('launched', 'kwok://b'), claim('wished', undefined), given])).toEqual([
      { nodeClaim: 'launched', providerID: 'kwok://b', initialized: false, markedForDeletion: false },
      { nodeClaim: 'wished', initialized: false, markedForDeletion: false },
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
