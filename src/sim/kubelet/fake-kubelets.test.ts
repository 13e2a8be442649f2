// Fake kubelets on the embedded cluster in virtual time.
import { setImmediate as settle } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { VirtualClock } from '../../base/index.ts';
import { isKubeError, type Node, type Pod, resources } from '../../ports/index.ts';
import { createCluster, type EmbeddedCluster } from '../cluster.ts';
import { SimKube } from '../sim-kube.ts';
import { type FakeKubelets, startFakeKubelets } from './fake-kubelets.ts';

let clock: VirtualClock;
let cluster: EmbeddedCluster;
let kube: SimKube;
let kubelets: FakeKubelets;

beforeEach(async () => {
  clock = new VirtualClock({ settle });
  cluster = await createCluster({ clock });
  kube = new SimKube(cluster.machinery);
  kubelets = startFakeKubelets(kube, clock, { random: () => 0.5 });
  await clock.runFor(100);
});

afterEach(async () => {
  const stopped = kubelets.stop();
  await clock.runFor(1_000);
  await stopped;
  await cluster.stop();
});

const fakeNode = (name: string, status: object = {}): Promise<Node> =>
  kube.create(resources.nodes, {
    metadata: { name, annotations: { 'kwok.x-k8s.io/node': 'fake' } },
    status,
  });

const podOn = (node: string, name: string, spec: object = {}, metadata: object = {}): Promise<Pod> =>
  kube.create(resources.pods, {
    metadata: { name, namespace: 'default', ...metadata },
    spec: { nodeName: node, containers: [{ name: 'main', image: 'x' }], ...spec },
  });

const node = (name = 'a'): Promise<Node> => kube.get(resources.nodes, { name });
const pod = (name = 'p'): Promise<Pod> => kube.get(resources.pods, { name, namespace: 'default' });
const isGone = async (name = 'p'): Promise<boolean> => {
  try {
    await pod(name);
    return false;
  } catch (error) {
    return isKubeError(error, 'NotFound');
  }
};
const statusOf = (object: Node | Pod, type: string): string | undefined =>
  object.status?.conditions?.find((each) => each.type === type)?.status;
const remove = (name = 'p'): Promise<void> => kube.delete(resources.pods, { name, namespace: 'default' });

test('a fake node becomes Ready, with the other conditions, addresses and a version', async () => {
  await fakeNode('a', { phase: 'Pending', capacity: { cpu: '4' }, allocatable: { cpu: '3900m' } });
  await clock.runFor(100);
  const { status } = await node();
  expect(status?.conditions?.map(({ type, status: value }) => `${type}=${value}`).sort()).toEqual([
    'DiskPressure=False',
    'MemoryPressure=False',
    'NetworkUnavailable=False',
    'PIDPressure=False',
    'Ready=True',
  ]);
  expect(status?.addresses?.map(({ type }) => type)).toEqual(['InternalIP', 'Hostname']);
  expect(status).toMatchObject({ phase: 'Running', capacity: { cpu: '4' }, allocatable: { cpu: '3900m' } });
  expect(status?.nodeInfo?.kubeletVersion).toContain('fake');
});

test('a node without the annotation is left alone', async () => {
  await kube.create(resources.nodes, { metadata: { name: 'a' } });
  await podOn('a', 'p');
  await clock.runFor(60_000);
  expect((await node()).status?.conditions).toBeUndefined();
  expect((await pod()).status?.phase).toBe('Pending');
});

test('the Lease is renewed every ten seconds and belongs to its node', async () => {
  await fakeNode('a');
  await clock.runFor(3_000);
  const lease = (): Promise<{ spec?: { renewTime?: string; holderIdentity?: string }; metadata: object }> =>
    kube.get(resources.leases, { name: 'a', namespace: 'kube-node-lease' });
  const first = await lease();
  expect(first.spec).toMatchObject({ holderIdentity: 'a', leaseDurationSeconds: 40 });
  expect(first.metadata).toMatchObject({ ownerReferences: [{ kind: 'Node', name: 'a' }] });
  await clock.runFor(10_000);
  const second = await lease();
  expect(Date.parse(second.spec?.renewTime ?? '') - Date.parse(first.spec?.renewTime ?? '')).toBe(10_000);
});

