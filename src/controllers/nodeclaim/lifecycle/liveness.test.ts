import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { conditionOf } from '../../../base/index.ts';
import { CloudError, KubeError, type Node, resources } from '../../../ports/index.ts';
import { takeSnapshot } from '../../../state/index.ts';
import { nodeClaims, nodePools } from '../../own-resources.ts';
import { type LifecycleBench, openLifecycle } from '../../testing/lifecycle.testing.ts';
import { ClaimMemory } from '../claim-memory.ts';

const minute = 60_000;
const disrupted = 'karpenter_nodeclaims_disrupted_total';
let bench: LifecycleBench;
beforeEach(async () => {
  bench = await openLifecycle();
});
afterEach(() => bench.close());

const ownedBy = (uid: string) => ({
  metadata: { ownerReferences: [{ apiVersion: 'karpenter.sh/v1', kind: 'NodePool', name: 'default', uid }] },
});
const health = async () =>
  conditionOf((await bench.get(nodePools, 'default'))?.status?.conditions, 'NodeRegistrationHealthy');

describe('a claim that is not launched', () => {
  test('is given up five minutes after it was made', async () => {
    bench.cloud.createError = new CloudError('createFailed', 'no');
    await bench.makeClaim();
    await bench.run(5 * minute - 2_000);
    expect(await bench.isGone()).toBe(false);
    // Tries come up to a minute apart.
    await bench.run(minute);
    expect(await bench.isGone()).toBe(true);
    expect(bench.metrics.value(disrupted, { reason: 'launch_timeout', nodepool: 'default' })).toBe(1);
    const line = bench.log.lines.find(({ message }) => message === 'terminating due to timeout');
    expect(line).toMatchObject({ level: 'debug', fields: { timeout: '5m0s', reason: 'launch_timeout' } });
    // The line's own message is not one of its fields.
    expect(line?.fields).not.toHaveProperty('message');
  });
});

test('a claim that only the cache has as not launched is kept', async () => {
  bench.cloud.createError = new CloudError('createFailed', 'no');
  await bench.makeClaim();
  // Another replica launched it, and its node runs; the watch of this one has said nothing since.
  const launched = { type: 'Launched', status: 'True', reason: 'Launched', message: '' } as const;
  const catchUp = bench.storedOtherwise(nodeClaims, (claims) =>
    claims.map((claim) => ({
      ...claim,
      status: {
        ...claim.status,
        providerID: 'kwok://elsewhere',
        conditions: [{ ...launched, lastTransitionTime: bench.nowPlus(0) }],
      },
    })),
  );
  await bench.run(20 * minute);
  expect(await bench.isGone()).toBe(false);
  catchUp();
  await bench.run(2 * minute);
  expect(await bench.isGone()).toBe(true);
});

test('a claim whose time is up is kept while the API server does not say how it is stored', async () => {
  bench.cloud.createError = new CloudError('createFailed', 'no');
  await bench.makeClaim();
  bench.storedOtherwise(nodeClaims, () => {
    throw new KubeError({ status: 504, reason: 'Timeout', message: 'no answer' });
  });
  await bench.run(20 * minute);
  expect(await bench.isGone()).toBe(false);
});

