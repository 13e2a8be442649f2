import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { annotation, conditionType, label, type NodeClaim, taint } from '../../api/index.ts';
import { CloudError, type Node, resources } from '../../ports/index.ts';
import { EvictionQueue } from '../eviction/eviction-queue.ts';
import { ClaimMemory } from '../nodeclaim/claim-memory.ts';
import { nodeClaims } from '../own-resources.ts';
import { type Bench, openBench } from '../testing/bench.testing.ts';
import { rebootController } from './reboot.ts';
import { requestReboot } from './request.ts';

const minuteMs = 60_000;
let bench: Bench;
const reboot = vi.fn<(claim: NodeClaim, id: string) => Promise<void>>(async () => {});

beforeEach(async () => {
  reboot.mockReset();
  bench = await openBench({
    controllers: (context) => {
      const evictions = new EvictionQueue(context);
      return [rebootController(context, evictions), evictions.controller];
    },
    cloud: (cloud) => Object.assign(cloud, { reboot }),
  });
  await bench.pool();
  await bench.run(1_000 - (bench.clock.now() % 1_000));
  await bench.machine('default', 'n', { node: { metadata: { labels: { [label.initialized]: 'true' } } } });
  await boot('first');
});
afterEach(() => bench.close());

const boot = (bootID: string, status = 'True') =>
  bench.apply<Node>(resources.nodes, {
    metadata: { name: 'n' },
    status: { nodeInfo: { bootID }, conditions: [{ type: 'Ready', status }] },
  } as never);
const ask = (graceMs?: number) =>
  requestReboot(bench.context, 'n', {
    action: 'RebootNode',
    condition: 'Gpu',
    status: 'False',
    reason: 'Xid79',
    graceMs,
    urgency: 0,
    isEscalated: false,
  });
const claim = () => bench.get<NodeClaim>(nodeClaims, 'n');
const node = async () => (await bench.get<Node>(resources.nodes, 'n')) as Node;
const condition = async (type: string) => (await claim())?.status?.conditions?.find((each) => each.type === type);
const isFenced = async () => (await node()).spec?.taints?.some(({ key }) => key === taint.rebooting.key) ?? false;
const pod = {
  metadata: { name: 'p', namespace: 'default', finalizers: ['example.com/keep'] },
  spec: { nodeName: 'n', containers: [{ name: 'c', image: 'x' }] },
  status: { phase: 'Running' as const },
};

describe('a reboot', () => {
  test('takes no new pods, restarts the machine after five seconds, and is over with another boot and a ready node', async () => {
    await ask(60_000);
    await bench.run(4_000);
    expect(await isFenced()).toBe(true);
    expect(reboot).not.toHaveBeenCalled();
    await bench.run(2_000);
    expect(reboot).toHaveBeenCalledTimes(1);
    expect(await condition(conditionType.rebooting)).toMatchObject({ status: 'True', reason: 'RebootIssued' });
    expect(await condition(conditionType.initialized)).toMatchObject({ status: 'Unknown', reason: 'Rebooting' });
    expect((await node()).metadata.labels?.[label.initialized]).toBeUndefined();
    expect((await claim())?.metadata.annotations?.[annotation.rebootPreBootId]).toBe('first');
    await boot('second', 'False');
    await bench.run(20_000);
    expect(await isFenced()).toBe(false);
    expect(bench.events.map(({ reason }) => reason)).toContain('RebootObserved');
    expect(await condition(conditionType.rebooting)).toMatchObject({ status: 'True' });
    await boot('second');
    await bench.run(20_000);
    expect(await condition(conditionType.rebooting)).toMatchObject({ status: 'False', reason: 'RebootSucceeded' });
    expect((await claim())?.metadata.annotations?.[annotation.rebootPreBootId]).toBeUndefined();
    expect(bench.metrics.value('karpenter_nodes_reboots_total', { result: 'succeeded' })).toBe(1);
    expect(reboot).toHaveBeenCalledTimes(1);
  });

  test('waits for pods until the bound, and those that are left live through it', async () => {
    await bench.apply(resources.pods, pod);
    await ask(60_000);
    await bench.run(59_000);
    expect(reboot).not.toHaveBeenCalled();
    await bench.run(2_000);
    expect(reboot).toHaveBeenCalledTimes(1);
    expect(await bench.get(resources.pods, 'default/p')).toBeDefined();
  });

  test('without time for pods does not wait for them', async () => {
    await bench.apply(resources.pods, pod);
    await ask(0);
    await bench.run(1_000);
    expect(reboot).toHaveBeenCalledTimes(1);
  });

  test('is asked for under one name until the provider agrees', async () => {
    reboot.mockRejectedValueOnce(new Error('busy')).mockRejectedValueOnce(new Error('busy'));
    await ask(0);
    await bench.run(minuteMs);
    expect(reboot.mock.calls.length).toBe(3);
    expect(new Set(reboot.mock.calls.map(([, id]) => id)).size).toBe(1);
    expect(await condition(conditionType.rebooting)).toMatchObject({ reason: 'RebootIssued' });
  });

  test('that happened between two looks is not asked for again', async () => {
    reboot.mockImplementation(async () => {
      await boot('second');
      throw new Error('the answer was lost');
    });
    await ask(0);
    await bench.run(minuteMs);
    expect(reboot).toHaveBeenCalledTimes(1);
    expect(await condition(conditionType.rebooting)).toMatchObject({ status: 'False', reason: 'RebootSucceeded' });
  });
});

