// Workload controllers, scheduler and fake kubelets together on the embedded cluster, in virtual time.
import { setImmediate as settle } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { VirtualClock } from '../../base/index.ts';
import { isKubeError, type KubeObject, type Pod, type Resource, resources } from '../../ports/index.ts';
import { type Behaviour, startBehaviour } from '../behaviour.ts';
import { createCluster, type EmbeddedCluster } from '../cluster.ts';
import { SimKube } from '../sim-kube.ts';
import { type Job, jobs } from './resources.ts';

let clock: VirtualClock;
let cluster: EmbeddedCluster;
let kube: SimKube;
let behaviour: Behaviour;
let failures: unknown[];

beforeEach(async () => {
  clock = new VirtualClock({ settle });
  cluster = await createCluster({ clock });
  kube = new SimKube(cluster.machinery);
  failures = [];
  behaviour = startBehaviour(kube, clock, { random: () => 0.5, onFailure: (error) => failures.push(error) });
  await clock.runFor(100);
});

afterEach(async () => {
  const stopped = behaviour.stop();
  await clock.runFor(1_000);
  await stopped;
  await cluster.stop();
  expect(failures).toEqual([]);
});

const zone = 'topology.kubernetes.io/zone';
const namespace = 'default';

const addNodes = async (count: number, labels: Record<string, string> = {}): Promise<void> => {
  const amounts = { cpu: '8', memory: '32Gi', pods: '50' };
  for (let i = 0; i < count; i++) {
    const name = `node-${i}`;
    await kube.create(resources.nodes, {
      metadata: {
        name,
        labels: { 'kubernetes.io/hostname': name, [zone]: `zone-${i % 3}`, ...labels },
        annotations: { 'kwok.x-k8s.io/node': 'fake' },
      },
      status: { capacity: amounts, allocatable: amounts },
    });
  }
  await clock.runFor(3_000);
};

const template = (app: string, spec: object = {}, image = 'v1') => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: 'main', image, resources: { requests: { cpu: '100m' } } }], ...spec },
});
const workload = (app: string, spec: object, podSpec: object = {}): never =>
  ({
    metadata: { name: app, namespace },
    spec: { selector: { matchLabels: { app } }, template: template(app, podSpec), ...spec },
  }) as never;

const pods = async (app: string): Promise<Pod[]> =>
  (await kube.list(resources.pods, { namespace, labelSelector: `app=${app}` })).items;
const get = <T extends KubeObject>(resource: Resource<T>, name: string): Promise<T> =>
  kube.get(resource, resource.namespaced ? { name, namespace } : { name });
const patch = <T extends KubeObject>(resource: Resource<T>, name: string, body: object): Promise<T> =>
  kube.patch(resource, resource.namespaced ? { name, namespace } : { name }, { type: 'merge', body });
const isRunning = (pod: Pod): boolean =>
  pod.status?.phase === 'Running' && pod.metadata.deletionTimestamp === undefined;
const isGone = async (resource: Resource, name: string): Promise<boolean> => {
  try {
    await get(resource, name);
    return false;
  } catch (error) {
    return isKubeError(error, 'NotFound');
  }
};

test('a Deployment runs as many pods as asked, more and fewer', async () => {
  await addNodes(3);
  await kube.create(resources.deployments, workload('web', { replicas: 120 }));
  await clock.runFor(10_000);
  expect((await get(resources.deployments, 'web')).status).toMatchObject({
    replicas: 120,
    readyReplicas: 120,
    availableReplicas: 120,
    updatedReplicas: 120,
  });
  expect(await pods('web')).toHaveLength(120);
  await patch(resources.deployments, 'web', { spec: { replicas: 7 } });
  await clock.runFor(10_000);
  expect(await pods('web')).toHaveLength(7);
});

