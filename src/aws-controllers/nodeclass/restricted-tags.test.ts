// Tags that only the provider may set, on a class that came around admission: the API server would refuse it, so the
// step is asked directly.
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ec2NodeClassConditions } from '../../api/index.ts';
import { nodeClass } from '../../aws/node-class.testing.ts';
import { conditionOf, VirtualClock } from '../../base/index.ts';
import { Draft } from './draft.ts';
import { Validation } from './validation.ts';

const clock = new VirtualClock({ settle: () => setImmediate() });
const validation = new Validation({
  clock,
  checks: { run: async () => ({ kind: 'passed' }) },
  disableDryRun: true,
  instanceTypes: async () => [],
  poolsOf: () => [],
  serviceCidr: async () => '10.100.0.0/16',
});

function draftWith(tags: Record<string, string>): Draft {
  const draft = new Draft(nodeClass({ tags }), ec2NodeClassConditions(true), clock.now());
  const others = ec2NodeClassConditions(true).dependents.filter((type) => type !== 'ValidationSucceeded');
  for (const type of others) draft.set({ type, status: 'True' });
  return draft;
}
const reported = (draft: Draft, type: string) => conditionOf(draft.status.conditions, type);

test.each([
  'eks:eks-cluster-name',
  'karpenter.sh/nodepool',
  'karpenter.sh/nodeclaim',
  'karpenter.k8s.aws/ec2nodeclass',
  'kubernetes.io/cluster/my-cluster',
])('the tag %s is refused for good', async (key) => {
  const draft = draftWith({ [key]: 'x' });
  await expect(validation.step(draft)).rejects.toMatchObject({ code: 'TagRestricted', retryable: false });
  expect(reported(draft, 'ValidationSucceeded')).toMatchObject({ status: 'False', reason: 'TagValidationFailed' });
  expect(reported(draft, 'Ready')).toMatchObject({ status: 'False', message: 'ValidationSucceeded=False' });
});

test('other tags are fine', async () => {
  const draft = draftWith({ 'karpenter.sh/custom-key': 'x', 'kubernetes.io/role/key': '', Name: 'mine' });
  await validation.step(draft);
  expect(reported(draft, 'Ready')).toMatchObject({ status: 'True' });
});
