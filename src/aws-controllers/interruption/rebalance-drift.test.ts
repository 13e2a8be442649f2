import { expect, test } from 'vitest';
import type { NodeClaim } from '../../api/index.ts';
import { ScriptedCloud } from '../../controllers/testing/scripted-cloud.testing.ts';
import { replacingRebalanced } from './rebalance-drift.ts';

const labels = { 'node.kubernetes.io/instance-type': 'm5.large', 'topology.kubernetes.io/zone': 'us-east-1a' };
const claim = (annotations: Record<string, string>) =>
  ({ metadata: { name: 'a', labels, annotations } }) as unknown as NodeClaim;

test('a claim that EC2 recommends to leave is drifted, and its pool of machines is avoided', async () => {
  const lost: string[] = [];
  const offering = (...pool: string[]): void => void lost.push(pool.join(':'));
  const cloud = replacingRebalanced(new ScriptedCloud(), { offering, reservation: () => {} });
  expect(await cloud.driftReason(claim({}))).toBeUndefined();
  expect(lost).toEqual([]);
  const recommended = claim({ 'karpenter.k8s.aws/rebalance-recommended': '2026-01-01T00:00:00Z' });
  expect(await cloud.driftReason(recommended)).toBe('SpotRebalanceRecommended');
  expect(lost).toEqual(['m5.large:us-east-1a:spot']);
});