describe('a claim whose node does not register', () => {
  test('is given up fifteen minutes after it was made, and its machine with it', async () => {
    await bench.makeClaim();
    await bench.run(15 * minute - 2_000);
    expect(await bench.isGone()).toBe(false);
    await bench.run(10_000);
    expect(await bench.isGone()).toBe(true);
    expect(bench.cloud.machines.size).toBe(0);
    expect(bench.metrics.value(disrupted, { reason: 'registration_timeout' })).toBe(1);
    expect(bench.metrics.value(disrupted, { reason: 'launch_timeout' })).toBeUndefined();
  });

  test('counts from the last transition: one that failed late has its time from then', async () => {
    const { status } = await bench.makeClaim();
    await bench.run(10 * minute);
    const spec = { providerID: status?.providerID ?? '' };
    await Promise.all(['b', 'c'].map((name) => bench.kube.create(resources.nodes, { metadata: { name }, spec })));
    await bench.run(10 * minute);
    expect((await bench.condition('Registered'))?.reason).toBe('MultipleNodesFound');
    await bench.run(5 * minute + 10_000);
    expect(await bench.isGone()).toBe(true);
  });

  test('is kept while its node is there and only the write that registers it fails', async () => {
    await bench.makeClaim();
    const patch = bench.kube.patch.bind(bench.kube);
    let isRefused = true;
    bench.kube.patch = async (resource, ref, change, options) => {
      if (resource.plural === 'nodes' && isRefused)
        throw new KubeError({ status: 409, reason: 'Conflict', message: 'someone wrote first' });
      return patch(resource, ref, change, options);
    };
    await bench.run(15 * minute - 10_000);
    const providerID = (await bench.claim()).status?.providerID ?? '';
    await bench.kube.create(resources.nodes, { metadata: { name: 'a' }, spec: { providerID } });
    await bench.run(5 * minute);
    expect(await bench.isGone()).toBe(false);
    isRefused = false;
    await bench.run(2 * minute);
    expect((await bench.condition('Registered'))?.status).toBe('True');
  });

  test('is given up all the same when its node could not be registered for as long again', async () => {
    await bench.makeClaim();
    const patch = bench.kube.patch.bind(bench.kube);
    bench.kube.patch = async (resource, ref, change, options) => {
      if (resource.plural === 'nodes')
        throw new KubeError({ status: 403, reason: 'Forbidden', message: 'a webhook says no' });
      return patch(resource, ref, change, options);
    };
    const providerID = (await bench.claim()).status?.providerID ?? '';
    await bench.kube.create(resources.nodes, { metadata: { name: 'a' }, spec: { providerID } });
    await bench.run(15 * minute + 2_000);
    expect(await bench.isGone()).toBe(false);
    await bench.run(17 * minute);
    expect(await bench.isGone()).toBe(true);
  });

  test('is kept while the API server has its node and only the cache lacks it', async () => {
    await bench.makeClaim();
    const providerID = (await bench.claim()).status?.providerID ?? '';
    const { list } = bench.context.stored;
    const node: Node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' }, spec: { providerID } };
    let isStored = true;
    bench.context.stored.list = async (resource, options) => {
      const found = await list.call(bench.context.stored, resource, options);
      return { ...found, items: resource.plural === 'nodes' && isStored ? [node] : found.items } as never;
    };
    await bench.run(20 * minute);
    expect(await bench.isGone()).toBe(false);
    isStored = false;
    await bench.run(2 * minute);
    expect(await bench.isGone()).toBe(true);
  });

  test('is kept while the API server does not say which nodes there are', async () => {
    await bench.makeClaim();
    bench.context.stored.list = async () => {
      throw new KubeError({ status: 504, reason: 'Timeout', message: 'no answer' });
    };
    await bench.run(20 * minute);
    expect(await bench.isGone()).toBe(false);
  });

  test('is forgotten when someone else deletes it, however long its node was waited for', async () => {
    const noted = vi.spyOn(ClaimMemory.prototype, 'set');
    await bench.makeClaim();
    const patch = bench.kube.patch.bind(bench.kube);
    bench.kube.patch = async (resource, ref, change, options) => {
      if (resource.plural === 'nodes') throw new KubeError({ status: 403, reason: 'Forbidden', message: 'no' });
      return patch(resource, ref, change, options);
    };
    const providerID = (await bench.claim()).status?.providerID ?? '';
    await bench.kube.create(resources.nodes, { metadata: { name: 'a' }, spec: { providerID } });
    await bench.run(16 * minute);
    const memories = noted.mock.contexts as ClaimMemory<unknown>[];
    expect(memories.map(({ size }) => size)).toContain(1);
    await bench.kube.delete(nodeClaims, { name: (await bench.claim()).metadata.name ?? '' });
    await bench.run(minute);
    expect(memories.map(({ size }) => size)).not.toContain(1);
    noted.mockRestore();
  });

  test('is left alone once it registered', async () => {
    await bench.makeClaim();
    await bench.join();
    await bench.run(60 * minute);
    expect(await bench.isGone()).toBe(false);
  });
});

