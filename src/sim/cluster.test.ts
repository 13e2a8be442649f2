// The API machinery over time, on a virtual clock: what belongs to the API itself happens without anyone else.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as settle } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { VirtualClock } from '../base/index.ts';
import { isKubeError, type KubeObject, type Resource, resources } from '../ports/index.ts';
import { patch } from './api/verbs/patch.ts';
import { createCluster, type EmbeddedCluster } from './cluster.ts';
import { SimKube } from './sim-kube.ts';

const configMaps: Resource = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true };
const crds: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
};
const widgets: Resource = { group: 'x.io', version: 'v1', plural: 'widgets', kind: 'Widget', namespaced: false };

let clock: VirtualClock;
let cluster: EmbeddedCluster;
let kube: SimKube;
beforeEach(async () => {
  clock = new VirtualClock({ settle });
  cluster = await createCluster({ clock, seed: 3 });
  kube = new SimKube(cluster.machinery);
});

const configMap = (name: string, metadata: object = {}): KubeObject => ({
  metadata: { name, namespace: 'default', ...metadata },
});
const ref = (name: string) => ({ name, namespace: 'default' });
const exists = (resource: Resource, name: string): Promise<boolean> =>
  kube.get(resource, resource.namespaced ? ref(name) : { name }).then(
    () => true,
    (thrown: unknown) => {
      if (isKubeError(thrown, 'NotFound')) return false;
      throw thrown;
    },
  );
const owner = (object: KubeObject, block = false) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name: object.metadata.name ?? '',
  uid: object.metadata.uid ?? '',
  ...(block && { blockOwnerDeletion: true }),
});
const pod = (name: string, spec: object = {}, labels: Record<string, string> = {}): KubeObject =>
  ({
    metadata: { name, namespace: 'default', labels },
    spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
  }) as KubeObject;

test('the same seed and the same calls give the same cluster to the byte', async () => {
  const life = async (): Promise<string> => {
    const time = new VirtualClock({ settle });
    const other = await createCluster({ clock: time, seed: 42 });
    const client = new SimKube(other.machinery);
    for (let index = 0; index < 20; index += 1) {
      await client.create(configMaps, { metadata: { generateName: 'c-', namespace: 'default' } });
      await time.runFor(1_000);
    }
    return JSON.stringify(await client.list(configMaps));
  };
  expect(await life()).toBe(await life());
});

test("time in metadata is the clock's", async () => {
  await clock.runFor(3_600_000);
  const { metadata } = await kube.create(configMaps, configMap('a'));
  expect(metadata.creationTimestamp).toBe('2026-01-01T01:00:00Z');
});

test('a chain of owners goes from the top', async () => {
  const top = await kube.create(configMaps, configMap('top'));
  const middle = await kube.create(configMaps, configMap('middle', { ownerReferences: [owner(top)] }));
  await kube.create(configMaps, configMap('leaf', { ownerReferences: [owner(middle)] }));
  await kube.delete(configMaps, ref('top'));
  await clock.runFor(0);
  expect(await exists(configMaps, 'middle')).toBe(false);
  expect(await exists(configMaps, 'leaf')).toBe(false);
});

test('foreground deletion goes from the bottom', async () => {
  const top = await kube.create(configMaps, configMap('top'));
  const middle = await kube.create(configMaps, configMap('middle', { ownerReferences: [owner(top, true)] }));
  await kube.create(configMaps, configMap('leaf', { ownerReferences: [owner(middle, true)], finalizers: ['a.io/x'] }));
  await kube.delete(configMaps, ref('top'), { propagationPolicy: 'Foreground' });
  await clock.runFor(0);
  expect(await exists(configMaps, 'top')).toBe(true);
  expect(await exists(configMaps, 'middle')).toBe(true);
  await kube.patch(configMaps, ref('leaf'), { type: 'merge', body: { metadata: { finalizers: null } } });
  await clock.runFor(0);
  expect(await exists(configMaps, 'leaf')).toBe(false);
  expect(await exists(configMaps, 'middle')).toBe(false);
  expect(await exists(configMaps, 'top')).toBe(false);
});

