import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CapacityBuffer } from '../../api/index.ts';
import { type Deployment, type PodTemplate, resources } from '../../ports/index.ts';
import { capacityBuffers, nodeClaims } from '../own-resources.ts';
import { Provisioner } from '../provisioning/provisioner.ts';
import { type Bench, openBench } from '../testing/bench.testing.ts';
import { capacityBuffersController } from './controller.ts';

let bench: Bench;
let triggers: string[];
let provisioner: Provisioner;
beforeEach(async () => {
  triggers = [];
  bench = await openBench({
    controllers: (context) => {
      provisioner = new Provisioner(context);
      const buffers = capacityBuffersController(context, (uid) => triggers.push(uid));
      provisioner.onPass((plan) => buffers.afterPass(plan));
      return [buffers.controller];
    },
  });
});
afterEach(() => bench.close());

const container = { name: 'c', image: 'web', resources: { requests: { cpu: '1', memory: '1Gi' } } };
const labels = { app: 'web' };
const template = (name = 'web', cpu = '1') =>
  bench.apply<PodTemplate>(resources.podTemplates, {
    metadata: { name, namespace: 'default' },
    template: {
      metadata: { labels },
      spec: { containers: [{ ...container, resources: { requests: { cpu, memory: '1Gi' } } }] },
    },
  });
const deployment = (replicas?: number) =>
  bench.apply<Deployment>(resources.deployments, {
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      ...(replicas === undefined ? {} : { replicas }),
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container] } },
    },
  });
const buffer = (spec: CapacityBuffer['spec']) =>
  bench.apply(capacityBuffers, { metadata: { name: 'spare', namespace: 'default' }, spec });
