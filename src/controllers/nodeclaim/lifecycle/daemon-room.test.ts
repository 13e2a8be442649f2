import { afterEach, describe, expect, test } from 'vitest';
import { resources } from '../../../ports/index.ts';
import { type LifecycleBench, openLifecycle } from '../../testing/lifecycle.testing.ts';

let bench: LifecycleBench;
afterEach(() => bench.close());

const room = 'kerf.sh/daemonset-room';
const unready = { status: { conditions: [{ type: 'Ready', status: 'False' }] } };
const open = async (keepDaemonSetRoom = true): Promise<void> => {
  bench = await openLifecycle({ settings: { keepDaemonSetRoom } });
  await bench.makeClaim();
};
const daemonSet = (name: string, spec: object = {}) =>
  bench.apply(resources.daemonSets, {
    metadata: { name, namespace: 'default' },
    spec: {
      selector: { matchLabels: { name } },
      template: { metadata: { labels: { name } }, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } },
    },
  });
/** The DaemonSet's pod is bound to the node. */
const bind = async (name: string): Promise<void> => {
  const set = await bench.get(resources.daemonSets, name, 'default');
  await bench.apply(resources.pods, {
    metadata: {
      name: `${name}-pod`,
      namespace: 'default',
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'DaemonSet', name, uid: set?.metadata.uid ?? '', controller: true },
      ],
    },
    spec: { nodeName: 'a', containers: [{ name: 'c', image: 'i' }] },
  });
  await bench.run(1_500);
};
const isCordoned = async (): Promise<boolean> => (await bench.node()).spec?.unschedulable === true;
const initialized = () => bench.condition('Initialized');

describe('a new node whose DaemonSets have no pods yet', () => {
  test('is cordoned when it is registered, and open once all of them are bound', async () => {
    await open();
    await daemonSet('logs');
    await daemonSet('metrics');
    await bench.join();
    expect(await isCordoned()).toBe(true);
    expect((await bench.node()).spec?.taints ?? []).not.toContainEqual(
      expect.objectContaining({ key: 'karpenter.sh/unregistered' }),
    );
    expect(await initialized()).toMatchObject({
      status: 'Unknown',
      reason: 'DaemonSetsNotBound',
      message: 'pods of DaemonSets are not bound yet: default/logs, default/metrics',
    });
    await bind('logs');
    expect(await isCordoned()).toBe(true);
    await bind('metrics');
    expect(await isCordoned()).toBe(false);
    expect((await bench.node()).metadata.annotations ?? {}).not.toHaveProperty([room]);
    expect((await initialized())?.status).toBe('True');
  });

  test('does not wait for its kubelet to be ready', async () => {
    await open();
    await daemonSet('logs');
    await bench.join('a', unready);
    await bind('logs');
    expect(await isCordoned()).toBe(false);
    expect(await initialized()).toMatchObject({ reason: 'NodeNotReady' });
  });

  test('is open after a minute whatever is missing', async () => {
    await open();
    await daemonSet('logs');
    await bench.join();
    await bench.run(58_000);
    expect(await isCordoned()).toBe(true);
    await bench.run(4_000);
    expect(await isCordoned()).toBe(false);
    expect((await initialized())?.status).toBe('True');
  });

  test('is not cordoned again', async () => {
    await open();
    await daemonSet('logs');
    await bench.join();
    await bind('logs');
    await daemonSet('later');
    await bench.run(5_000);
    expect(await isCordoned()).toBe(false);
  });
});

test('DaemonSets that do not run there are not waited for', async () => {
  await open();
  await daemonSet('elsewhere', { nodeSelector: { disk: 'fast' } });
  await bench.join();
  expect(await isCordoned()).toBe(false);
  expect((await initialized())?.status).toBe('True');
});

test('a cordon that someone else put there stays', async () => {
  await open();
  await daemonSet('logs');
  await bench.join('a', { spec: { unschedulable: true } });
  await bind('logs');
  expect(await isCordoned()).toBe(true);
  expect((await bench.node()).metadata.annotations ?? {}).not.toHaveProperty([room]);
});

test('without the setting nodes are open at once, also those that were held back before', async () => {
  await open(false);
  await daemonSet('logs');
  await bench.join('a', {
    metadata: { annotations: { [room]: new Date().toISOString() } },
    spec: { unschedulable: true },
  });
  expect(await isCordoned()).toBe(false);
});
