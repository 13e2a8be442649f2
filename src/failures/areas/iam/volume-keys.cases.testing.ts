// Cases of iam/ebs-kms-key-denied.
import { type FailureCase, object } from '../../case.testing.ts';

const ended = (Code: string): object => ({
  Reservations: [
    {
      Instances: [
        {
          InstanceId: 'i-0abc12345678',
          State: { Name: 'terminated' },
          StateReason: { Code, Message: `${Code}: Client error on launch` },
        },
      ],
    },
  ],
});

const volumeKey = 'arn:aws:kms:eu-west-1:111122223333:key/0a1b2c3d-1';
const nodeClass = (spec: object): object => object('EC2NodeClass', 'default', { spec });
/** The controller and its role. */
const launcher = [
  object(
    'Deployment',
    'karpenter',
    {
      metadata: { labels: { 'app.kubernetes.io/name': 'karpenter' } },
      spec: { template: { spec: { serviceAccountName: 'karpenter', containers: [{ name: 'controller' }] } } },
    },
    'kube-system',
  ),
  object(
    'ServiceAccount',
    'karpenter',
    {
      metadata: {
        annotations: { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::111122223333:role/KarpenterController' },
      },
    },
    'kube-system',
  ),
];
const policyFor = (AWS: string, condition?: object): object => ({
  PolicyName: 'default',
  Policy: JSON.stringify({
    Version: '2012-10-17',
    Statement: [
      {
        Sid: 'use',
        Effect: 'Allow',
        Principal: { AWS },
        Action: 'kms:*',
        Resource: '*',
        ...(condition === undefined ? {} : { Condition: { StringEquals: condition } }),
      },
    ],
  }),
});

export const volumeKeyCases: readonly FailureCase[] = [
  {
    id: 'iam/ebs-kms-key-denied',
    name: 'an instance that ended at launch',
    objects: [
      nodeClass({
        blockDeviceMappings: [
          { deviceName: '/dev/xvda', ebs: { kmsKeyID: 'arn:aws:kms:eu-west-1:111122223333:key/abc' } },
        ],
      }),
    ],
    aws: { 'ec2-describe-instances': ended('Client.InternalError') },
    confidence: 'certain',
    fix: ['arn:aws:kms:eu-west-1:111122223333:key/abc'],
  },
  {
    id: 'iam/ebs-kms-key-denied',
    name: 'a state transition of the console',
    text: 'State transition reason: Server.InternalError\nState transition reason message: Client.InternalError: Client error on launch',
  },
  {
    id: 'iam/ebs-kms-key-denied',
    name: 'an instance that was taken back',
    nearMiss: true,
    aws: { 'ec2-describe-instances': ended('Server.SpotInstanceTermination') },
  },
  {
    id: 'iam/ebs-kms-key-denied',
    name: 'the policy of a key that names others',
    objects: [...launcher, nodeClass({ blockDeviceMappings: [{ ebs: { kmsKeyID: volumeKey } }] })],
    aws: { 'kms-get-key-policy': policyFor('arn:aws:iam::111122223333:role/Admin') },
    cluster: { region: 'eu-west-1' },
    confidence: 'likely',
    fix: ['aws kms put-key-policy --key-id 0a1b2c3d-1', 'ec2.eu-west-1.amazonaws.com', 'role/Admin'],
  },
  {
    id: 'iam/ebs-kms-key-denied',
    name: 'a policy that lets EC2 of another region use the default key',
    objects: [...launcher, nodeClass({})],
    aws: {
      'ec2-get-ebs-encryption-by-default': { EbsEncryptionByDefault: true },
      'ec2-get-ebs-default-kms-key-id': { KmsKeyId: volumeKey },
      'kms-get-key-policy-0a1b2c3d-1': policyFor('*', { 'kms:ViaService': 'ec2.us-east-1.amazonaws.com' }),
      'kms-list-grants-0a1b2c3d-1': { Grants: [] },
    },
    cluster: { region: 'eu-west-1' },
    confidence: 'certain',
    fix: ['ec2.eu-west-1.amazonaws.com'],
  },
  {
    id: 'iam/ebs-kms-key-denied',
    name: 'a policy that leaves the decision to IAM',
    nearMiss: true,
    objects: [...launcher, nodeClass({ blockDeviceMappings: [{ ebs: { kmsKeyID: volumeKey } }] })],
    aws: { 'kms-get-key-policy': policyFor('arn:aws:iam::111122223333:root'), 'kms-list-grants': { Grants: [] } },
    cluster: { region: 'eu-west-1' },
  },
  {
    id: 'iam/ebs-kms-key-denied',
    name: "a policy that names the controller's role, and one of a key that no class uses",
    nearMiss: true,
    objects: [...launcher, nodeClass({ blockDeviceMappings: [{ ebs: { kmsKeyID: volumeKey } }] })],
    aws: {
      'kms-get-key-policy-0a1b2c3d-1': policyFor('arn:aws:iam::111122223333:role/KarpenterController'),
      'kms-get-key-policy-0a1b2c3d-2': policyFor('arn:aws:iam::111122223333:role/Admin'),
    },
    cluster: { region: 'eu-west-1' },
  },
  {
    id: 'iam/ebs-kms-key-denied',
    name: 'a key that does not exist',
    objects: [nodeClass({ blockDeviceMappings: [{ ebs: { kmsKeyID: volumeKey } }] })],
    refused: {
      'kms-describe-key-0a1b2c3d-1':
        "An error occurred (NotFoundException) when calling the DescribeKey operation: Key 'arn:aws:kms:eu-west-1:111122223333:key/0a1b2c3d-1' does not exist",
    },
    confidence: 'certain',
  },
  ...['Admin', 'KarpenterController'].map(
    (role): FailureCase => ({
      id: 'iam/ebs-kms-key-denied',
      name: `a policy for ${role}, where the role of the controller stands in its association`,
      ...(role === 'Admin' ? { confidence: 'certain' } : { nearMiss: true }),
      objects: [...launcher.slice(0, 1), nodeClass({ blockDeviceMappings: [{ ebs: { kmsKeyID: volumeKey } }] })],
      aws: {
        'eks-describe-pod-identity-association-a': {
          association: {
            namespace: 'kube-system',
            serviceAccount: 'karpenter',
            roleArn: 'arn:aws:iam::111122223333:role/KarpenterController',
          },
        },
        'kms-get-key-policy-0a1b2c3d-1': policyFor(`arn:aws:iam::111122223333:role/${role}`),
        'kms-list-grants-0a1b2c3d-1': { Grants: [] },
      },
      cluster: { region: 'eu-west-1', accountId: '111122223333' },
    }),
  ),
  {
    id: 'iam/ebs-kms-key-denied',
    name: 'a policy that is too long to be printed',
    objects: [...launcher, nodeClass({ blockDeviceMappings: [{ ebs: { kmsKeyID: volumeKey } }] })],
    aws: {
      'kms-get-key-policy': policyFor('arn:aws:iam::111122223333:role/Admin', {
        'aws:PrincipalTag/x': 'y'.repeat(9_000),
      }),
    },
    cluster: { region: 'eu-west-1' },
    fix: ['aws kms get-key-policy --key-id 0a1b2c3d-1', '"kms:ViaService":"ec2.eu-west-1.amazonaws.com"'],
  },
];
