import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { NodeClaim } from '../../../api/index.ts';
import { resources } from '../../../ports/index.ts';
import { type LifecycleBench, openLifecycle } from '../../testing/lifecycle.testing.ts';
import { driversWithoutPool, type ResourceSlice } from './dra-pools.ts';

let bench: LifecycleBench;
beforeEach(async () => {
  bench = await openLifecycle();
});
afterEach(() => bench.close());

const initialized = () => bench.condition('Initialized');
const taints = (...keys: string[]) => ({
  spec: { taints: keys.map((key) => ({ key, value: 'x', effect: 'NoSchedule' as const })) },
});
const setTaints = async (...keys: string[]): Promise<void> => {
  await bench.apply(resources.nodes, { metadata: { name: 'a' }, ...taints(...keys) });
  await bench.run(100);
};

describe('a registered claim', () => {
  test('waits untouched while it is not registered', async () => {
    await bench.makeClaim();
    expect(await initialized()).toMatchObject({ status: 'Unknown', reason: 'AwaitingReconciliation' });
  });

  test('is initialized when its node is ready, and the node says so in a label', async () => {
    await bench.makeClaim();
    await bench.join();
    expect(await initialized()).toMatchObject({ status: 'True', reason: 'Initialized', message: '' });
    expect((await bench.node()).metadata.labels?.['karpenter.sh/initialized']).toBe('true');
    expect(await bench.condition('Ready')).toMatchObject({ status: 'True', reason: 'Ready' });
    expect(bench.log.lines.some(({ message }) => message === 'initialized nodeclaim')).toBe(true);
  });

  test('waits for its node to be Ready', async () => {
    await bench.makeClaim();
    await bench.join();
    await bench.makeClaim('b');
    await bench.join('b', { status: { conditions: [{ type: 'Ready', status: 'False' }] } });
    const condition = await bench.condition('Initialized', 'b');
    expect(condition).toMatchObject({ status: 'Unknown', reason: 'NodeNotReady', message: 'Node status is NotReady' });
    await bench.setReadiness('True', 'b');
    expect((await bench.condition('Initialized', 'b'))?.status).toBe('True');
  });

  test('says that its node is missing if it went before it was initialized', async () => {
    await bench.makeClaim('a', { spec: { startupTaints: [{ key: 'starting', effect: 'NoSchedule' }] } });
    await bench.join();
    const { metadata } = await bench.node();
    await bench.apply(resources.nodes, { metadata: { name: 'a', finalizers: [] } });
    await bench.remove(resources.nodes, metadata.name ?? '');
    await bench.run(100);
    expect(await initialized()).toMatchObject({
      status: 'Unknown',
      reason: 'NodeNotFound',
      message: 'Node not registered with cluster',
    });
  });

  test('waits until every startup taint is gone', async () => {
    await bench.makeClaim('a', { spec: { startupTaints: [{ key: 'starting', value: 'x', effect: 'NoSchedule' }] } });
    await bench.join();
    expect(await initialized()).toMatchObject({
      reason: 'StartupTaintsExist',
      message: 'StartupTaint "starting=x:NoSchedule" still exists',
    });
    await setTaints();
    expect((await initialized())?.status).toBe('True');
  });

  test.each(['node.cloudprovider.kubernetes.io/uninitialized', 'readiness.k8s.io/network'])(
    'waits until the ephemeral taint %s is gone',
    async (key) => {
      await bench.makeClaim();
      await bench.join('a', taints(key, 'dedicated'));
      expect(await initialized()).toMatchObject({
        reason: 'KnownEphemeralTaintsExist',
        message: `KnownEphemeralTaint "${key}=x:NoSchedule" still exists`,
      });
      await setTaints('dedicated');
      expect((await initialized())?.status).toBe('True');
    },
  );

  test('waits until every requested resource has appeared, zero requests aside', async () => {
    await bench.makeClaim('a', {
      spec: { resources: { requests: { cpu: '1', 'example.com/gpu': '1', 'example.com/none': '0' } } },
    });
    await bench.join('a', { status: { allocatable: { cpu: '4', 'example.com/gpu': '0' } } });
    expect(await initialized()).toMatchObject({
      reason: 'ResourceNotRegistered',
      message: 'Resource "example.com/gpu" was requested but not registered',
    });
    await bench.apply(resources.nodes, {
      metadata: { name: 'a' },
      status: { allocatable: { cpu: '4', 'example.com/gpu': '1' } },
    });
    await bench.run(100);
    expect((await initialized())?.status).toBe('True');
  });

  test('never becomes uninitialized again', async () => {
    await bench.makeClaim('a', { spec: { startupTaints: [{ key: 'starting', effect: 'NoSchedule' }] } });
    await bench.join();
    await setTaints();
    await setTaints('starting');
    await bench.setReadiness('False');
    expect((await initialized())?.status).toBe('True');
  });

  test('has no deadline: it waits for days', async () => {
    await bench.makeClaim();
    await bench.join('a', { status: { conditions: [{ type: 'Ready', status: 'False' }] } });
    await bench.run(2 * 86_400_000);
    expect((await initialized())?.reason).toBe('NodeNotReady');
  });
});

describe('drivers of devices', () => {
  const claim = { metadata: { annotations: { 'karpenter.sh/requested-dra-drivers': 'gpu.example,nic.example' } } };
  const slice = (driver: string, generation: number, resourceSliceCount: number, nodeName = 'a'): ResourceSlice => ({
    metadata: { name: 'slice' },
    spec: { driver, nodeName, pool: { name: 'pool', generation, resourceSliceCount } },
  });
  const missing = (...slices: ResourceSlice[]) => driversWithoutPool(claim as unknown as NodeClaim, 'a', slices);

  test('are missing until each has a complete pool on the node', () => {
    expect(missing()).toEqual(['gpu.example', 'nic.example']);
    expect(missing(slice('gpu.example', 1, 1))).toEqual(['nic.example']);
    expect(missing(slice('gpu.example', 1, 1), slice('nic.example', 1, 1, 'b'))).toEqual(['nic.example']);
    expect(missing(slice('gpu.example', 1, 1), slice('nic.example', 1, 1))).toEqual([]);
  });

  test('count only with every slice of the newest generation', () => {
    const nic = slice('nic.example', 1, 1);
    expect(missing(nic, slice('gpu.example', 1, 2))).toEqual(['gpu.example']);
    expect(missing(nic, slice('gpu.example', 1, 1), slice('gpu.example', 2, 2))).toEqual(['gpu.example']);
    expect(missing(nic, slice('gpu.example', 2, 2), slice('gpu.example', 1, 1))).toEqual(['gpu.example']);
    expect(missing(nic, slice('gpu.example', 2, 2), slice('gpu.example', 2, 2))).toEqual([]);
  });

  test('do not matter to a claim that asked for none', () => {
    expect(driversWithoutPool({ metadata: {} } as unknown as NodeClaim, 'a', [])).toEqual([]);
  });
});
