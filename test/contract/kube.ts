// The contract of the Kube port (src/ports/kube.ts) as tests, to be run by every adapter. The adapter's API needs the
// built-in kinds, a namespace of its own to work in, and nothing that reacts to what the suite does.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Kube,
  type KubeObject,
  type Lease,
  type Node,
  type ObjectMeta,
  type Pod,
  type PodDisruptionBudget,
  resources,
  type WatchEvent,
  type WatchOptions,
} from '../../src/ports/index.ts';

export interface KubeUnderTest {
  kube: Kube;
  /** An existing namespace in which pods can be created. */
  namespace: string;
  /** Makes the API forget its history, and returns a version from before that. */
  forgetHistory(): Promise<string>;
  tearDown?(): Promise<void>;
}

const { leases, nodes, pods, podDisruptionBudgets } = resources;

export function kubeContract(name: string, setUp: () => Promise<KubeUnderTest>): void {
  describe(`contract of the Kube port: ${name}`, () => {
    let kube: Kube;
    let namespace: string;
    let forgetHistory: KubeUnderTest['forgetHistory'];
    let tearDown: KubeUnderTest['tearDown'];
    const startedNodes: string[] = [];

    beforeAll(async () => {
      ({ kube, namespace, forgetHistory, tearDown } = await setUp());
    });
    afterAll(async () => {
      for (const node of startedNodes) await kube.delete(nodes, { name: node }).catch(() => {});
      await tearDown?.();
    });

    const ref = (objectName: string) => ({ name: objectName, namespace });
    const lease = (objectName: string, meta: ObjectMeta = {}, holderIdentity = 'a'): Lease => ({
      metadata: { name: objectName, namespace, ...meta },
      spec: { holderIdentity },
    });
    const createLease = (objectName: string, meta?: ObjectMeta) => kube.create(leases, lease(objectName, meta));
    const createNode = async (objectName: string, fields: Partial<Node> = {}): Promise<Node> => {
      startedNodes.push(objectName);
      return kube.create(nodes, { metadata: { name: objectName }, ...fields });
    };
    const createPod = (objectName: string, meta: ObjectMeta = {}): Promise<Pod> =>
      kube.create(pods, {
        metadata: { name: objectName, namespace, ...meta },
        spec: { containers: [{ name: 'main', image: 'example.com/none' }] },
      });

    test('a created object comes back whole: kind, uid, version and time, without managedFields', async () => {
      const made = await createLease('created', { labels: { a: 'b' } });
      expect(made).toMatchObject({
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name: 'created', namespace, labels: { a: 'b' } },
        spec: { holderIdentity: 'a' },
      });
      expect(made.metadata.uid).toMatch(/.+/);
      expect(made.metadata.resourceVersion).toMatch(/.+/);
      expect(made.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      expect(made.metadata).not.toHaveProperty('managedFields');
      expect(await kube.get(leases, ref('created'))).toEqual(made);
    });

    test('creating what exists fails with AlreadyExists, asking for what does not with NotFound', async () => {
      await createLease('twice');
      await expect(createLease('twice')).rejects.toMatchObject({ reason: 'AlreadyExists', status: 409 });
      await expect(kube.get(leases, ref('missing'))).rejects.toMatchObject({ reason: 'NotFound', status: 404 });
      await expect(kube.delete(leases, ref('missing'))).rejects.toMatchObject({ reason: 'NotFound' });
      await expect(kube.patch(leases, ref('missing'), { type: 'merge', body: {} })).rejects.toMatchObject({
        reason: 'NotFound',
        retryable: false,
      });
    });

    test('generateName gives every object a name of its own', async () => {
      const make = () => kube.create(leases, { metadata: { generateName: 'made-', namespace }, spec: {} });
      const names = [await make(), await make()].map(({ metadata }) => metadata.name ?? '');
      expect(names.every((made) => made.startsWith('made-') && made.length > 5)).toBe(true);
      expect(new Set(names).size).toBe(2);
    });

    test('lists select by label and field, and their items carry apiVersion and kind', async () => {
      for (const each of ['x', 'y', 'z']) await createLease(`list-${each}`, { labels: { suite: 'list', each } });
      const namesOf = ({ items }: { items: KubeObject[] }) => items.map(({ metadata }) => metadata.name).sort();
      const all = await kube.list(leases, { namespace, labelSelector: 'suite=list' });
      expect(namesOf(all)).toEqual(['list-x', 'list-y', 'list-z']);
      expect(all.items.every((item) => item.kind === 'Lease' && item.apiVersion === 'coordination.k8s.io/v1')).toBe(
        true,
      );
      expect(namesOf(await kube.list(leases, { namespace, labelSelector: 'suite=list,each in (x,z)' }))).toEqual([
        'list-x',
        'list-z',
      ]);
      expect(namesOf(await kube.list(leases, { namespace, labelSelector: 'suite=list,each notin (x)' }))).toEqual([
        'list-y',
        'list-z',
      ]);
      expect(namesOf(await kube.list(leases, { namespace, fieldSelector: 'metadata.name=list-y' }))).toEqual([
        'list-y',
      ]);
      expect(namesOf(await kube.list(leases, { labelSelector: 'suite=list' })).length).toBe(3);
    });

    test('pages together are the whole list, in order, without repeats', async () => {
      for (let index = 0; index < 7; index++) await createLease(`page-${index}`, { labels: { suite: 'page' } });
      const seen: string[] = [];
      let token: string | undefined;
      let calls = 0;
      do {
        const page = await kube.list(leases, {
          namespace,
          labelSelector: 'suite=page',
          limit: 3,
          ...(token === undefined ? {} : { continue: token }),
        });
        expect(page.items.length).toBeLessThanOrEqual(3);
        seen.push(...page.items.map(({ metadata }) => metadata.name ?? ''));
        token = page.continue;
        calls++;
      } while (token !== undefined);
      expect(seen).toEqual(Array.from({ length: 7 }, (_, index) => `page-${index}`));
      expect(calls).toBe(3);
    });

    /** The events of a watch until `isEnough`, then leaves it. */
    const eventsUntil = async (
      options: WatchOptions,
      isEnough: (events: WatchEvent<Lease>[]) => boolean,
      meanwhile: () => Promise<unknown> = async () => {},
    ): Promise<WatchEvent<Lease>[]> => {
      const events: WatchEvent<Lease>[] = [];
      const changes = meanwhile();
      for await (const event of kube.watch(leases, { namespace, timeoutSeconds: 60, ...options })) {
        events.push(event);
        if (isEnough(events)) break;
      }
      await changes;
      return events;
    };
    const objectsOf = (events: WatchEvent<Lease>[]) =>
      events.flatMap((event) => (event.type === 'BOOKMARK' ? [] : [event]));

    test('a watch from a version yields what happened after it, in order', async () => {
      const { resourceVersion } = await kube.list(leases, { namespace });
      await createLease('watched', { labels: { suite: 'watch' } });
      await kube.patch(leases, ref('watched'), { type: 'merge', body: { spec: { holderIdentity: 'b' } } });
      const events = await eventsUntil(
        { resourceVersion, labelSelector: 'suite=watch' },
        (all) => objectsOf(all).length === 3,
        () => kube.delete(leases, ref('watched')),
      );
      const objects = objectsOf(events);
      expect(objects.map(({ type, object }) => `${type} ${object.spec?.holderIdentity}`)).toEqual([
        'ADDED a',
        'MODIFIED b',
        'DELETED b',
      ]);
      expect(objects.every(({ object }) => object.kind === 'Lease')).toBe(true);
      expect(objects.every(({ object }) => !('managedFields' in object.metadata))).toBe(true);
      const versions = objects.map(({ object }) => object.metadata.resourceVersion);
      expect(new Set(versions).size).toBe(3);
    });

    test('an object that stops matching the selector of a watch is DELETED for it', async () => {
      await createLease('leaving', { labels: { suite: 'leaving' } });
      const { resourceVersion } = await kube.list(leases, { namespace });
      await kube.patch(leases, ref('leaving'), { type: 'merge', body: { metadata: { labels: { suite: 'gone' } } } });
      const [event] = objectsOf(
        await eventsUntil({ resourceVersion, labelSelector: 'suite=leaving' }, (all) => objectsOf(all).length === 1),
      );
      expect(event).toMatchObject({ type: 'DELETED', object: { metadata: { name: 'leaving' } } });
    });

    test('a streaming list yields the objects as ADDED, an end mark with a version, then changes', async () => {
      await createLease('stream-a', { labels: { suite: 'stream' } });
      await createLease('stream-b', { labels: { suite: 'stream' } });
      let later: Promise<unknown> | undefined;
      const events = await eventsUntil({ sendInitialEvents: true, labelSelector: 'suite=stream' }, (all) => {
        if (all.at(-1)?.type === 'BOOKMARK') later ??= createLease('stream-c', { labels: { suite: 'stream' } });
        return objectsOf(all).length === 3;
      });
      await later;
      const end = events.findIndex((event) => event.type === 'BOOKMARK' && event.initialEventsEnd);
      expect(end).toBe(2);
      expect(events[end]).toMatchObject({ resourceVersion: expect.stringMatching(/.+/) });
      const nameOf = (event: WatchEvent<Lease> | undefined) =>
        event === undefined || event.type === 'BOOKMARK' ? '' : event.object.metadata.name;
      expect(events.slice(0, end).map(nameOf).sort()).toEqual(['stream-a', 'stream-b']);
      expect(nameOf(objectsOf(events).at(-1))).toBe('stream-c');
    });

    test('a watch from a version that is gone throws Expired', async () => {
      const resourceVersion = await forgetHistory();
      await expect(eventsUntil({ resourceVersion }, () => true)).rejects.toMatchObject({
        reason: 'Expired',
        status: 410,
      });
    });

    test('a watch ends by itself after its time limit', async () => {
      const { resourceVersion } = await kube.list(leases, { namespace });
      const limited = { resourceVersion, timeoutSeconds: 1, labelSelector: 'suite=none' };
      expect(objectsOf(await eventsUntil(limited, () => false))).toEqual([]);
    });

    test('writing over a newer version fails with Conflict, for replace and for patch', async () => {
      const old = await createLease('moving');
      const moved = await kube.replace(leases, { ...old, spec: { holderIdentity: 'b' } });
      expect(moved.metadata.resourceVersion).not.toBe(old.metadata.resourceVersion);
      await expect(kube.replace(leases, { ...old, spec: { holderIdentity: 'c' } })).rejects.toMatchObject({
        reason: 'Conflict',
        status: 409,
      });
      const { resourceVersion } = old.metadata;
      const body = { metadata: { resourceVersion }, spec: { holderIdentity: 'c' } };
      await expect(kube.patch(leases, ref('moving'), { type: 'merge', body })).rejects.toMatchObject({
        reason: 'Conflict',
      });
      expect((await kube.get(leases, ref('moving'))).spec?.holderIdentity).toBe('b');
    });

    test('a write that changes nothing keeps the version', async () => {
      const old = await createLease('still');
      const patched = await kube.patch(leases, ref('still'), {
        type: 'merge',
        body: { spec: { holderIdentity: 'a' } },
      });
      expect(patched.metadata.resourceVersion).toBe(old.metadata.resourceVersion);
    });

    test('merge patches set and, with null, remove; JSON patches test before they act', async () => {
      await createLease('patched', { labels: { keep: '1', drop: '1' } });
      const merged = await kube.patch(leases, ref('patched'), {
        type: 'merge',
        body: { metadata: { labels: { drop: null, add: '1' } } },
      });
      expect(merged.metadata.labels).toEqual({ keep: '1', add: '1' });
      const holder = (value: string) => ({ op: 'test', path: '/spec/holderIdentity', value });
      const replaced = { op: 'replace', path: '/spec/holderIdentity', value: 'z' };
      const patched = await kube.patch(leases, ref('patched'), { type: 'json', body: [holder('a'), replaced] });
      expect(patched.spec?.holderIdentity).toBe('z');
      const refused = kube.patch(leases, ref('patched'), { type: 'json', body: [holder('a'), replaced] });
      await expect(refused).rejects.toMatchObject({ reason: 'Invalid' });
    });

    test('strategic patches merge lists by their key', async () => {
      const name = `${namespace}-strategic`;
      await createNode(name, { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } });
      const first = { type: 'Ready', status: 'False', reason: 'a' };
      const body = { status: { conditions: [first] } };
      await kube.patch(nodes, { name }, { type: 'strategic', body }, { subresource: 'status' });
      const second = { type: 'Checked', status: 'True' };
      const more = { status: { conditions: [{ type: 'Ready', status: 'True' }, second] } };
      const node = await kube.patch(nodes, { name }, { type: 'strategic', body: more }, { subresource: 'status' });
      const conditions = node.status?.conditions ?? [];
      expect(conditions.map(({ type, status, reason }) => [type, status, reason]).sort()).toEqual([
        ['Checked', 'True', undefined],
        ['Ready', 'True', 'a'],
      ]);
    });

    test('apply creates and owns fields; another manager conflicts unless it forces', async () => {
      const apply = (holderIdentity: string, fieldManager: string, force = false) =>
        kube.patch(
          leases,
          ref('applied'),
          {
            type: 'apply',
            force,
            body: {
              apiVersion: 'coordination.k8s.io/v1',
              kind: 'Lease',
              metadata: ref('applied'),
              spec: { holderIdentity },
            },
          },
          { fieldManager },
        );
      expect((await apply('a', 'one')).spec?.holderIdentity).toBe('a');
      await expect(apply('b', 'two')).rejects.toMatchObject({ reason: 'Conflict' });
      expect((await apply('b', 'two', true)).spec?.holderIdentity).toBe('b');
    });

    test('the status subresource changes only the status, the object itself everything but', async () => {
      const name = `${namespace}-status`;
      await createNode(name);
      const both = {
        metadata: { labels: { from: 'status' } },
        spec: { unschedulable: true },
        status: { capacity: { cpu: '4' } },
      };
      const byStatus = await kube.patch(nodes, { name }, { type: 'merge', body: both }, { subresource: 'status' });
      expect(byStatus.status?.capacity).toEqual({ cpu: '4' });
      // Not the whole spec: where a controller manager runs, it may taint the node between two of our calls.
      expect(byStatus.spec?.unschedulable).toBeUndefined();
      const { resourceVersion: _version, ...metadata } = byStatus.metadata;
      const replaced = await kube.replace(nodes, {
        ...byStatus,
        metadata,
        spec: { ...byStatus.spec, unschedulable: true },
        status: { capacity: { cpu: '8' } },
      });
      expect(replaced.spec?.unschedulable).toBe(true);
      expect(replaced.status?.capacity).toEqual({ cpu: '4' });
    });

    test('a dry run answers as if, and stores nothing', async () => {
      const made = await kube.create(leases, lease('dry'), { dryRun: true });
      expect(made.metadata.name).toBe('dry');
      await expect(kube.get(leases, ref('dry'))).rejects.toMatchObject({ reason: 'NotFound' });
    });

    test('an invalid object is refused with the fields that are wrong', async () => {
      const wrong = kube.create(pods, { metadata: ref('invalid'), spec: { containers: [] } });
      await expect(wrong).rejects.toMatchObject({ reason: 'Invalid', status: 422 });
      const causes = await wrong.catch((error: { causes: { field?: string }[] }) => error.causes);
      expect(causes).toContainEqual(expect.objectContaining({ field: 'spec.containers' }));
    });

    test('deletion waits for finalizers, and preconditions are kept', async () => {
      const made = await createLease('finalized', { finalizers: ['example.com/wait'] });
      const another = { preconditions: { uid: 'another' } };
      await expect(kube.delete(leases, ref('finalized'), another)).rejects.toMatchObject({ reason: 'Conflict' });
      await kube.delete(leases, ref('finalized'), { preconditions: { uid: made.metadata.uid ?? '' } });
      const deleting = await kube.get(leases, ref('finalized'));
      expect(deleting.metadata.deletionTimestamp).toMatch(/.+/);
      await kube.patch(leases, ref('finalized'), { type: 'merge', body: { metadata: { finalizers: null } } });
      await expect(kube.get(leases, ref('finalized'))).rejects.toMatchObject({ reason: 'NotFound' });
    });

    test('binding gives a pod its node, once', async () => {
      const name = `${namespace}-bound`;
      await createNode(name);
      await createPod('to-bind');
      await kube.bind(ref('to-bind'), name);
      expect((await kube.get(pods, ref('to-bind'))).spec?.nodeName).toBe(name);
      await expect(kube.bind(ref('to-bind'), name)).rejects.toMatchObject({ reason: 'Conflict' });
      const onNode = await kube.list(pods, { namespace, fieldSelector: `spec.nodeName=${name}` });
      expect(onNode.items.map(({ metadata }) => metadata.name)).toEqual(['to-bind']);
    });

    test('an eviction deletes the pod unless a disruption budget says no', async () => {
      await createPod('evicted');
      await kube.evict(ref('evicted'), { gracePeriodSeconds: 0 });
      await expect(kube.get(pods, ref('evicted'))).rejects.toMatchObject({ reason: 'NotFound' });
      await expect(kube.evict(ref('evicted'))).rejects.toMatchObject({ reason: 'NotFound' });

      await createPod('guarded', { labels: { app: 'guarded' } });
      await kube.patch(
        pods,
        ref('guarded'),
        { type: 'merge', body: { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } } },
        { subresource: 'status' },
      );
      const budget: PodDisruptionBudget = {
        metadata: ref('guard'),
        spec: { minAvailable: 1, selector: { matchLabels: { app: 'guarded' } } },
      };
      const { generation = 1 } = (await kube.create(podDisruptionBudgets, budget)).metadata;
      const status = {
        observedGeneration: generation,
        disruptionsAllowed: 0,
        currentHealthy: 1,
        desiredHealthy: 1,
        expectedPods: 1,
      };
      await kube.patch(
        podDisruptionBudgets,
        ref('guard'),
        { type: 'merge', body: { status } },
        { subresource: 'status' },
      );
      await expect(kube.evict(ref('guarded'))).rejects.toMatchObject({ reason: 'TooManyRequests', status: 429 });
      expect((await kube.get(pods, ref('guarded'))).metadata.deletionTimestamp).toBeUndefined();
    });

    test("an aborted call or watch rejects with the signal's reason", async () => {
      const controller = new AbortController();
      const reason = new Error('enough');
      const { resourceVersion } = await kube.list(leases, { namespace });
      const watching = eventsUntil({ resourceVersion, signal: controller.signal }, () => false);
      setTimeout(() => controller.abort(reason), 20);
      await expect(watching).rejects.toBe(reason);
      await expect(kube.get(leases, ref('any'), { signal: controller.signal })).rejects.toBe(reason);
      await expect(kube.create(leases, lease('any'), { signal: controller.signal })).rejects.toBe(reason);
    });
  });
}