test('a new template replaces the pods without ever having too few or too many', async () => {
  await addNodes(3);
  await kube.create(resources.deployments, workload('web', { replicas: 12 }));
  await clock.runFor(10_000);
  let [fewest, most] = [99, 0];
  await patch(resources.deployments, 'web', { spec: { template: template('web', {}, 'v2') } });
  for (let i = 0; i < 300; i++) {
    await clock.runFor(100);
    const all = await pods('web');
    most = Math.max(most, all.length);
    fewest = Math.min(
      fewest,
      all.filter((pod) => pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'))
        .length,
    );
  }
  const now = await pods('web');
  expect(now.map((pod) => pod.spec?.containers[0]?.image)).toEqual(Array(12).fill('v2'));
  expect(most).toBeLessThanOrEqual(15);
  expect(fewest).toBeGreaterThanOrEqual(9);
  const deployment = await get(resources.deployments, 'web');
  expect(deployment.metadata.annotations?.['deployment.kubernetes.io/revision']).toBe('2');
  expect(deployment.status?.conditions).toMatchObject([
    { type: 'Available', status: 'True' },
    { type: 'Progressing', reason: 'NewReplicaSetAvailable' },
  ]);
});

test('a deleted Deployment takes its pods with it', async () => {
  await addNodes(1);
  await kube.create(resources.deployments, workload('web', { replicas: 5 }));
  await clock.runFor(5_000);
  await kube.delete(resources.deployments, { name: 'web', namespace });
  await clock.runFor(5_000);
  expect(await pods('web')).toEqual([]);
  expect((await kube.list(resources.replicaSets)).items).toEqual([]);
});

test('StatefulSet pods start one after the other, keep their claims, and stop in reverse', async () => {
  await addNodes(3);
  await kube.create(resources.storageClasses, {
    metadata: { name: 'disk' },
    provisioner: 'disk.example.com',
    reclaimPolicy: 'Delete',
    volumeBindingMode: 'WaitForFirstConsumer',
  });
  const claim = {
    metadata: { name: 'data' },
    spec: { storageClassName: 'disk', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
  await kube.create(
    resources.statefulSets,
    workload('db', { replicas: 3, serviceName: 'db', volumeClaimTemplates: [claim] }),
  );
  await clock.runFor(700);
  expect((await pods('db')).map(({ metadata }) => metadata.name)).toEqual(['db-0']);
  await clock.runFor(10_000);
  expect((await pods('db')).map(({ metadata }) => metadata.name)).toEqual(['db-0', 'db-1', 'db-2']);
  const [first] = await pods('db');
  const bound = await get(resources.persistentVolumeClaims, 'data-db-0');
  expect(bound.status?.phase).toBe('Bound');
  const node = await get(resources.nodes, first?.spec?.nodeName ?? '');
  const volume = await get(resources.persistentVolumes, bound.spec?.volumeName ?? '');
  expect(JSON.stringify(volume.spec?.nodeAffinity)).toContain(node.metadata.labels?.[zone]);
  expect((await kube.list(resources.volumeAttachments)).items).toHaveLength(3);
  await patch(resources.statefulSets, 'db', { spec: { replicas: 1 } });
  await clock.runFor(10_000);
  expect((await pods('db')).map(({ metadata }) => metadata.name)).toEqual(['db-0']);
  expect((await kube.list(resources.persistentVolumeClaims)).items).toHaveLength(3);
  expect((await kube.list(resources.volumeAttachments)).items).toHaveLength(1);
});

test('a claim that a pod uses is deleted only after the pod, and its volume with it', async () => {
  await addNodes(1);
  await kube.create(resources.storageClasses, {
    metadata: { name: 'disk' },
    provisioner: 'disk.example.com',
    reclaimPolicy: 'Delete',
  });
  await kube.create(resources.persistentVolumeClaims, {
    metadata: { name: 'data', namespace },
    spec: { storageClassName: 'disk', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  });
  await clock.runFor(1_000);
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
  await kube.create(resources.pods, { ...template('p', { volumes }), metadata: { name: 'p', namespace } });
  await clock.runFor(5_000);
  expect((await get(resources.pods, 'p')).status?.phase).toBe('Running');
  await kube.delete(resources.persistentVolumeClaims, { name: 'data', namespace });
  await clock.runFor(1_000);
  expect(await isGone(resources.persistentVolumeClaims, 'data')).toBe(false);
  await kube.delete(resources.pods, { name: 'p', namespace });
  await clock.runFor(1_000);
  expect(await isGone(resources.persistentVolumeClaims, 'data')).toBe(true);
  expect((await kube.list(resources.persistentVolumes)).items).toEqual([]);
});

test('a DaemonSet has one pod on every node that suits it, also on nodes that come later', async () => {
  await addNodes(3);
  await kube.create(resources.daemonSets, workload('agent', {}, { nodeSelector: { [zone]: 'zone-1' } }));
  await kube.create(resources.daemonSets, workload('logs', {}));
  await clock.runFor(5_000);
  expect((await pods('agent')).map((pod) => pod.spec?.nodeName)).toEqual(['node-1']);
  expect((await pods('logs')).map((pod) => pod.spec?.nodeName).sort()).toEqual(['node-0', 'node-1', 'node-2']);
  await kube.create(resources.nodes, {
    metadata: { name: 'late', annotations: { 'kwok.x-k8s.io/node': 'fake' } },
    status: { allocatable: { cpu: '4', pods: '10', memory: '1Gi' } },
  });
  await clock.runFor(5_000);
  expect(await pods('logs')).toHaveLength(4);
  expect((await get(resources.daemonSets, 'logs')).status).toMatchObject({
    desiredNumberScheduled: 4,
    numberReady: 4,
    numberAvailable: 4,
  });
});

const job = (name: string, spec: object, command: string[]): Promise<Job> =>
  kube.create(jobs, {
    metadata: { name, namespace },
    spec: {
      template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'x', command }] } },
      ...spec,
    },
  });

