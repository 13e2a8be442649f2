// What a process holds stays flat over rounds of churn, for as long as KERF_SOAK_MINUTES says.
import { expect, test } from 'vitest';
import { useAwsCluster } from '../../ec2/aws-cluster.ts';
import { soak } from './soak.ts';

const minutes = Number(process.env['KERF_SOAK_MINUTES'] ?? 10);
const cluster = useAwsCluster({}, { isIdle: true });

test(`memory, descriptors and every map are flat over ${minutes} minutes of churn`, {
  timeout: (minutes + 8) * 60_000,
}, async () => {
  const tally = await soak(cluster, minutes * 60_000);
  tally.print('soak');
  expect(tally.of('rounds')).toBeGreaterThan(3);
});
