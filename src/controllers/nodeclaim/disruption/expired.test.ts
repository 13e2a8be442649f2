// Expiry inside budgets: past its soft deadline a claim counts as drifted and waits for budgets, past the hard one it goes.
import { afterEach, expect, test } from 'vitest';
import { type NodeClaim, type NodePool, nodePoolHash, nodePoolHashVersion } from '../../../api/index.ts';
import { nodeClaims } from '../../own-resources.ts';
import { type Bench, openBench } from '../../testing/bench.testing.ts';
import { claimCondition } from '../claim-conditions.ts';
import { claimMetrics } from '../claim-metrics.ts';
import { expirationController } from '../expiration.ts';
import { claimDisruptionController } from './controller.ts';

const minute = 60_000;
let bench: Bench;
afterEach(() => bench.close());

async function opened(expirationGraceMs: number): Promise<void> {
  bench = await openBench({
    controllers: (context) => [
      claimDisruptionController(context),
      expirationController(context, claimMetrics(context.metrics)),
    ],
    settings: { expirationGraceMs },
  });
  await bench.nodeClass();
  const pool: NodePool = await bench.pool('default');
  const labels = { 'topology.kubernetes.io/zone': 'test-zone-a', 'karpenter.sh/capacity-type': 'on-demand' };
  await bench.machine('default', 'a', {
    conditions: { Launched: 'True', Registered: 'True', Initialized: 'True' },
    claim: {
      metadata: {
        labels,
        finalizers: ['example.com/keep'],
        annotations: {
          'karpenter.sh/nodepool-hash': nodePoolHash(pool.spec.template),
          'karpenter.sh/nodepool-hash-version': nodePoolHashVersion,
        },
      },
      spec: { expireAfter: '30m' },
    },
    node: { metadata: { labels } },
  });
}

const claim = async (): Promise<NodeClaim> => (await bench.get<NodeClaim>(nodeClaims, 'a')) as NodeClaim;

test('without a grace an expired claim is deleted at once and never counts as drifted', async () => {
  await opened(0);
  await bench.run(29 * minute);
  expect((await claim()).metadata.deletionTimestamp).toBeUndefined();
  await bench.run(2 * minute);
  expect((await claim()).metadata.deletionTimestamp).toBeDefined();
  expect(claimCondition(await claim(), 'Drifted')).toBeUndefined();
});

test('with a grace it counts as drifted from its expiry on and is deleted at the end of the grace', async () => {
  await opened(60 * minute);
  await bench.run(29 * minute);
  expect(claimCondition(await claim(), 'Drifted')).toBeUndefined();
  await bench.run(7 * minute);
  expect(claimCondition(await claim(), 'Drifted')).toMatchObject({ status: 'True', reason: 'Expired' });
  expect((await claim()).metadata.deletionTimestamp).toBeUndefined();
  await bench.run(55 * minute);
  expect((await claim()).metadata.deletionTimestamp).toBeDefined();
});
