// The scheduler on the embedded cluster in virtual time. Its filters are held to the real scheduler's by the differential
// suite; here is what happens around them: order, back-off, conditions, events, claims.
import { setImmediate as settle } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { VirtualClock } from '../../base/index.ts';
import { type KubeObject, type Pod, resources } from '../../ports/index.ts';
import { Caches } from '../caches.ts';
import { createCluster, type EmbeddedCluster } from '../cluster.ts';
import { events } from '../events.ts';
import { SimKube } from '../sim-kube.ts';
import { Scheduler } from './scheduler.ts';

let clock: VirtualClock;
let cluster: EmbeddedCluster;
let kube: SimKube;
let caches: Caches;
let scheduler: Scheduler;

beforeEach(async () => {
  clock = new VirtualClock({ settle });
  cluster = await createCluster({ clock });
  kube = new SimKube(cluster.machinery);
  caches = new Caches({ kube, clock, random: () => 0.5 });
  scheduler = new Scheduler(kube, clock, { caches });
  await clock.runFor(100);
});

afterEach(async () => {
  scheduler.stop();
  await caches.stop();
  await cluster.stop();
});

const node = async (name: string, cpu = '4', more: { labels?: object; spec?: object } = {}): Promise<void> => {
  const labels = { 'kubernetes.io/hostname': name, ...more.labels };
  const amounts = { cpu, memory: '8Gi', pods: '10' };
  await kube.create(resources.nodes, {
    metadata: { name, labels },
    spec: more.spec ?? {},
    status: { capacity: amounts, allocatable: amounts },
  });
  // Admission marks new nodes as not ready; there is no node controller here to unmark them.
  await kube.patch(
    resources.nodes,
    { name },
    { type: 'merge', body: { spec: { taints: null, ...(more.spec as object) } } },
  );
};

const pod = (name: string, cpu: string, spec: object = {}): Promise<Pod> =>
  kube.create(resources.pods, {
    metadata: { name, namespace: 'default', labels: { app: name } },
    spec: { containers: [{ name: 'main', image: 'x', resources: { requests: { cpu } } }], ...spec },
  });

const get = (name: string): Promise<Pod> => kube.get(resources.pods, { name, namespace: 'default' });
const nodeOf = async (name: string): Promise<string | undefined> => (await get(name)).spec?.nodeName;
const scheduled = async (name: string) =>
  (await get(name)).status?.conditions?.find(({ type }) => type === 'PodScheduled');

test('a pod is bound to a node that has room', async () => {
  await node('small', '1');
  await node('big', '8');
  await pod('p', '2');
  await clock.runFor(100);
  expect(await nodeOf('p')).toBe('big');
  expect((await scheduled('p'))?.status).toBe('True');
});

test('a pod without a node says why, once, in words that count the nodes', async () => {
  await node('small', '1');
  await node('cordoned', '8', { spec: { unschedulable: true } });
  await pod('p', '2');
  await clock.runFor(60_000);
  const message =
    '0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable. ' +
    'preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.';
  expect(await scheduled('p')).toMatchObject({ status: 'False', reason: 'Unschedulable', message });
  const reported = (await kube.list(events, { namespace: 'default' })).items.filter(
    (each) => each.reason === 'FailedScheduling',
  );
  expect(reported).toMatchObject([{ message, type: 'Warning', involvedObject: { name: 'p' } }]);
});

test('without nodes there is nothing to count', async () => {
  await pod('p', '2');
  await clock.runFor(100);
  expect((await scheduled('p'))?.message).toBe('no nodes available to schedule pods');
});

test('a waiting pod is bound soon after a node appears', async () => {
  await pod('p', '2');
  await clock.runFor(120_000);
  await node('late', '4');
  await clock.runFor(11_000);
  expect(await nodeOf('p')).toBe('late');
});

test('a waiting pod gets the room that another leaves', async () => {
  await node('only', '4');
  await pod('first', '3');
  await clock.runFor(100);
  await pod('second', '3');
  await clock.runFor(5_000);
  expect(await nodeOf('second')).toBeUndefined();
  await kube.delete(resources.pods, { name: 'first', namespace: 'default' }, { gracePeriodSeconds: 0 });
  await clock.runFor(11_000);
  expect(await nodeOf('second')).toBe('only');
});