test('a pod on a node waits out its grace, and the wait can only be shortened', async () => {
  await kube.create(resources.pods, pod('p', { nodeName: 'n', terminationGracePeriodSeconds: 30 }));
  await kube.delete(resources.pods, ref('p'));
  const marked = await kube.get(resources.pods, ref('p'));
  expect(marked.metadata).toMatchObject({ deletionGracePeriodSeconds: 30, deletionTimestamp: '2026-01-01T00:00:30Z' });
  await kube.delete(resources.pods, ref('p'), { gracePeriodSeconds: 60 });
  expect((await kube.get(resources.pods, ref('p'))).metadata.deletionGracePeriodSeconds).toBe(30);
  await kube.delete(resources.pods, ref('p'), { gracePeriodSeconds: 0 });
  expect(await exists(resources.pods, 'p')).toBe(false);
});

test('evictions spend a budget one by one and are refused when it is spent', async () => {
  const running = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  for (const name of ['a', 'b', 'c']) {
    await kube.create(resources.pods, pod(name, { nodeName: 'n' }, { app: 'x' }));
    await kube.patch(
      resources.pods,
      ref(name),
      { type: 'merge', body: { status: running } },
      { subresource: 'status' },
    );
  }
  const budget = {
    metadata: { name: 'b', namespace: 'default' },
    spec: { maxUnavailable: 2, selector: { matchLabels: { app: 'x' } } },
  };
  await kube.create(resources.podDisruptionBudgets, budget);
  await expect(kube.evict(ref('a'))).rejects.toMatchObject({ reason: 'TooManyRequests', retryAfterSeconds: 10 });
  const status = {
    observedGeneration: 1,
    disruptionsAllowed: 2,
    currentHealthy: 3,
    desiredHealthy: 1,
    expectedPods: 3,
  };
  await kube.patch(
    resources.podDisruptionBudgets,
    ref('b'),
    { type: 'merge', body: { status } },
    { subresource: 'status' },
  );
  await kube.evict(ref('a'));
  await kube.evict(ref('b'));
  await expect(kube.evict(ref('c'))).rejects.toMatchObject({ reason: 'TooManyRequests' });
  const spent = await kube.get(resources.podDisruptionBudgets, ref('b'));
  expect(spent.status).toMatchObject({
    disruptionsAllowed: 0,
    disruptedPods: { a: expect.any(String), b: expect.any(String) },
  });
});

test('a definition is served as soon as it is stored, validates what it says, and goes with its objects', async () => {
  const schema = {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          size: { type: 'integer', minimum: 1, default: 5 },
          fixed: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'is fixed' }] },
        },
      },
    },
  };
  await kube.create(crds, {
    metadata: { name: 'widgets.x.io' },
    spec: {
      group: 'x.io',
      scope: 'Cluster',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  } as KubeObject);
  const made = await kube.create(widgets, { metadata: { name: 'w' }, spec: { fixed: 'a', other: 1 } } as KubeObject);
  expect(made).toMatchObject({ kind: 'Widget', spec: { size: 5, fixed: 'a' } });
  expect(made).not.toHaveProperty('spec.other');
  await expect(
    kube.patch(widgets, { name: 'w' }, { type: 'merge', body: { spec: { fixed: 'b' } } }),
  ).rejects.toMatchObject({ reason: 'Invalid' });
  await clock.runFor(0);
  expect(await kube.get(crds, { name: 'widgets.x.io' })).toMatchObject({
    status: { conditions: [{ type: 'NamesAccepted' }, { type: 'Established', status: 'True' }] },
  });
  await kube.delete(crds, { name: 'widgets.x.io' });
  await clock.runFor(1_000);
  expect(await exists(crds, 'widgets.x.io')).toBe(false);
  await expect(kube.list(widgets)).rejects.toMatchObject({ reason: 'NotFound' });
});