test('a Job runs until enough pods have succeeded', async () => {
  await addNodes(1);
  await job('batch', { completions: 6, parallelism: 2 }, ['sleep', '10']);
  await clock.runFor(12_000);
  expect((await get(jobs, 'batch')).status).toMatchObject({ active: 2 });
  await clock.runFor(60_000);
  const { status } = await get(jobs, 'batch');
  expect(status).toMatchObject({ succeeded: 6 });
  expect(status?.active).toBeUndefined();
  expect(status?.conditions).toMatchObject([{ type: 'SuccessCriteriaMet' }, { type: 'Complete', status: 'True' }]);
});

test('a Job that fails too often has failed, and one with a lifetime goes', async () => {
  await addNodes(1);
  await job('bad', { backoffLimit: 1, ttlSecondsAfterFinished: 60 }, ['false']);
  await clock.runFor(30_000);
  const { status } = await get(jobs, 'bad');
  expect(status?.failed).toBe(2);
  expect(status?.conditions?.[1]).toMatchObject({ type: 'Failed', reason: 'BackoffLimitExceeded' });
  await clock.runFor(90_000);
  expect(await isGone(jobs, 'bad')).toBe(true);
});

test('an Indexed Job gives each pod a number, and runs nothing while it is suspended', async () => {
  await addNodes(1);
  const spec = { completionMode: 'Indexed', completions: 3, parallelism: 3, suspend: true };
  await job('numbered', spec, ['sleep', '5']);
  const all = async (): Promise<Pod[]> =>
    (await kube.list(resources.pods, { namespace, labelSelector: 'job-name=numbered' })).items;
  await clock.runFor(10_000);
  expect(await all()).toEqual([]);
  await patch(jobs, 'numbered', { spec: { suspend: false } });
  await clock.runFor(2_000);
  const index = 'batch.kubernetes.io/job-completion-index';
  expect((await all()).map(({ metadata }) => metadata.annotations?.[index]).sort()).toEqual(['0', '1', '2']);
  await clock.runFor(20_000);
  expect((await get(jobs, 'numbered')).status).toMatchObject({ succeeded: 3 });
});

test('a Job that takes too long fails, and its pods end', async () => {
  await addNodes(1);
  await job('slow', { activeDeadlineSeconds: 20 }, ['sleep', '1000']);
  await clock.runFor(15_000);
  expect((await get(jobs, 'slow')).status?.active).toBe(1);
  await clock.runFor(15_000);
  const { status } = await get(jobs, 'slow');
  expect(status?.conditions?.[1]).toMatchObject({ type: 'Failed', reason: 'DeadlineExceeded' });
  expect((await kube.list(resources.pods, { labelSelector: 'job-name=slow' })).items.filter(isRunning)).toEqual([]);
});

test('new templates of StatefulSets and DaemonSets reach every pod, one node after the other', async () => {
  await addNodes(3);
  await kube.create(resources.statefulSets, workload('db', { replicas: 3, serviceName: 'db' }));
  await kube.create(resources.daemonSets, workload('agent', {}));
  await clock.runFor(15_000);
  await patch(resources.statefulSets, 'db', { spec: { template: template('db', {}, 'v2') } });
  await patch(resources.daemonSets, 'agent', { spec: { template: template('agent', {}, 'v2') } });
  let fewest = 3;
  for (let i = 0; i < 60; i++) {
    await clock.runFor(500);
    for (const app of ['db', 'agent']) fewest = Math.min(fewest, (await pods(app)).filter(isRunning).length);
  }
  for (const app of ['db', 'agent']) {
    expect((await pods(app)).map((pod) => pod.spec?.containers[0]?.image)).toEqual(['v2', 'v2', 'v2']);
  }
  expect(fewest).toBe(2);
});

