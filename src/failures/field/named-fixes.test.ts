// A fix carries the names that the text says: what can be pasted must not have to be filled in first.
import { expect, test } from 'vitest';
import { diagnoseCase } from '../case.testing.ts';

const fixOf = (text: string): string => diagnoseCase({ text }).findings[0]?.fix.join('\n') ?? '';

test.each([
  [
    'time="2026-05-10T09:00:00Z" level=warning msg="access denied" error="ARN is not mapped: arn:aws:iam::444455556666:role/kp-node-atlas"\n$ aws eks list-access-entries --cluster-name atlas',
    ['--cluster-name atlas', 'arn:aws:iam::444455556666:role/kp-node-atlas'],
  ],
  [
    'ResourceNotFoundException: [c6]: No association found for service account karpenter-sa in namespace karpenter","client-addr":"10.0.1.12","cluster-name":"prod"',
    ['--cluster-name prod', '--namespace karpenter', '--service-account karpenter-sa'],
  ],
  [
    'Normal DisruptionBlocked 55s (x200 over 7h) karpenter Pod has "karpenter.sh/do-not-disrupt" annotation (Pod=ci/runner-abc)',
    ['kubectl -n ci annotate pod runner-abc'],
  ],
  [
    'An error occurred (TargetNotConnected) when calling the StartSession operation: i-0f3b00000000000aa is not connected.',
    ['--instance-id i-0f3b00000000000aa'],
  ],
  [
    '{"Code":"AssumeRoleUnauthorizedAccess","Message":"EC2 cannot assume the role KarpenterNodeRole-prod. Please see documentation"}',
    ['--role-name KarpenterNodeRole-prod --policy-document'],
  ],
  [
    'error: resource mapping not found for name: "default" namespace: "" from "pools/nodepool.yaml": no matches for kind "NodePool" in version "karpenter.sh/v1beta1"\nensure CRDs are installed first',
    ['kerf convert -f pools/nodepool.yaml'],
  ],
  [
    'Unable to connect to the server: dial tcp: lookup 9F3A.gr7.us-west-2.eks.amazonaws.com on 192.168.1.1:53: no such host',
    ['--region us-west-2'],
  ],
  [
    '$ kubectl logs -n karpenter deploy/karpenter\npanic: "" not a valid CLUSTER_ENDPOINT URL',
    ['--namespace karpenter'],
  ],
  [
    '{"message":"Reconciler error","EC2NodeClass":{"name":"legacy"},"error":"getting ssm parameter \\"/aws/service/eks/optimized-ami/1.33/amazon-linux-2/recommended/image_id\\", ParameterNotFound"}',
    ['ec2nodeclass legacy'],
  ],
])('%s', (text, names) => {
  const fix = fixOf(text);
  for (const name of names) expect(fix).toContain(name);
});

test('where texts name two clusters, none is guessed', () => {
  const denied = (cluster: string): string =>
    `User: arn:aws:sts::444455556666:assumed-role/KarpenterNodeRole/i-0abc is not authorized; ARN is not mapped: arn:aws:iam::444455556666:role/nodes (arn:aws:eks:eu-west-1:444455556666:cluster/${cluster})`;
  expect(fixOf(`${denied('blue')}\n${denied('green')}`)).toContain('"$CLUSTER_NAME"');
});