describe('registration health of a pool', () => {
  const failOne = async (name: string, uid: string): Promise<void> => {
    await bench.makeClaim(name, ownedBy(uid));
    await bench.run(16 * minute);
  };
  const succeedOne = async (name: string, uid: string): Promise<void> => {
    await bench.makeClaim(name, ownedBy(uid));
    await bench.join(name);
  };

  test('is True after a node registered', async () => {
    const { metadata } = await bench.pool();
    await succeedOne('a', metadata.uid ?? '');
    expect(await health()).toMatchObject({ status: 'True', reason: 'NodeRegistrationHealthy' });
  });

  test('is False after two nodes did not register, with a reason', async () => {
    const { metadata } = await bench.pool();
    await failOne('a', metadata.uid ?? '');
    expect((await health())?.status).not.toBe('False');
    await failOne('b', metadata.uid ?? '');
    expect(await health()).toMatchObject({
      status: 'False',
      reason: 'RegistrationFailed',
      message: 'Failed to register node',
    });
  });

  test("is False with the launch's own reason if claims did not even launch", async () => {
    const { metadata } = await bench.pool();
    const words = { conditionReason: 'QuotaExceeded', conditionMessage: 'ask for more' };
    bench.cloud.createError = new CloudError('createFailed', 'quota', words);
    await failOne('a', metadata.uid ?? '');
    await failOne('b', metadata.uid ?? '');
    expect(await health()).toMatchObject({ status: 'False', reason: 'QuotaExceeded', message: 'ask for more' });
  });

  test('stays False after one success among two failures', async () => {
    const { metadata } = await bench.pool();
    await failOne('a', metadata.uid ?? '');
    await failOne('b', metadata.uid ?? '');
    await succeedOne('c', metadata.uid ?? '');
    expect((await health())?.status).toBe('False');
    await succeedOne('d', metadata.uid ?? '');
    expect((await health())?.status).toBe('False');
    await succeedOne('e', metadata.uid ?? '');
    expect((await health())?.status).toBe('True');
  });

  test('does not hear of claims of a pool that was made again under the same name', async () => {
    await bench.pool();
    await failOne('a', 'another-uid');
    await failOne('b', 'another-uid');
    expect((await health())?.status).not.toBe('False');
  });

  test('is written even if someone else writes the pool at the same time', async () => {
    const { metadata } = await bench.pool();
    const patch = bench.kube.patch.bind(bench.kube);
    let interfered = false;
    bench.kube.patch = async (resource, ref, change, options) => {
      if (resource.plural === 'nodepools' && !interfered) {
        interfered = true;
        await patch(nodePools, ref, { type: 'merge', body: { metadata: { labels: { touched: 'yes' } } } });
      }
      return patch(resource, ref, change, options);
    };
    await succeedOne('a', metadata.uid ?? '');
    expect(interfered).toBe(true);
    expect((await health())?.status).toBe('True');
  });
});

test('a claim whose node does not register says why it ends: in a condition, an event and the log', async () => {
  const finalizers = ['example.com/keep'];
  await bench.makeClaim('slow', { metadata: { finalizers } });
  await bench.run(16 * minute);
  const condition = conditionOf((await bench.get(nodeClaims, 'slow'))?.status?.conditions, 'DeletionReason');
  const message = 'its node did not register within 15m0s';
  expect(condition).toMatchObject({ status: 'True', reason: 'RegistrationTimeout', message });
  const events = bench.events.filter(({ reason }) => reason === 'RegistrationTimeout');
  expect(events).toMatchObject([{ message: `Deleted: ${message}` }]);
  const line = bench.log.lines.find((each) => each.message === 'deleted nodeclaim');
  expect(line).toMatchObject({ fields: { reason: message } });
});

