// Fake kubelets on a real API server with its real controllers and scheduler: nodes stay Ready, workloads run and end.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { findAccess, KubeClient } from '../../src/kube/index.ts';
import { resources } from '../../src/ports/index.ts';
import { RealClock } from '../../src/runtime/index.ts';
import { type FakeKubelets, startFakeKubelets } from '../../src/sim/index.ts';
import { useControlPlane } from '../setup/use-control-plane.ts';

const cluster = useControlPlane({ controllerManager: true, scheduler: true });
let kube: KubeClient;
let kubelets: FakeKubelets;
const failures: unknown[] = [];

beforeAll(async () => {
  const clock = new RealClock();
  const access = await findAccess({ clock, env: {}, kubeconfig: cluster().kubeconfig });
  kube = new KubeClient({ access, clock, userAgent: 'kerf/test', rateLimit: { qps: 0, burst: 0 } });
  kubelets = startFakeKubelets(kube, clock, {
    startMs: { least: 50, most: 200 },
    onFailure: (error) => failures.push(error),
  });
  await kubelets.whenSynced();
  for (const name of ['one', 'two', 'three']) {
    await kube.create(resources.nodes, {
      metadata: { name, labels: { 'kubernetes.io/hostname': name }, annotations: { 'kwok.x-k8s.io/node': 'fake' } },
      status: { capacity: { cpu: '8', memory: '16Gi', pods: '50' }, phase: 'Pending' },
    });
  }
});
afterAll(async () => {
  await kubelets?.stop();
  await kube?.close();
});

const kubectl = (...args: string[]): Promise<unknown> => cluster().kubectl(args);

test('nodes become Ready and lose the taint of the node controller', async () => {
  await kubectl('wait', 'node', '--all', '--for=condition=Ready', '--timeout=30s');
  await vi.waitFor(
    async () => {
      const { items } = await kube.list(resources.nodes);
      expect(items.flatMap((node) => node.spec?.taints ?? [])).toEqual([]);
    },
    { timeout: 20_000, interval: 200 },
  );
  const leaseNames = async (): Promise<unknown[]> => {
    const { items } = await kube.list(resources.leases, { namespace: 'kube-node-lease' });
    return items.map(({ metadata }) => metadata.name).sort();
  };
  await vi.waitFor(async () => expect(await leaseNames()).toEqual(['one', 'three', 'two']), { timeout: 10_000 });
});

test('a Deployment rolls out, scales down and is deleted without anything left', async () => {
  await kubectl('create', 'deployment', 'web', '--image=none', '--replicas=20');
  await kubectl('rollout', 'status', 'deployment/web', '--timeout=60s');
  await kubectl('scale', 'deployment/web', '--replicas=5');
  await vi.waitFor(async () => expect((await kube.list(resources.pods)).items.length).toBe(5), { timeout: 20_000 });
  await kubectl('delete', 'deployment', 'web', '--cascade=foreground', '--timeout=60s');
  expect((await kube.list(resources.pods)).items).toEqual([]);
});

test('a Job completes and a failing one fails', async () => {
  await kubectl('create', 'job', 'good', '--image=none', '--', 'sleep', '1');
  await kubectl('wait', 'job/good', '--for=condition=Complete', '--timeout=60s');
  const bad = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'bad', namespace: 'default' },
    spec: {
      backoffLimit: 0,
      template: {
        spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'none', command: ['false'] }] },
      },
    },
  };
  expect((await cluster().request('POST', '/apis/batch/v1/namespaces/default/jobs', bad)).status).toBe(201);
  await kubectl('wait', 'job/bad', '--for=condition=Failed', '--timeout=60s');
});

test('draining a node moves its pods', async () => {
  await kubectl('create', 'deployment', 'app', '--image=none', '--replicas=6');
  await kubectl('rollout', 'status', 'deployment/app', '--timeout=60s');
  await kubectl('drain', 'one', '--force', '--ignore-daemonsets', '--timeout=60s');
  await kubectl('rollout', 'status', 'deployment/app', '--timeout=60s');
  const { items } = await kube.list(resources.pods, { labelSelector: 'app=app' });
  expect(items.filter((pod) => pod.spec?.nodeName === 'one')).toEqual([]);
});

test('nothing had to be tried again', () => {
  expect(failures).toEqual([]);
});