test('a definition whose rule cannot be compiled is refused, and says which', async () => {
  const rule = { rule: 'self.size <', message: 'never' };
  const schema = { type: 'object', properties: { spec: { type: 'object', 'x-kubernetes-validations': [rule] } } };
  const made = kube.create(crds, {
    metadata: { name: 'widgets.x.io' },
    spec: {
      group: 'x.io',
      scope: 'Cluster',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  } as KubeObject);
  await expect(made).rejects.toThrow(/properties\.spec\.x-kubernetes-validations.*compilation failed/s);
});

test('a namespace takes nothing new while it ends, and ends when it is empty', async () => {
  await kube.create(resources.namespaces, { metadata: { name: 'short' } });
  await kube.create(configMaps, { metadata: { name: 'held', namespace: 'short', finalizers: ['a.io/x'] } });
  await kube.delete(resources.namespaces, { name: 'short' });
  await clock.runFor(0);
  await expect(kube.create(configMaps, { metadata: { name: 'late', namespace: 'short' } })).rejects.toMatchObject({
    reason: 'Forbidden',
  });
  expect(await exists(resources.namespaces, 'short')).toBe(true);
  await kube.patch(
    configMaps,
    { name: 'held', namespace: 'short' },
    { type: 'merge', body: { metadata: { finalizers: null } } },
  );
  await clock.runFor(0);
  expect(await exists(resources.namespaces, 'short')).toBe(false);
});

test('what is handed out is what is stored: unchanged parts keep their identity between versions', async () => {
  const before = await kube.create(resources.pods, pod('p'));
  await kube.patch(
    resources.pods,
    ref('p'),
    { type: 'merge', body: { status: { phase: 'Running' } } },
    { subresource: 'status' },
  );
  const after = await kube.get(resources.pods, ref('p'));
  expect(after).not.toBe(before);
  expect(after.spec).toBe((before as typeof after).spec);
  expect(Object.isFrozen(after.spec)).toBe(true);
});

test("a server-side apply keeps other owners' fields and names whom it would overrule", async () => {
  const apply = (manager: string, data: object, force = false) =>
    kube.patch(
      configMaps,
      ref('s'),
      { type: 'apply', body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 's' }, data }, force },
      { fieldManager: manager },
    );
  await apply('a', { x: '1', y: '1' });
  await apply('b', { z: '1' });
  await apply('a', { x: '2' });
  expect(await kube.get(configMaps, ref('s'))).toMatchObject({ data: { x: '2', z: '1' } });
  expect(await kube.get(configMaps, ref('s'))).not.toHaveProperty('data.y');
  await expect(apply('b', { x: '9', z: '1' })).rejects.toMatchObject({
    reason: 'Conflict',
    message: 'Apply failed with 1 conflict: conflict with "a": .data.x',
  });
  await apply('b', { x: '9', z: '1' }, true);
  await expect(apply('a', { x: '2' })).rejects.toMatchObject({ reason: 'Conflict' });
});

test('events are forgotten an hour after they were last written', async () => {
  const events: Resource = { group: '', version: 'v1', plural: 'events', kind: 'Event', namespaced: true };
  const event = (name: string): KubeObject =>
    ({ metadata: { name, namespace: 'default' }, involvedObject: { namespace: 'default' } }) as KubeObject;
  await kube.create(events, event('old'));
  await kube.create(events, event('renewed'));
  await clock.runFor(30 * 60_000);
  await kube.patch(events, ref('renewed'), { type: 'merge', body: { count: 2 } });
  await clock.runFor(30 * 60_000);
  expect(await exists(events, 'old')).toBe(false);
  expect(await exists(events, 'renewed')).toBe(true);
  await clock.runFor(30 * 60_000);
  expect(await exists(events, 'renewed')).toBe(false);
});