const status = async () => (await bench.get(capacityBuffers, 'spare', 'default'))?.status;
const condition = async (type: string) => (await status())?.conditions?.find((each) => each.type === type);
const podNames = (): string[] => bench.context.cluster.getBufferPods().map(({ metadata }) => metadata.name ?? '');
const readyPool = () =>
  bench.pool('default', {
    status: {
      conditions: [
        { type: 'Ready', status: 'True', reason: 'Ready', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
      ],
    },
  } as never);

describe('a buffer of a pod template', () => {
  test('is ready for provisioning, says what it came to, and asks for a planning pass', async () => {
    await template();
    const { metadata } = await buffer({ podTemplateRef: { name: 'web' }, replicas: 2 });
    await bench.run(1_000);
    expect(await status()).toMatchObject({
      podTemplateRef: { name: 'web' },
      replicas: 2,
      provisioningStrategy: 'buffer.x-k8s.io/active-capacity',
    });
    expect(await condition('ReadyForProvisioning')).toMatchObject({
      status: 'True',
      reason: 'Resolved',
      message: 'Pod template resolved successfully',
    });
    expect(podNames()).toEqual(['capacity-buffer-spare-1', 'capacity-buffer-spare-2']);
    expect(triggers).toContain(metadata.uid);
  });

  test('is not ready while the template is missing, in the words of the API, and follows its arrival', async () => {
    await buffer({ podTemplateRef: { name: 'web' }, replicas: 2 });
    await bench.run(1_000);
    expect(await condition('ReadyForProvisioning')).toMatchObject({
      status: 'False',
      reason: 'PodTemplateNotFound',
      message: 'podtemplates "web" not found',
    });
    expect(podNames()).toEqual([]);
    await template();
    await bench.run(1_000);
    expect(await condition('ReadyForProvisioning')).toMatchObject({ status: 'True' });
  });

  test('that goes wakes the planner: its room is free', async () => {
    await template();
    await buffer({ podTemplateRef: { name: 'web' }, replicas: 2 });
    await bench.run(1_000);
    triggers.length = 0;
    await bench.remove(resources.podTemplates, 'web', 'default');
    await bench.run(1_000);
    expect(podNames()).toEqual([]);
    expect(triggers).toHaveLength(1);
    await template();
    await bench.run(1_000);
    triggers.length = 0;
    await bench.remove(capacityBuffers, 'spare', 'default');
    await bench.run(1_000);
    expect(podNames()).toEqual([]);
    expect(triggers).toHaveLength(1);
  });

  test('follows changes of the template at once', async () => {
    await template('web', '1');
    await buffer({ podTemplateRef: { name: 'web' }, limits: { cpu: '6' } });
    await bench.run(1_000);
    expect((await status())?.replicas).toBe(6);
    await template('web', '2');
    await bench.run(1_000);
    expect((await status())?.replicas).toBe(3);
  });
});

describe('a buffer of a workload', () => {
  test('keeps a share of its replicas, and follows their number at once', async () => {
    await deployment(10);
    await buffer({ scalableRef: { kind: 'Deployment', name: 'web' }, percentage: 20 });
    await bench.run(1_000);
    expect((await status())?.replicas).toBe(2);
    await deployment(40);
    await bench.run(1_000);
    expect((await status())?.replicas).toBe(8);
  });

  test('takes an absent number of replicas for one', async () => {
    await deployment();
    await buffer({ scalableRef: { apiGroup: 'apps', kind: 'Deployment', name: 'web' }, percentage: 300 });
    await bench.run(1_000);
    expect((await status())?.replicas).toBe(3);
  });

  test('is not ready while the workload is missing', async () => {
    await buffer({ scalableRef: { apiGroup: 'apps', kind: 'StatefulSet', name: 'web' }, replicas: 1 });
    await bench.run(1_000);
    expect(await condition('ReadyForProvisioning')).toMatchObject({
      status: 'False',
      reason: 'ScalableRefNotFound',
      message: 'statefulsets.apps "web" not found',
    });
  });

  test.each([
    [{ kind: 'Job', name: 'web' }, 'scalableRef names a Job'],
    [{ apiGroup: 'example.com', kind: 'Deployment', name: 'web' }, 'scalableRef names a Deployment.example.com'],
  ])('cannot be of %o', async (scalableRef, message) => {
    await buffer({ scalableRef, replicas: 1 });
    await bench.run(1_000);
    const found = await condition('ReadyForProvisioning');
    expect(found).toMatchObject({ status: 'False', reason: 'ResolutionFailed' });
    expect(found?.message).toContain(message);
  });
});

test('a buffer of nothing says so', async () => {
  await buffer({ replicas: 1 });
  await bench.run(1_000);
  expect(await condition('ReadyForProvisioning')).toMatchObject({
    status: 'False',
    reason: 'ResolutionFailed',
    message: 'Neither podTemplateRef nor scalableRef is set',
  });
});

test('a deleted buffer keeps no room, and what was decided about nodes that held it is worthless', async () => {
  await template();
  await buffer({ podTemplateRef: { name: 'web' }, replicas: 2 });
  await bench.run(1_000);
  const before = bench.context.cluster.changedAt();
  await bench.remove(capacityBuffers, 'spare', 'default');
  await bench.run(1_000);
  expect(podNames()).toEqual([]);
  expect(bench.context.cluster.changedAt()).toBeGreaterThan(before);
});

test('a buffer that is resolved to the same again keeps the same pods, and nothing has changed', async () => {
  await template();
  await buffer({ podTemplateRef: { name: 'web' }, replicas: 2 });
  await bench.run(1_000);
  const [pod] = bench.context.cluster.getBufferPods();
  const before = bench.context.cluster.changedAt();
  await bench.run(90_000);
  expect(bench.context.cluster.getBufferPods()[0]).toBe(pod);
  expect(bench.context.cluster.changedAt()).toBe(before);
});

describe('after a planning pass, Provisioning', () => {
  const pass = async () => {
    const result = await provisioner.pass();
    await bench.run(100);
    return result;
  };

  test('tells that the buffer is not ready', async () => {
    await buffer({ podTemplateRef: { name: 'web' }, replicas: 2 });
    await bench.run(1_000);
    await pass();
    expect(await condition('Provisioning')).toMatchObject({
      status: 'False',
      reason: 'NotReadyForProvisioning',
      message: 'Buffer is not ReadyForProvisioning',
    });
  });

  test('tells that the buffer is empty', async () => {
    await template();
    await buffer({ podTemplateRef: { name: 'web' }, replicas: 0 });
    await bench.run(1_000);
    await pass();
    expect(await condition('Provisioning')).toMatchObject({
      status: 'False',
      reason: 'BufferEmpty',
      message: 'Buffer has zero desired replicas',
    });
  });

  test('tells how many pods needed new capacity; a second pass launches nothing more', async () => {
    await readyPool();
    await template();
    await buffer({ podTemplateRef: { name: 'web' }, replicas: 3 });
    await bench.run(1_000);
    await pass();
    expect(await condition('Provisioning')).toMatchObject({
      status: 'False',
      reason: 'RequiresNewCapacity',
      message: '3/3 virtual pods required new capacity, 0 failed',
    });
    const { created } = await pass();
    expect(created).toEqual([]);
    expect(await bench.list(nodeClaims)).toHaveLength(1);
    expect(bench.events.filter(({ reason }) => reason === 'Nominated')).toEqual([]);
  });

  test('tells how many pods got no place', async () => {
    await readyPool();
    await template('web', '1000');
    await buffer({ podTemplateRef: { name: 'web' }, replicas: 3 });
    await bench.run(1_000);
    await pass();
    expect(await condition('Provisioning')).toMatchObject({
      reason: 'RequiresNewCapacity',
      message: '0/3 virtual pods required new capacity, 3 failed',
    });
  });

  test('is True once all pods fit on what is there, which is not nominated for them', async () => {
    await readyPool();
    await bench.machine('default', 'n', { capacity: { cpu: '4', memory: '8Gi', pods: '110' } });
    await template();
    await buffer({ podTemplateRef: { name: 'web' }, replicas: 3 });
    await bench.run(1_000);
    await pass();
    expect(await condition('Provisioning')).toMatchObject({
      status: 'True',
      reason: 'FitsExistingCapacity',
      message: 'All 3 virtual pods fit on existing capacity',
    });
    expect(bench.context.cluster.machines.get('kwok://n')?.nominatedUntilMs).toBe(0);
  });
});