test('the more important pod goes first', async () => {
  const priorities = { group: 'scheduling.k8s.io', version: 'v1', plural: 'priorityclasses', kind: 'PriorityClass' };
  const high = { metadata: { name: 'high' }, value: 1000 } as KubeObject;
  await kube.create({ ...priorities, namespaced: false }, high);
  await pod('low', '3');
  await pod('high', '3', { priorityClassName: 'high' });
  await clock.runFor(60_000);
  await node('only', '4');
  await clock.runFor(15_000);
  expect(await nodeOf('high')).toBe('only');
  expect(await nodeOf('low')).toBeUndefined();
});

const important = async (name: string, value: number, fields: object = {}): Promise<void> => {
  const classes = { group: 'scheduling.k8s.io', version: 'v1', plural: 'priorityclasses', kind: 'PriorityClass' };
  await kube.create({ ...classes, namespaced: false }, { metadata: { name }, value, ...fields } as KubeObject);
};
/** No kubelet is here to end a pod that is being deleted. */
const endDeleted = async (): Promise<void> => {
  for (const { metadata } of (await kube.list(resources.pods)).items) {
    const ref = { name: metadata.name ?? '', namespace: 'default' };
    if (metadata.deletionTimestamp !== undefined) await kube.delete(resources.pods, ref, { gracePeriodSeconds: 0 });
  }
};
const leaving = async (): Promise<string[]> =>
  (await kube.list(resources.pods)).items
    .filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
    .map(({ metadata }) => metadata.name ?? '');

test('a more important pod pushes a less important one aside, and only as many as it must', async () => {
  await important('high', 1000);
  await important('low', -10);
  await node('only', '4');
  await pod('spare', '2', { priorityClassName: 'low' });
  await pod('usual', '2');
  await clock.runFor(100);
  await pod('urgent', '1', { priorityClassName: 'high' });
  await clock.runFor(100);
  expect(await leaving()).toEqual(['spare']);
  const victim = await get('spare');
  expect(victim.status?.conditions?.find(({ type }) => type === 'DisruptionTarget')).toMatchObject({
    status: 'True',
    reason: 'PreemptionByScheduler',
    message: 'default-scheduler: preempting to accommodate a higher priority pod',
  });
  const urgent = await get('urgent');
  expect(urgent.status?.nominatedNodeName).toBe('only');
  expect((await scheduled('urgent'))?.message).toBe(
    '0/1 nodes are available: 1 Insufficient cpu. preemption: found a potential placement for pod on node only, preempting 1 victims',
  );
  const reported = (await kube.list(events)).items.find((each) => each.reason === 'Preempted');
  expect(reported).toMatchObject({ message: `Preempted by pod ${urgent.metadata.uid} on node only`, type: 'Normal' });
  await endDeleted();
  await clock.runFor(11_000);
  expect(await nodeOf('urgent')).toBe('only');
  expect(await nodeOf('usual')).toBe('only');
});

test('the room made for a pod is not taken by a lesser one meanwhile', async () => {
  await important('high', 1000);
  await node('only', '4');
  await pod('first', '4');
  await clock.runFor(100);
  await pod('urgent', '4', { priorityClassName: 'high' });
  await clock.runFor(100);
  await pod('late', '4');
  await endDeleted();
  await clock.runFor(30_000);
  expect(await nodeOf('urgent')).toBe('only');
  expect(await nodeOf('late')).toBeUndefined();
});

test('of several nodes, the one with the least important victims is emptied, and protected pods come last', async () => {
  await important('high', 1000);
  await important('low', -10);
  for (const [name, priority] of [
    ['a', 'high'],
    ['b', undefined],
    ['c', 'low'],
    ['d', 'low'],
  ] as const) {
    await node(name, '4', { labels: { only: name } });
    await pod(`on-${name}`, '4', { nodeSelector: { only: name }, ...(priority && { priorityClassName: priority }) });
  }
  await kube.create(resources.podDisruptionBudgets, {
    metadata: { name: 'keep', namespace: 'default' },
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'on-c' } } },
  });
  await clock.runFor(100);
  await important('higher', 2000);
  await pod('urgent', '4', { priorityClassName: 'higher' });
  await clock.runFor(100);
  expect(await leaving()).toEqual(['on-d']);
});

