// Cases of tooling/.
import { type FailureCase, object } from '../../case.testing.ts';

const nodeClass = object('EC2NodeClass', 'default', { spec: { role: 'KarpenterNodeRole-prod' } });
const policies = (...names: string[]): object => ({
  AttachedPolicies: names.map((PolicyName) => ({ PolicyName, PolicyArn: `arn:aws:iam::aws:policy/${PolicyName}` })),
});
const joining = ['AmazonEKSWorkerNodePolicy', 'AmazonEKS_CNI_Policy', 'AmazonEC2ContainerRegistryPullOnly'];

export const toolingCases: readonly FailureCase[] = [
  {
    id: 'tooling/expired-credentials',
    name: 'the aws command',
    text: 'An error occurred (ExpiredToken) when calling the GetCallerIdentity operation: The security token included in the request is expired',
    confidence: 'certain',
    fix: ['aws sts get-caller-identity'],
  },
  {
    id: 'tooling/expired-credentials',
    name: 'a session of single sign-on',
    texts: {
      'cli/eks.txt':
        '$ aws eks describe-cluster --name prod\nError when retrieving token from sso: Token has expired and refresh failed',
    },
  },
  {
    id: 'tooling/expired-credentials',
    name: "the controller's own session",
    nearMiss: true,
    texts: {
      'logs/karpenter.log':
        '{"level":"ERROR","time":"2026-03-01T11:59:00Z","logger":"controller","message":"Reconciler error","error":"describing subnets, operation error EC2: DescribeSubnets, api error RequestExpired: Request has expired."}',
    },
  },
  {
    id: 'tooling/kubeconfig-wrong',
    name: 'a server on localhost',
    text: 'The connection to the server localhost:42169 was refused - did you specify the right host or port?',
    cluster: { name: 'prod', region: 'eu-west-1' },
    fix: ['aws eks update-kubeconfig --name prod --region eu-west-1'],
  },
  {
    id: 'tooling/kubeconfig-wrong',
    name: 'Helm without a cluster',
    texts: {
      'cli/helm.txt':
        'Error: Kubernetes cluster unreachable: Get "http://localhost:8080/version": dial tcp [::1]:8080: connect: connection refused',
    },
  },
  {
    id: 'tooling/kubeconfig-wrong',
    name: 'an application that does not listen',
    nearMiss: true,
    text: 'Readiness probe failed: Get "http://127.0.0.1:8080/healthz": dial tcp 127.0.0.1:8080: connect: connection refused',
  },
  {
    id: 'tooling/no-shell-on-node',
    name: 'a session that is refused',
    text: 'An error occurred (TargetNotConnected) when calling the StartSession operation: i-0abc12345678def01 is not connected.',
    fix: ['AmazonSSMManagedInstanceCore', 'get-console-output'],
  },
  {
    id: 'tooling/no-shell-on-node',
    name: 'only the policy for sessions missing',
    objects: [nodeClass],
    aws: { 'iam-list-attached-role-policies-KarpenterNodeRole-prod': policies(...joining) },
    fix: ['--role-name KarpenterNodeRole-prod'],
  },
  {
    id: 'tooling/no-shell-on-node',
    name: 'a role with every policy',
    nearMiss: true,
    objects: [nodeClass],
    aws: {
      'iam-list-attached-role-policies-KarpenterNodeRole-prod': policies(...joining, 'AmazonSSMManagedInstanceCore'),
    },
  },
];