describe('a machine is not rebooted when the API server has', () => {
  test('another boot of it already: that was it', async () => {
    bench.storedOtherwise(resources.nodes, (nodes) =>
      nodes.map((each) => ({ ...each, status: { ...each.status, nodeInfo: { bootID: 'second' } } as never })),
    );
    await ask(0);
    await bench.run(10_000);
    expect(reboot).not.toHaveBeenCalled();
    expect(await condition(conditionType.rebooting)).toMatchObject({ reason: 'RebootIssued' });
  });

  test('its claim without the request, or being deleted', async () => {
    bench.storedOtherwise(nodeClaims, (claims) =>
      claims.map((each) => ({ ...each, metadata: { ...each.metadata, deletionTimestamp: bench.nowPlus(0) } })),
    );
    await ask(0).catch(() => {});
    await bench.run(4 * minuteMs);
    expect(reboot).not.toHaveBeenCalled();
  });
});

test('a node that is back in what is stored is not given up for a cache that is behind', async () => {
  await ask(0);
  await bench.run(minuteMs);
  expect(await condition(conditionType.rebooting)).toMatchObject({ reason: 'RebootIssued' });
  const catchUp = bench.storedOtherwise(resources.nodes, (nodes) =>
    nodes.map((each) => ({ ...each, status: { ...each.status, nodeInfo: { bootID: 'second' } } as never })),
  );
  await bench.run(30 * minuteMs);
  expect(await claim()).toBeDefined();
  catchUp();
  await bench.run(minuteMs);
  expect(await claim()).toBeUndefined();
});

test('a claim that is stored without the reboot is not given up, nor its pods evicted', async () => {
  const catchUp = bench.storedOtherwise(nodeClaims, (claims) =>
    claims.map((each) => ({ ...each, status: { ...each.status, conditions: [] } })),
  );
  await bench.apply(resources.pods, pod);
  await ask();
  await bench.run(30 * minuteMs);
  expect(await claim()).toBeDefined();
  const evicted = async () => (await bench.get(resources.pods, 'p', 'default'))?.metadata.deletionTimestamp;
  expect([await isFenced(), await evicted()]).toEqual([false, undefined]);
  catchUp();
  await bench.run(minuteMs);
  expect([await isFenced(), await evicted()]).toEqual([true, expect.any(String)]);
});