test('a disruption budget allows what it can spare, and evictions stop there', async () => {
  await addNodes(2);
  await kube.create(resources.deployments, workload('web', { replicas: 4 }));
  await kube.create(resources.podDisruptionBudgets, {
    metadata: { name: 'web', namespace },
    spec: { minAvailable: '75%', selector: { matchLabels: { app: 'web' } } },
  });
  await clock.runFor(5_000);
  expect((await get(resources.podDisruptionBudgets, 'web')).status).toMatchObject({
    expectedPods: 4,
    desiredHealthy: 3,
    currentHealthy: 4,
    disruptionsAllowed: 1,
  });
  const [first, second] = await pods('web');
  await kube.evict({ name: first?.metadata.name ?? '', namespace });
  await expect(kube.evict({ name: second?.metadata.name ?? '', namespace })).rejects.toMatchObject({
    reason: 'TooManyRequests',
  });
  await clock.runFor(5_000);
  expect((await get(resources.podDisruptionBudgets, 'web')).status?.disruptionsAllowed).toBe(1);
});

test('a node whose kubelet falls silent is unreachable, and its pods leave after five minutes', async () => {
  await addNodes(2);
  await kube.create(resources.deployments, workload('web', { replicas: 4 }));
  await clock.runFor(5_000);
  // Taking the mark away is what makes the fake kubelet stop looking after the node.
  await patch(resources.nodes, 'node-0', { metadata: { annotations: { 'kwok.x-k8s.io/node': null } } });
  await clock.runFor(60_000);
  const node = await get(resources.nodes, 'node-0');
  expect(node.status?.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('Unknown');
  expect(node.spec?.taints?.map(({ key, effect }) => `${key}:${effect}`)).toEqual([
    'node.kubernetes.io/unreachable:NoSchedule',
    'node.kubernetes.io/unreachable:NoExecute',
  ]);
  const before = await pods('web');
  expect(before.some((pod) => pod.spec?.nodeName === 'node-0' && !pod.metadata.deletionTimestamp)).toBe(true);
  await clock.runFor(310_000);
  const now = (await pods('web')).filter((pod) => pod.metadata.deletionTimestamp === undefined);
  expect(now.map((pod) => pod.spec?.nodeName)).toEqual(Array(4).fill('node-1'));
});

test.each([
  ['MemoryPressure', 'True', ['memory-pressure:NoSchedule']],
  ['DiskPressure', 'True', ['disk-pressure:NoSchedule']],
  ['PIDPressure', 'True', ['pid-pressure:NoSchedule']],
  ['NetworkUnavailable', 'True', ['network-unavailable:NoSchedule']],
  ['Ready', 'False', ['not-ready:NoSchedule', 'not-ready:NoExecute']],
])('a node with %s=%s is tainted for as long as that lasts', async (type, status, taints) => {
  await addNodes(1);
  const say = async (value: string): Promise<string[]> => {
    const body = { status: { conditions: [{ type, status: value, reason: 'Test', message: '' }] } };
    await kube.patch(resources.nodes, { name: 'node-0' }, { type: 'strategic', body }, { subresource: 'status' });
    await clock.runFor(100);
    const now = (await get(resources.nodes, 'node-0')).spec?.taints ?? [];
    return now.map(({ key, effect }) => `${key}:${effect}`);
  };
  expect(await say(status)).toEqual(taints.map((taint) => `node.kubernetes.io/${taint}`));
  expect(await say(status === 'True' ? 'False' : 'True')).toEqual([]);
});

test('a cordoned node is tainted, and free again when uncordoned', async () => {
  await addNodes(1);
  await patch(resources.nodes, 'node-0', { spec: { unschedulable: true } });
  await clock.runFor(100);
  expect((await get(resources.nodes, 'node-0')).spec?.taints).toMatchObject([
    { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' },
  ]);
  await patch(resources.nodes, 'node-0', { spec: { unschedulable: null } });
  await clock.runFor(100);
  expect((await get(resources.nodes, 'node-0')).spec?.taints ?? []).toEqual([]);
});

test('pods of a node that is gone are collected and replaced', async () => {
  await addNodes(2);
  await kube.create(resources.deployments, workload('web', { replicas: 4 }));
  await clock.runFor(5_000);
  await kube.delete(resources.nodes, { name: 'node-0' });
  await clock.runFor(60_000);
  expect((await pods('web')).map((pod) => pod.spec?.nodeName)).toEqual(Array(4).fill('node-1'));
});
