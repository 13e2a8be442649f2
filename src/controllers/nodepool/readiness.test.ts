import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Condition } from '../../api/index.ts';
import { conditionOf } from '../../base/index.ts';
import { kwokNodeClasses } from '../../sim/index.ts';
import { nodePools } from '../own-resources.ts';
import { type Bench, openBench } from '../testing/bench.testing.ts';
import { readinessController } from './readiness.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await openBench({ controllers: (context) => [readinessController(context)] });
});
afterEach(() => bench.close());

const verdict = async (name = 'default'): Promise<Condition | undefined> =>
  conditionOf((await bench.get(nodePools, name))?.status?.conditions, 'NodeClassReady');

const ready = (status: string, reason: string, message: string) => ({
  status: {
    conditions: [{ type: 'Ready', status, reason, message, lastTransitionTime: '2026-01-01T00:00:00Z' }],
  },
});

describe('NodeClassReady', () => {
  test('is True when the node class is ready', async () => {
    await bench.nodeClass();
    await bench.pool();
    await bench.run(1_000);
    expect(await verdict()).toMatchObject({ status: 'True', reason: 'NodeClassReady', message: '' });
  });

  test('is False while there is no such node class, and follows its arrival and its end', async () => {
    await bench.pool();
    await bench.run(1_000);
    expect(await verdict()).toMatchObject({
      status: 'False',
      reason: 'NodeClassNotFound',
      message: 'NodeClass not found on cluster',
    });
    await bench.nodeClass('default', { metadata: { finalizers: ['example.com/keep'] } });
    await bench.run(1_000);
    expect(await verdict()).toMatchObject({ status: 'True' });
    await bench.remove(kwokNodeClasses, 'default');
    await bench.run(1_000);
    expect(await verdict()).toMatchObject({
      status: 'False',
      reason: 'NodeClassTerminating',
      message: 'NodeClass is Terminating',
    });
  });

  test.each([
    [
      'its own words when the node class is not ready',
      'False',
      'SubnetsNotFound',
      'no subnets',
      'SubnetsNotFound',
      'no subnets',
    ],
    [
      'that nothing is known while the node class is Unknown',
      'Unknown',
      'Reconciling',
      'wait',
      'NodeClassReadinessUnknown',
      'Node Class Readiness Unknown',
    ],
  ])('says %s', async (_, status, reason, message, expectedReason, expectedMessage) => {
    await bench.nodeClass('default', ready(status, reason, message) as never);
    await bench.pool();
    await bench.run(1_000);
    expect(await verdict()).toMatchObject({ status: 'False', reason: expectedReason, message: expectedMessage });
  });
});

test('a NodePool of another provider gets no conditions', async () => {
  const other = { group: 'example.com', kind: 'OtherNodeClass', name: 'default' };
  await bench.pool('other', { spec: { template: { spec: { nodeClassRef: other } } } });
  await bench.run(1_000);
  expect((await bench.get(nodePools, 'other'))?.status?.conditions).toBeUndefined();
});