test('no pod is pushed aside for nothing, nor by a pod that does not want it', async () => {
  await important('high', 1000);
  await important('polite', 1000, { preemptionPolicy: 'Never' });
  await node('only', '4');
  await node('cordoned', '64', { spec: { unschedulable: true } });
  await pod('usual', '3');
  await clock.runFor(100);
  await pod('huge', '5', { priorityClassName: 'high' });
  await pod('polite', '4', { priorityClassName: 'polite' });
  await clock.runFor(100);
  expect(await leaving()).toEqual([]);
  const tail = '. preemption: ';
  expect((await scheduled('huge'))?.message).toContain(
    `${tail}0/2 nodes are available: 2 Preemption is not helpful for scheduling.`,
  );
  expect((await scheduled('polite'))?.message).toContain(`${tail}not eligible due to preemptionPolicy=Never.`);
});

test('a node that would still not do is named with what it lacks', async () => {
  await important('high', 1000);
  await important('low', -10);
  await node('only', '4');
  await pod('strong', '3', { priorityClassName: 'high' });
  await pod('weak', '1', { priorityClassName: 'low' });
  await clock.runFor(100);
  await pod('urgent', '2', { priorityClassName: 'high' });
  await clock.runFor(100);
  expect(await leaving()).toEqual([]);
  expect((await scheduled('urgent'))?.message).toContain('preemption: 0/1 nodes are available: 1 Insufficient cpu.');
});

test('pods of another scheduler and pods behind gates are left alone', async () => {
  await node('only', '4');
  await pod('foreign', '1', { schedulerName: 'other' });
  await pod('gated', '1', { schedulingGates: [{ name: 'example.com/wait' }] });
  await clock.runFor(10_000);
  expect(await nodeOf('foreign')).toBeUndefined();
  expect(await nodeOf('gated')).toBeUndefined();
  await kube.patch(
    resources.pods,
    { name: 'gated', namespace: 'default' },
    { type: 'merge', body: { spec: { schedulingGates: [] } } },
  );
  await clock.runFor(100);
  expect(await nodeOf('gated')).toBe('only');
});

test('pods created together never take the same room twice', async () => {
  for (const name of ['a', 'b', 'c']) await node(name, '2');
  for (let i = 0; i < 8; i++) await pod(`p${i}`, '1');
  await clock.runFor(1_000);
  const nodes = await Promise.all(Array.from({ length: 8 }, (_, i) => nodeOf(`p${i}`)));
  expect(nodes.filter((name) => name !== undefined).sort()).toEqual(['a', 'a', 'b', 'b', 'c', 'c']);
});

test('a claim that waits for its consumer learns the node, and the pod waits for the claim', async () => {
  await node('only', '4');
  await kube.create(resources.storageClasses, {
    metadata: { name: 'disk' },
    provisioner: 'disk.example.com',
    volumeBindingMode: 'WaitForFirstConsumer',
  });
  const claims = resources.persistentVolumeClaims;
  await kube.create(claims, {
    metadata: { name: 'data', namespace: 'default' },
    spec: {
      storageClassName: 'disk',
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
    },
  });
  await pod('p', '1', { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] });
  await clock.runFor(1_000);
  const ref = { name: 'data', namespace: 'default' };
  const claim = await kube.get(claims, ref);
  expect(claim.metadata.annotations?.['volume.kubernetes.io/selected-node']).toBe('only');
  expect(await nodeOf('p')).toBeUndefined();
  await kube.patch(claims, ref, { type: 'merge', body: { spec: { volumeName: 'made' } } });
  await clock.runFor(1_000);
  expect(await nodeOf('p')).toBe('only');
});
