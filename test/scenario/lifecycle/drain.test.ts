import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Pod, resources } from '../../../src/ports/index.ts';
import { disorder } from '../harness/order.ts';
import { openScenario, type Scenario } from '../harness/scenario.ts';

const namespace = 'default';
const doNotDisrupt = { 'karpenter.sh/do-not-disrupt': 'true' };
let scenario: Scenario;
beforeEach(async () => {
  scenario = await openScenario({ bootTime: '5s' });
});
afterEach(() => scenario.close());

const deleteNodes = async (): Promise<void> => {
  for (const { metadata } of await scenario.nodes())
    await scenario.kube.delete(resources.nodes, { name: metadata.name ?? '' });
};
const allReady = async (app: string, count: number): Promise<void> => {
  await scenario.until(`${count} pods of ${app}`, async () => (await scenario.readyPods(app)).length === count);
  await scenario.run(5_000);
};
/** Runs a pod that no one brings back. */
const lonePod = (name: string, over: { annotations?: Record<string, string>; spec?: object } = {}): Promise<Pod> =>
  scenario.kube.create(resources.pods, {
    metadata: { name, namespace, labels: { app: name }, annotations: over.annotations ?? {} },
    spec: { containers: [{ name: 'main', image: 'example.com/main' }], ...over.spec },
  });

describe('a node that is deleted', () => {
  test('gives its pods to other nodes one budget at a time, and never more', async () => {
    await scenario.pool();
    await scenario.kube.create(resources.podDisruptionBudgets, {
      metadata: { name: 'web', namespace },
      spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'web' } } },
    });
    await scenario.deployment('web', 4);
    await allReady('web', 4);
    const deleted = (await scenario.nodes()).length;
    await deleteNodes();
    let least = 4;
    for (let second = 0; second < 240; second += 1) {
      await scenario.run(1_000);
      least = Math.min(least, (await scenario.readyPods('web')).length);
    }
    expect(least).toBe(3);
    expect(await disorder(scenario, 4)).toEqual([]);
    expect(scenario.metrics.value('karpenter_nodes_drained_total', { nodepool: 'default' })).toBe(deleted);
    const refusals = scenario.eventsOf('FailedDraining').map(({ message }) => message);
    expect(refusals.some((message) => /violates a PDB \(Pod=default\/web-/.test(message))).toBe(true);
  });

  test('moves a StatefulSet with its volume: the machine goes only after the volume was detached', async () => {
    await scenario.kube.create(resources.storageClasses, {
      metadata: { name: 'disk' },
      provisioner: 'csi.example.com',
      volumeBindingMode: 'WaitForFirstConsumer',
    });
    await scenario.pool();
    const labels = { app: 'db' };
    await scenario.kube.create(resources.statefulSets, {
      metadata: { name: 'db', namespace },
      spec: {
        serviceName: 'db',
        replicas: 1,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            containers: [
              { name: 'main', image: 'example.com/db', volumeMounts: [{ name: 'data', mountPath: '/data' }] },
            ],
          },
        },
        volumeClaimTemplates: [
          {
            metadata: { name: 'data' },
            spec: {
              accessModes: ['ReadWriteOnce'],
              storageClassName: 'disk',
              resources: { requests: { storage: '1Gi' } },
            },
          },
        ],
      },
    });
    await allReady('db', 1);
    const [before] = await scenario.nodes();
    expect(await scenario.list(resources.volumeAttachments)).toHaveLength(1);
    await deleteNodes();
    let lastSeenWithVolume = false;
    await scenario.until('the old node is gone', async () => {
      const names = (await scenario.nodes()).map(({ metadata }) => metadata.name);
      const attached = (await scenario.list(resources.volumeAttachments)).map(({ spec }) => spec.nodeName);
      if (attached.includes(before?.metadata.name ?? '')) lastSeenWithVolume = names.includes(before?.metadata.name);
      return !names.includes(before?.metadata.name);
    });
    expect(lastSeenWithVolume).toBe(true);
    expect((await scenario.list(resources.volumeAttachments)).map(({ spec }) => spec.nodeName)).not.toContain(
      before?.metadata.name,
    );
    await allReady('db', 1);
    expect(await disorder(scenario, 1)).toEqual([]);
  });

  test('waits for a protected pod until it is gone', async () => {
    await scenario.pool();
    await lonePod('protected', { annotations: doNotDisrupt });
    await allReady('protected', 1);
    await deleteNodes();
    await scenario.run(600_000);
    expect(await scenario.readyPods('protected')).toHaveLength(1);
    await scenario.kube.delete(resources.pods, { name: 'protected', namespace });
    await scenario.until('the node is gone', async () => (await scenario.nodes()).length === 0, 60_000);
    expect(await disorder(scenario, 0)).toEqual([]);
  });

  test('takes a protected pod by force when the grace period of the node is over, and not before', async () => {
    await scenario.pool('default', {}, { terminationGracePeriod: '10m' });
    const spec = { terminationGracePeriodSeconds: 60 };
    await lonePod('protected', { annotations: doNotDisrupt, spec });
    await allReady('protected', 1);
    await deleteNodes();
    const startedMs = scenario.clock.now();
    await scenario.until(
      'the pod is asked to go',
      async () => (await scenario.readyPods('protected')).length === 0,
      900_000,
    );
    const tookSeconds = (scenario.clock.now() - startedMs) / 1000;
    expect(tookSeconds).toBeGreaterThanOrEqual(539);
    expect(tookSeconds).toBeLessThanOrEqual(543);
    await scenario.until('the node is gone', async () => (await scenario.nodes()).length === 0, 120_000);
    expect(scenario.eventsOf('Disrupted')[0]?.subject).toMatchObject({ kind: 'Pod', name: 'protected' });
  });
});

describe('while a node drains, the controllers', () => {
  test('are restarted and go on where they were', async () => {
    await scenario.pool();
    await scenario.kube.create(resources.podDisruptionBudgets, {
      metadata: { name: 'web', namespace },
      spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'web' } } },
    });
    await scenario.deployment('web', 4);
    await allReady('web', 4);
    await deleteNodes();
    await scenario.run(6_000);
    await scenario.process.stop();
    const during = await scenario.readyPods('web');
    await scenario.run(60_000);
    expect((await scenario.nodes()).some(({ metadata }) => metadata.deletionTimestamp !== undefined)).toBe(true);
    expect(during.length).toBeGreaterThanOrEqual(3);
    await scenario.restart();
    await scenario.until('all is well', async () => (await disorder(scenario, 4)).length === 0);
  });
});