test('a node that only the cache lacks is not given up', async () => {
  await bench.apply<NodeClaim>(nodeClaims, { metadata: { name: 'n' }, status: { nodeName: 'n' } });
  await ask(0);
  await bench.run(minuteMs);
  await boot('second', 'False');
  bench.context.cluster.removeNode(await node());
  const catchUp = bench.storedOtherwise(resources.nodes, (nodes) =>
    nodes.map((each) => ({ ...each, status: { ...each.status, conditions: [{ type: 'Ready', status: 'True' }] } })),
  );
  await bench.run(30 * minuteMs);
  expect(await claim()).toBeDefined();
  catchUp();
  await bench.run(minuteMs);
  expect(await claim()).toBeUndefined();
});

test('a second Node with the provider id of the machine does not end its claim', async () => {
  await bench.apply<NodeClaim>(nodeClaims, { metadata: { name: 'n' }, status: { nodeName: 'n' } });
  await bench.kube.create(resources.nodes, { metadata: { name: 'foreign' }, spec: { providerID: 'kwok://n' } });
  await ask(0);
  await bench.run(6 * minuteMs);
  await boot('second');
  await bench.run(minuteMs);
  expect(reboot).toHaveBeenCalled();
  expect(await condition(conditionType.rebooting)).toMatchObject({ status: 'False', reason: 'RebootSucceeded' });
});

test.each<[string, () => Promise<unknown>]>([
  ['its claim is deleted', () => bench.kube.delete(nodeClaims, { name: 'n' })],
  [
    'someone takes the request back',
    () => bench.apply<NodeClaim>(nodeClaims, { metadata: { name: 'n' }, status: { conditions: [] } }),
  ],
])('nothing is remembered of a reboot when %s', async (_, end) => {
  const noted = vi.spyOn(ClaimMemory.prototype, 'set');
  await ask(0);
  await bench.run(2_000);
  const memories = noted.mock.contexts as ClaimMemory<unknown>[];
  expect(memories.map(({ size }) => size)).toContain(1);
  await end();
  await bench.run(minuteMs);
  expect(memories.map(({ size }) => size)).not.toContain(1);
  noted.mockRestore();
});

describe('the claim ends', () => {
  const isEnding = async () =>
    (await claim())?.metadata.deletionTimestamp !== undefined || (await claim()) === undefined;

  test('when the provider refuses for good', async () => {
    reboot.mockRejectedValue(new CloudError('rebootFailed', 'not allowed'));
    await ask(0);
    await bench.run(2_000);
    expect(await isEnding()).toBe(true);
    const reported = bench.events.find(({ reason }) => reason === 'RebootFailed');
    expect(reported).toMatchObject({ type: 'Warning', message: 'reboot rejected by the cloud provider: not allowed' });
    expect(bench.metrics.value('karpenter_nodes_reboots_total', { result: 'provider_error' })).toBe(1);
  });

  test('when the provider does not agree within five minutes', async () => {
    reboot.mockRejectedValue(new Error('busy'));
    await ask(0);
    await bench.run(4.9 * minuteMs);
    expect(await isEnding()).toBe(false);
    await bench.run(5 * minuteMs);
    expect(await isEnding()).toBe(true);
    expect(bench.metrics.value('karpenter_nodes_reboots_total', { result: 'provider_error' })).toBe(1);
  });

  test('when the node is not back within twenty minutes', async () => {
    await ask(0);
    await bench.run(20 * minuteMs);
    expect(await isEnding()).toBe(false);
    await bench.run(minuteMs);
    expect(await isEnding()).toBe(true);
    expect(bench.metrics.value('karpenter_nodes_reboots_total', { result: 'recovery_timeout' })).toBe(1);
  });

  test('but not for a request that cannot be read', async () => {
    await ask(0);
    await bench.apply<NodeClaim>(nodeClaims, {
      metadata: { name: 'n', annotations: { [annotation.rebootTerminationGracePeriod]: 'soon' } },
    });
    await bench.run(2_000);
    expect(await isEnding()).toBe(false);
    expect(await condition(conditionType.rebooting)).toMatchObject({ status: 'False', reason: 'RebootFailed' });
    expect(reboot).not.toHaveBeenCalled();
  });
});