test('a condition that someone else writes stays as written', async () => {
  await fakeNode('a');
  await clock.runFor(1_000);
  const conditions = [
    { type: 'Ready', status: 'False', reason: 'Test', message: '' },
    { type: 'AcceleratedHardwareReady', status: 'False', reason: 'Test', message: '' },
  ];
  await kube.patch(
    resources.nodes,
    { name: 'a' },
    { type: 'strategic', body: { status: { conditions } } },
    { subresource: 'status' },
  );
  await clock.runFor(600_000);
  expect(statusOf(await node(), 'Ready')).toBe('False');
  expect(statusOf(await node(), 'AcceleratedHardwareReady')).toBe('False');
});

const silenced = { type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown', message: '' };
const markSilent = (): Promise<Node> =>
  kube.patch(
    resources.nodes,
    { name: 'a' },
    { type: 'strategic', body: { status: { conditions: [silenced] } } },
    { subresource: 'status' },
  );

test('a note that the kubelet was silent stays as well, when it was not', async () => {
  await fakeNode('a');
  await clock.runFor(60_000);
  await markSilent();
  await clock.runFor(600_000);
  expect(statusOf(await node(), 'Ready')).toBe('Unknown');
});

test('a kubelet whose Leases were not taken for too long says that it is back', async () => {
  const write = kube.patch.bind(kube);
  let isOut = false;
  kube.patch = (resource, ...rest) =>
    isOut && resource.plural === 'leases' ? Promise.reject(new Error('no connection')) : write(resource, ...rest);
  await fakeNode('a');
  await clock.runFor(15_000);
  isOut = true;
  await clock.runFor(50_000);
  await markSilent();
  await clock.runFor(10_000);
  expect(statusOf(await node(), 'Ready')).toBe('Unknown');
  isOut = false;
  await clock.runFor(40_000);
  expect(statusOf(await node(), 'Ready')).toBe('True');
});

test('a bound pod runs and is ready after its start latency, not before', async () => {
  await fakeNode('a');
  await podOn('a', 'p');
  await clock.runFor(400);
  expect((await pod()).status?.phase).toBe('Pending');
  await clock.runFor(1_200);
  const running = await pod();
  expect(running.status).toMatchObject({ phase: 'Running', containerStatuses: [{ name: 'main', ready: true }] });
  expect(statusOf(running, 'Ready')).toBe('True');
  expect(running.status?.podIP).toMatch(/^10\./);
});

test('pods bound before their node appeared start when it does', async () => {
  await podOn('a', 'p');
  await clock.runFor(5_000);
  expect((await pod()).status?.phase).toBe('Pending');
  await fakeNode('a');
  await clock.runFor(2_000);
  expect((await pod()).status?.phase).toBe('Running');
});

test('a readiness probe delays readiness', async () => {
  await fakeNode('a');
  await podOn('a', 'p', {
    containers: [{ name: 'main', image: 'x', readinessProbe: { initialDelaySeconds: 20, tcpSocket: { port: 80 } } }],
  });
  await clock.runFor(10_000);
  expect(statusOf(await pod(), 'Ready')).toBe('False');
  await clock.runFor(15_000);
  expect(statusOf(await pod(), 'Ready')).toBe('True');
});

test('a readiness gate holds readiness back until its condition is True', async () => {
  await fakeNode('a');
  await podOn('a', 'p', { readinessGates: [{ conditionType: 'example.com/registered' }] });
  await clock.runFor(60_000);
  expect(statusOf(await pod(), 'Ready')).toBe('False');
  const conditions = [{ type: 'example.com/registered', status: 'True' }];
  await kube.patch(
    resources.pods,
    { name: 'p', namespace: 'default' },
    { type: 'strategic', body: { status: { conditions } } },
    { subresource: 'status' },
  );
  await clock.runFor(100);
  expect(statusOf(await pod(), 'Ready')).toBe('True');
  expect(statusOf(await pod(), 'example.com/registered')).toBe('True');
});

test('a pod labelled unhealthy never becomes ready', async () => {
  await fakeNode('a');
  await podOn('a', 'p', {}, { labels: { 'kwok.x-k8s.io/stage': 'unhealthy' } });
  await clock.runFor(60_000);
  expect((await pod()).status?.phase).toBe('Unknown');
  expect(statusOf(await pod(), 'Ready')).toBe('False');
});

test('a deleted pod disappears at once', async () => {
  await fakeNode('a');
  await podOn('a', 'p');
  await clock.runFor(2_000);
  await remove();
  await clock.runFor(10);
  expect(await isGone()).toBe(true);
});

test('an annotation says how long a deleted pod lingers', async () => {
  await fakeNode('a');
  const annotations = { 'pod-delete.stage.kwok.x-k8s.io/delay': '25s' };
  await podOn('a', 'p', { terminationGracePeriodSeconds: 60 }, { annotations });
  await clock.runFor(2_345);
  await remove();
  await clock.runFor(24_900);
  expect(await isGone()).toBe(false);
  await clock.runFor(200);
  expect(await isGone()).toBe(true);
});

test('a deleted pod with a finalizer ends first, and goes when the finalizer does', async () => {
  await fakeNode('a');
  await podOn('a', 'p', {}, { finalizers: ['example.com/watching'] });
  await clock.runFor(2_000);
  await remove();
  await clock.runFor(1_000);
  expect((await pod()).status?.phase).toBe('Failed');
  const body = { metadata: { finalizers: null } };
  await kube.patch(resources.pods, { name: 'p', namespace: 'default' }, { type: 'merge', body });
  await clock.runFor(10);
  expect(await isGone()).toBe(true);
});

test('a pod that is not restarted succeeds when its time has passed', async () => {
  await fakeNode('a');
  await podOn('a', 'p', {
    restartPolicy: 'Never',
    containers: [{ name: 'main', image: 'x', command: ['sleep', '30'] }],
  });
  await clock.runFor(28_000);
  expect((await pod()).status?.phase).toBe('Running');
  await clock.runFor(5_000);
  expect((await pod()).status).toMatchObject({
    phase: 'Succeeded',
    containerStatuses: [{ state: { terminated: { exitCode: 0 } } }],
  });
});

test('a container that fails is restarted where the pod asks for that', async () => {
  await fakeNode('a');
  await podOn('a', 'p', {
    restartPolicy: 'OnFailure',
    containers: [{ name: 'main', image: 'x', command: ['sh', '-c', 'sleep 5; exit 2'] }],
  });
  await clock.runFor(40_000);
  const { status } = await pod();
  expect(status?.phase).toBe('Running');
  expect(status?.containerStatuses?.[0]?.restartCount).toBe(2);
});

test('a pod past its active deadline fails', async () => {
  await fakeNode('a');
  await podOn('a', 'p', { activeDeadlineSeconds: 30 });
  await clock.runFor(28_000);
  expect((await pod()).status?.phase).toBe('Running');
  await clock.runFor(4_000);
  expect((await pod()).status).toMatchObject({ phase: 'Failed', reason: 'DeadlineExceeded' });
});

test('kubelets that were away bring their silent nodes and pods back', async () => {
  await fakeNode('a');
  await podOn('a', 'p');
  await clock.runFor(2_000);
  await kubelets.stop();
  await markSilent();
  await kube.patch(
    resources.pods,
    { name: 'p', namespace: 'default' },
    { type: 'strategic', body: { status: { conditions: [{ type: 'Ready', status: 'False' }] } } },
    { subresource: 'status' },
  );
  kubelets = startFakeKubelets(kube, clock);
  await clock.runFor(1_000);
  expect(statusOf(await node(), 'Ready')).toBe('True');
  expect(statusOf(await pod(), 'Ready')).toBe('True');
});
