import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Condition } from '../../api/index.ts';
import { conditionOf } from '../../base/index.ts';
import { nodePools } from '../own-resources.ts';
import { type Bench, openBench } from '../testing/bench.testing.ts';
import { readinessController } from './readiness.ts';
import { validationController } from './validation.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await openBench({
    controllers: (context) => [validationController(context), readinessController(context)],
  });
  await bench.nodeClass();
});
afterEach(() => bench.close());

const condition = async (type: string): Promise<Condition | undefined> =>
  conditionOf((await bench.get(nodePools, 'default'))?.status?.conditions, type);

test('a sound NodePool is valid, and Ready once its node class is', async () => {
  await bench.pool();
  await bench.run(1_000);
  expect(await condition('ValidationSucceeded')).toMatchObject({ status: 'True', reason: 'ValidationSucceeded' });
  expect(await condition('Ready')).toMatchObject({ status: 'True', reason: 'Ready', message: '' });
});

test('everything that is wrong is said at once, and the NodePool is not Ready', async () => {
  const twice = [
    { key: 'a', effect: 'NoSchedule' },
    { key: 'a', effect: 'NoSchedule' },
  ];
  const requirements = [{ key: 'karpenter.sh/capacity-type', operator: 'In', values: ['free'] }];
  await bench.pool('default', { spec: { template: { spec: { taints: twice, requirements } } } } as never);
  await bench.run(1_000);
  const found = await condition('ValidationSucceeded');
  expect(found).toMatchObject({ status: 'False', reason: 'NodePoolValidationFailed' });
  expect(found?.message).toContain('duplicate taint Key/Effect pair a=NoSchedule; ');
  expect(found?.message).toContain('no valid values found in [free] for karpenter.sh/capacity-type');
  expect(await condition('Ready')).toMatchObject({
    status: 'False',
    reason: 'UnhealthyDependents',
    message: 'ValidationSucceeded=False',
  });
});

test('a repaired NodePool is valid again', async () => {
  const requirements = [{ key: 'karpenter.sh/capacity-type', operator: 'In', values: ['free'] }];
  await bench.pool('default', { spec: { template: { spec: { requirements } } } } as never);
  await bench.run(1_000);
  await bench.pool();
  await bench.run(1_000);
  expect(await condition('Ready')).toMatchObject({ status: 'True' });
});
