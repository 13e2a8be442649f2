import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { resources } from '../../ports/index.ts';
import { nodeClaims } from '../own-resources.ts';
import type { MachineParts } from '../testing/bench.testing.ts';
import { type LifecycleBench, openLifecycle } from '../testing/lifecycle.testing.ts';
import { consistencyController } from './consistency.ts';

let bench: LifecycleBench;
beforeEach(async () => {
  bench = await openLifecycle({ controllers: (context) => [consistencyController(context)] });
});
afterEach(() => bench.close());

const make = async (nodeMemory: string, over: MachineParts = {}): Promise<void> => {
  // As a kubelet does it: the Node comes with its capacity.
  const status = { capacity: { cpu: '1', memory: nodeMemory } };
  await bench.kube.create(resources.nodes, { metadata: { name: 'a' }, spec: { providerID: 'kwok://a' }, status });
  await bench.machine('default', 'a', {
    claim: { spec: { resources: { requests: { memory: '1Gi' } } } },
    node: false,
    ...over,
  });
  await bench.run(1_000);
};
const found = () => bench.condition('ConsistentStateFound');

describe('an initialized claim', () => {
  test('is consistent if its node has nine tenths of what was promised', async () => {
    await make('7550Mi');
    expect(await found()).toMatchObject({ status: 'True' });
    expect(bench.events).toEqual([]);
  });

  test('is not if the node has less of something that was asked for, and tells how much', async () => {
    await make('4Gi');
    expect(await found()).toMatchObject({
      status: 'False',
      reason: 'ConsistencyCheckFailed',
      message: 'Consistency Check Failed',
    });
    expect(bench.events).toMatchObject([
      {
        reason: 'FailedConsistencyCheck',
        type: 'Warning',
        subject: { kind: 'NodeClaim', name: 'a' },
        message: 'expected 8Gi of resource memory, but found 4Gi (50.0% of expected)',
      },
    ]);
  });

  test('ignores what was not asked for', async () => {
    await make('8Gi');
    expect((await bench.node()).status?.capacity?.['cpu']).toBe('1');
    expect((await bench.claim()).status?.capacity?.['cpu']).toBe('4');
    expect((await found())?.status).toBe('True');
  });

  test('is looked at every ten minutes, whatever changes in between', async () => {
    await make('4Gi');
    await bench.apply(resources.nodes, { metadata: { name: 'a' }, status: { capacity: { cpu: '1', memory: '8Gi' } } });
    await bench.apply(nodeClaims, { metadata: { name: 'a', labels: { touched: 'yes' } } });
    await bench.run(590_000);
    expect((await found())?.status).toBe('False');
    await bench.run(10_000);
    expect((await found())?.status).toBe('True');
  });
});

test('a claim that is not initialized is not looked at', async () => {
  await make('4Gi', { conditions: { Launched: 'True', Registered: 'True', Initialized: 'Unknown' } });
  expect(await found()).toBeUndefined();
});
