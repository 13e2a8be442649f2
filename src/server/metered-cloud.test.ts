import { expect, test } from 'vitest';
import { VirtualClock } from '../base/index.ts';
import { type Cloud, CloudError } from '../ports/index.ts';
import { prometheusMetrics } from '../telemetry/index.ts';
import { asController } from './caller.ts';
import { meteredCloud } from './metered-cloud.ts';

const clock = new VirtualClock({ settle: () => Promise.resolve() });

test('calls are timed per controller and method, failures counted by their kind', async () => {
  const metrics = prometheusMetrics();
  const gone = {
    name: 'kwok',
    get: () => Promise.reject(new CloudError('notFound', 'no such machine')),
    list: () => Promise.resolve([]),
  };
  const cloud = meteredCloud(gone as unknown as Cloud, metrics, clock);
  await asController('nodeclaim.garbagecollection', () => cloud.list());
  await expect(asController('node.termination', () => cloud.get('kwok://x'))).rejects.toThrow('no such machine');
  const text = await metrics.render();
  expect(text).toContain(
    'karpenter_cloudprovider_duration_seconds_count{controller="nodeclaim.garbagecollection",method="List",provider="kwok"} 1',
  );
  expect(text).toContain(
    'karpenter_cloudprovider_errors_total{controller="node.termination",method="Get",provider="kwok",error="NodeClaimNotFoundError",nodepool=""} 1',
  );
});