test('an apply that says the same in other words is neither a change nor a conflict', async () => {
  const deployment = (cpu: unknown): object => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd' },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: {
        metadata: { labels: { a: 'b' } },
        spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu } } }] },
      },
    },
  });
  const apply = (manager: string, cpu: unknown) =>
    kube.patch(resources.deployments, ref('d'), { type: 'apply', body: deployment(cpu) }, { fieldManager: manager });
  const first = await apply('a', '500m');
  const second = await apply('a', 0.5);
  expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  await apply('b', '0.5');
});

test('whoever makes the clock of a kept cluster learns the latest moment it speaks of', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kerf-cluster-'));
  const stateFile = join(folder, 'state');
  const reported: (number | undefined)[] = [];
  const open = () =>
    createCluster({
      clock: (latestMs) => {
        reported.push(latestMs);
        return clock;
      },
      stateFile,
    });
  const first = await open();
  await clock.runFor(60_000);
  const renewTime = new Date(clock.now() + 5_000).toISOString().replace('Z', '000Z');
  const client = new SimKube(first.machinery);
  await client.create(resources.leases, { metadata: { name: 'node', namespace: 'default' }, spec: { renewTime } });
  await first.stop();
  await (await open()).stop();
  expect(reported).toEqual([undefined, clock.now() + 5_000]);
  rmSync(folder, { recursive: true });
});

test('a cluster kept in a file comes back with its objects, its definitions and its counters', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kerf-cluster-'));
  const stateFile = join(folder, 'state');
  const open = async () => {
    const made = await createCluster({ clock, seed: 9, stateFile });
    return { made, client: new SimKube(made.machinery) };
  };
  const first = await open();
  await first.client.create(crds, {
    metadata: { name: 'widgets.x.io' },
    spec: {
      group: 'x.io',
      scope: 'Cluster',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  } as KubeObject);
  const widget = await first.client.create(widgets, { metadata: { name: 'w' } });
  const owned = await first.client.create(
    configMaps,
    configMap('child', { ownerReferences: [{ ...owner(widget), apiVersion: 'x.io/v1', kind: 'Widget' }] }),
  );
  const before = await first.client.list(configMaps);
  await first.made.stop();
  const second = await open();
  expect((await second.client.list(configMaps)).items).toEqual(before.items);
  expect(await second.client.get(widgets, { name: 'w' })).toEqual(widget);
  const fresh = await second.client.create(configMaps, configMap('fresh'));
  expect(Number(fresh.metadata.resourceVersion)).toBeGreaterThan(Number(owned.metadata.resourceVersion));
  expect(fresh.metadata.uid).not.toBe(owned.metadata.uid);
  await expect(async () => {
    for await (const event of second.client.watch(configMaps, {
      resourceVersion: widget.metadata.resourceVersion ?? '',
    }))
      void event;
  }).rejects.toMatchObject({ reason: 'Expired' });
  // Garbage collection knows the owners it had before.
  await second.client.delete(widgets, { name: 'w' });
  await clock.runFor(0);
  await expect(second.client.get(configMaps, ref('child'))).rejects.toMatchObject({ reason: 'NotFound' });
  await second.made.stop();
  rmSync(folder, { recursive: true });
});

test('a resize changes the resources of containers and nothing else', async () => {
  await kube.create(resources.pods, pod('p', { nodeName: 'n' }));
  const body = { spec: { containers: [{ name: 'c', image: 'other', resources: { requests: { cpu: '2' } } }] } };
  const definition = cluster.machinery.registry.find('', 'v1', 'pods');
  if (definition === undefined) throw new Error('no pods');
  patch(cluster.machinery, { definition, ...ref('p'), subresource: 'resize' }, { type: 'strategic', body }, {});
  expect(await kube.get(resources.pods, ref('p'))).toMatchObject({
    metadata: { generation: 2 },
    spec: { nodeName: 'n', containers: [{ image: 'i', resources: { requests: { cpu: '2' } } }] },
  });
});
