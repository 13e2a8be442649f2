import { afterEach, beforeEach, expect, test } from 'vitest';
import { type AwsBench, openAwsBench } from '../aws-bench.testing.ts';
import { missingQueueController } from './missing-queue.ts';

let bench: AwsBench;
beforeEach(async () => {
  bench = await openAwsBench({ controllers: (context) => [missingQueueController(context)] });
});
afterEach(() => bench.close());

const pool = (name: string, ...values: string[]) => {
  const requirements =
    values.length === 0 ? [] : [{ key: 'karpenter.sh/capacity-type', operator: 'In' as const, values }];
  return bench.pool(name, { spec: { template: { spec: { requirements } } } });
};

test('a pool that allows spot, explicitly or by default, gets an event that interruptions are not received', async () => {
  await pool('spot', 'spot', 'on-demand');
  await pool('silent');
  await pool('steady', 'on-demand');
  await bench.run(2_000);
  expect(bench.events.map(({ type, reason, subject }) => `${type} ${reason} ${subject.name}`).sort()).toEqual([
    'Normal NoInterruptionQueue silent',
    'Normal NoInterruptionQueue spot',
  ]);
});