describe('a pool whose launches keep failing', () => {
  const paused = async () => conditionOf((await bench.get(nodePools, 'default'))?.status?.conditions, 'LaunchesPaused');
  const pauseInSnapshot = () =>
    takeSnapshot(bench.context.cluster, {
      nowMs: bench.clock.now(),
      settings: {},
      provider: bench.cloud.facts,
      instanceTypes: [],
    }).poolState?.[0];
  const conditions = ['ValidationSucceeded', 'NodeClassReady', 'Ready'].map((type) => ({
    type,
    status: 'True',
    reason: type,
    message: '',
    observedGeneration: 1,
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }));

  test('is paused after the second failure, and says why and until when', async () => {
    const { metadata } = await bench.pool('default', { status: { conditions } } as never);
    bench.cloud.createError = new CloudError('nodeClassNotReady', 'no subnets');
    await bench.makeClaim('a', ownedBy(metadata.uid ?? ''));
    expect(await paused()).toBeUndefined();
    expect(pauseInSnapshot()).toBeUndefined();
    await bench.run(1_000);
    await bench.makeClaim('b', ownedBy(metadata.uid ?? ''));
    const condition = await paused();
    expect(condition).toMatchObject({ status: 'True', reason: 'NodeClassNotReady' });
    expect(condition?.message).toMatch(/^2 times in a row: NodeClassRef not ready, no subnets; next try at 2026-.*Z$/);
    expect(pauseInSnapshot()).toMatchObject({
      nodePool: 'default',
      pausedUntil: expect.stringMatching(/^2026-/),
      pausedBecause: { code: 'NodeClassNotReady', message: 'NodeClassRef not ready, no subnets' },
    });
    await bench.run(16_000);
    expect(pauseInSnapshot()).toBeUndefined();
  });

  test('is paused for registrations that fail, and resumed by one that works', async () => {
    const { metadata } = await bench.pool();
    for (const name of ['a', 'b']) {
      await bench.makeClaim(name, ownedBy(metadata.uid ?? ''));
      await bench.run(16 * minute);
    }
    expect(await paused()).toMatchObject({ status: 'True', reason: 'RegistrationFailed' });
    await bench.makeClaim('c', ownedBy(metadata.uid ?? ''));
    await bench.join('c');
    expect(await paused()).toBeUndefined();
  });

  test('says in its pause, as claims do in condition and event, which failure it is and what to run', async () => {
    const why =
      'Nodes of role x cannot join. (registration/node-role-not-mapped: kerf doctor --only registration/node-role-not-mapped)';
    bench.cloud.joinTrouble = async () => why;
    const { metadata } = await bench.pool();
    for (const name of ['a', 'b']) {
      await bench.makeClaim(name, ownedBy(metadata.uid ?? ''));
      await bench.run(4 * minute);
      const claim = await bench.get(nodeClaims, name);
      expect(conditionOf(claim?.status?.conditions, 'Registered')?.message).toContain(why);
      await bench.run(12 * minute);
    }
    expect((await paused())?.message).toMatch(
      /^2 times in a row: Failed to register node: .*\(registration\/node-role-not-mapped: .*; next try at 20/,
    );
    expect((await health())?.message).toBe('Failed to register node');
    const reported = bench.events.filter(
      ({ reason }) => reason === 'NodeNotRegistered' || reason === 'RegistrationTimeout',
    );
    expect(new Set(reported.map(({ reason }) => reason)).size).toBe(2);
    for (const { message } of reported) expect(message).toContain(why);
  });

  test('is not paused for lack of capacity: the next choice is tried at once', async () => {
    const { metadata } = await bench.pool();
    bench.cloud.createError = new CloudError('insufficientCapacity', 'none left');
    for (const name of ['a', 'b', 'c']) {
      await bench.makeClaim(name, ownedBy(metadata.uid ?? ''));
      await bench.run(1_000);
    }
    expect(await paused()).toBeUndefined();
  });
});
