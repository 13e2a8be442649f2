// Accounts that are set up wrong, diagnosed through the API of AWS; each fix is applied as printed, and the finding is gone.
import { DescribeSubnetsCommand, EC2Client } from '@aws-sdk/client-ec2';
import {
  CreateAccessEntryCommand,
  CreateClusterCommand,
  DeleteAccessEntryCommand,
  EKSClient,
} from '@aws-sdk/client-eks';
import {
  CreateRoleCommand,
  CreateServiceLinkedRoleCommand,
  IAMClient,
  UpdateAssumeRolePolicyCommand,
} from '@aws-sdk/client-iam';
import { CreateQueueCommand, GetQueueUrlCommand, SetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { beforeEach, expect, test } from 'vitest';
import { jsonServices } from '../../../src/aws/clients/json-services.ts';
import { requestMetrics } from '../../../src/aws/clients/request-metrics.ts';
import { type AwsClients, accountQuestions, answerOf, furtherQuestions } from '../../../src/aws/index.ts';
import { Gathering } from '../../../src/cli/doctor/gather.ts';
import { questionsOf } from '../../../src/cli/doctor/live/questions.ts';
import { recordedMetrics } from '../../../src/controllers/testing/records.testing.ts';
import { catalogue, type Diagnosis, diagnose } from '../../../src/failures/index.ts';
import { RealClock } from '../../../src/runtime/index.ts';
import { useAwsEmulator } from '../../setup/use-aws-emulator.ts';

const emulator = useAwsEmulator();
const role = 'KarpenterNodeRole-prod';

let clients: Pick<AwsClients, 'ec2' | 'eks' | 'iam' | 'sqs' | 'json'>;

beforeEach(async () => {
  await emulator().control.reset();
  const options = { ...emulator().clientOptions, region: 'us-east-1' };
  clients = {
    ec2: new EC2Client(options),
    eks: new EKSClient(options),
    iam: new IAMClient(options),
    sqs: new SQSClient(options),
    json: jsonServices({
      region: 'us-east-1',
      env: { AWS_ENDPOINT_URL: options.endpoint },
      credentials: async () => options.credentials,
      handler: new NodeHttpHandler({ requestTimeout: 20_000 }),
      clock: new RealClock(),
      metrics: requestMetrics(recordedMetrics()),
    }),
  };
});

const objects = [
  {
    apiVersion: 'karpenter.k8s.aws/v1',
    kind: 'EC2NodeClass',
    metadata: { name: 'default' },
    spec: { role, amiSelectorTerms: [{ alias: 'al2023@latest' }] },
  },
  {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name: 'default' },
    spec: {
      template: {
        spec: {
          nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' },
          requirements: [{ key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot'] }],
        },
      },
    },
  },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'karpenter', namespace: 'kube-system', labels: { 'app.kubernetes.io/name': 'karpenter' } },
    spec: {
      template: {
        spec: { containers: [{ name: 'controller', env: [{ name: 'INTERRUPTION_QUEUE', value: 'prod' }] }] },
      },
    },
  },
];

/** Looks at the account as the live doctor does. */
async function diagnosed(items: readonly object[] = objects): Promise<Diagnosis> {
  const gathering = new Gathering();
  gathering.addObjects('objects/all.json', JSON.stringify({ kind: 'List', items }));
  const asked = questionsOf(gathering.soFar(), 'prod');
  if (asked === undefined) throw new Error('nothing to ask');
  const questions = accountQuestions(clients, asked);
  for (const question of questions) {
    const answer = await answerOf(question);
    questions.push(...furtherQuestions(clients, answer));
    const path = `aws/${answer.name}.${answer.kind === 'answer' ? 'json' : 'err'}`;
    const text = answer.kind === 'answer' ? JSON.stringify(answer.body) : answer.text;
    await gathering.add({ kind: 'entry', entry: { path, chunks: bytesOf(text) } }, 'live');
  }
  return diagnose(catalogue, gathering.finish().evidence);
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

const found = ({ findings }: Diagnosis, id: string) => findings.find((finding) => finding.id === id);

/** Runs a command of the aws tool as printed. */
async function run(command: string): Promise<void> {
  const option = (name: string): string =>
    new RegExp(`--${name} (?:'([^']*)'|(\\S+))`).exec(command)?.slice(1).find(Boolean) ?? '';
  if (command.startsWith('aws iam update-assume-role-policy'))
    await clients.iam.send(
      new UpdateAssumeRolePolicyCommand({ RoleName: option('role-name'), PolicyDocument: option('policy-document') }),
    );
  else if (command.startsWith('aws iam create-service-linked-role'))
    await clients.iam.send(new CreateServiceLinkedRoleCommand({ AWSServiceName: option('aws-service-name') }));
  else if (command.startsWith('aws eks create-access-entry'))
    await clients.eks.send(
      new CreateAccessEntryCommand({
        clusterName: option('cluster-name'),
        principalArn: option('principal-arn'),
        type: option('type'),
      }),
    );
  else if (command.startsWith('aws eks delete-access-entry'))
    await clients.eks.send(
      new DeleteAccessEntryCommand({ clusterName: option('cluster-name'), principalArn: option('principal-arn') }),
    );
  else if (command.startsWith('aws kms enable-key'))
    await clients.json.ask('kms', 'EnableKey', { KeyId: option('key-id') });
  else if (command.startsWith('aws kms put-key-policy'))
    await clients.json.ask('kms', 'PutKeyPolicy', {
      KeyId: option('key-id'),
      PolicyName: option('policy-name'),
      Policy: option('policy'),
    });
  else throw new Error(`not a command that is known here: ${command}`);
}

const trusting = (service: string): string =>
  JSON.stringify({
    Version: '2012-10-17',
    Statement: [{ Effect: 'Allow', Principal: { Service: service }, Action: 'sts:AssumeRole' }],
  });

test('a node role that trusts another service', async () => {
  await clients.iam.send(
    new CreateRoleCommand({ RoleName: role, AssumeRolePolicyDocument: trusting('eks.amazonaws.com') }),
  );
  const finding = found(await diagnosed(), 'iam/node-role-trust-wrong');
  expect(finding).toMatchObject({ confidence: 'certain', severity: 'high' });
  for (const command of finding?.fix ?? []) await run(command);
  expect(found(await diagnosed(), 'iam/node-role-trust-wrong')).toBeUndefined();
});

test('a subnet without addresses', async () => {
  const { Subnets = [] } = await clients.ec2.send(new DescribeSubnetsCommand({}));
  const id = Subnets[0]?.SubnetId ?? '';
  const [nodeClass] = structuredClone(objects);
  const selecting = [{ ...nodeClass, status: { subnets: [{ id, zone: Subnets[0]?.AvailabilityZone }] } }];
  emulator().control.setFreeAddresses({ subnetId: id, count: 3 });
  expect(found(await diagnosed(selecting), 'net/subnet-addresses-exhausted')?.summary).toContain(`${id} (`);
  emulator().control.setFreeAddresses({ subnetId: id, count: 200 });
  expect(found(await diagnosed(selecting), 'net/subnet-addresses-exhausted')).toBeUndefined();
});

test('a node role without its policies is named with the command for each', async () => {
  await clients.iam.send(
    new CreateRoleCommand({ RoleName: role, AssumeRolePolicyDocument: trusting('ec2.amazonaws.com') }),
  );
  // The emulator has no policies of AWS to attach, so the commands are only read.
  expect(found(await diagnosed(), 'iam/node-role-policies-missing')?.fix).toEqual(
    ['AmazonEKSWorkerNodePolicy', 'AmazonEC2ContainerRegistryPullOnly', 'AmazonEKS_CNI_Policy'].map(
      (policy) => `aws iam attach-role-policy --role-name ${role} --policy-arn arn:aws:iam::aws:policy/${policy}`,
    ),
  );
});

test('an account that never used spot', async () => {
  await clients.iam.send(
    new CreateRoleCommand({ RoleName: role, AssumeRolePolicyDocument: trusting('ec2.amazonaws.com') }),
  );
  const finding = found(await diagnosed(), 'iam/spot-service-linked-role-missing');
  expect(finding).toMatchObject({ confidence: 'certain', severity: 'high' });
  await run(finding?.fix[0] ?? '');
  expect(found(await diagnosed(), 'iam/spot-service-linked-role-missing')).toBeUndefined();
});

/** The role, sound in itself, and a cluster that knows nodes by access entries. */
async function cluster(): Promise<string> {
  const { Role } = await clients.iam.send(
    new CreateRoleCommand({ RoleName: role, AssumeRolePolicyDocument: trusting('ec2.amazonaws.com') }),
  );
  await clients.eks.send(
    new CreateClusterCommand({ name: 'prod', version: '1.34', roleArn: Role?.Arn, resourcesVpcConfig: {} }),
  );
  emulator().control.setCluster({ name: 'prod', accessConfig: { authenticationMode: 'API' } });
  return Role?.Arn ?? '';
}

test('a role without an access entry, and one whose entry is of another type', async () => {
  const principalArn = await cluster();
  const id = 'registration/node-role-not-mapped';
  const unmapped = found(await diagnosed(), id);
  expect(unmapped).toMatchObject({ confidence: 'certain', severity: 'critical' });
  await run(unmapped?.fix[0] ?? '');
  expect(found(await diagnosed(), id)).toBeUndefined();

  await clients.eks.send(new DeleteAccessEntryCommand({ clusterName: 'prod', principalArn }));
  await clients.eks.send(new CreateAccessEntryCommand({ clusterName: 'prod', principalArn, type: 'STANDARD' }));
  const ofWrongType = found(await diagnosed(), id);
  expect(ofWrongType?.summary).toContain('STANDARD');
  for (const command of ofWrongType?.fix.filter((one) => one.startsWith('aws ')) ?? []) await run(command);
  expect(found(await diagnosed(), id)).toBeUndefined();
});

test('a key of volumes that was disabled', async () => {
  await cluster();
  const { KeyMetadata } = (await clients.json.ask('kms', 'CreateKey', {})) as { KeyMetadata: { KeyId: string } };
  const { KeyId } = KeyMetadata;
  const [nodeClass, ...rest] = structuredClone(objects);
  const blockDeviceMappings = [{ deviceName: '/dev/xvda', ebs: { encrypted: true, kmsKeyID: KeyId } }];
  const encrypted = [{ ...nodeClass, spec: { ...nodeClass?.spec, blockDeviceMappings } }, ...rest];
  const id = 'iam/ebs-kms-key-denied';
  expect(found(await diagnosed(encrypted), id)).toBeUndefined();
  await clients.json.ask('kms', 'DisableKey', { KeyId });
  const finding = found(await diagnosed(encrypted), id);
  expect(finding).toMatchObject({ confidence: 'certain', summary: expect.stringContaining('is Disabled') });
  await run(finding?.fix[0] ?? '');
  expect(found(await diagnosed(encrypted), id)).toBeUndefined();
});

test('a key of volumes whose policy leaves out who launches', async () => {
  await cluster();
  const only = (AWS: string): string =>
    JSON.stringify({
      Version: '2012-10-17',
      Statement: [{ Sid: 'admins', Effect: 'Allow', Principal: { AWS }, Action: 'kms:*', Resource: '*' }],
    });
  const { KeyMetadata } = (await clients.json.ask('kms', 'CreateKey', {
    Policy: only('arn:aws:iam::123456789012:role/Admin'),
  })) as { KeyMetadata: { KeyId: string } };
  await clients.json.ask('kms', 'CreateAlias', { AliasName: 'alias/volumes', TargetKeyId: KeyMetadata.KeyId });
  const [nodeClass, ...rest] = structuredClone(objects);
  // By its alias, of which KMS does not give a policy.
  const blockDeviceMappings = [{ deviceName: '/dev/xvda', ebs: { encrypted: true, kmsKeyID: 'alias/volumes' } }];
  const roleArn = 'arn:aws:iam::123456789012:role/KarpenterController';
  const account = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'default', namespace: 'kube-system', annotations: { 'eks.amazonaws.com/role-arn': roleArn } },
  };
  const encrypted = [{ ...nodeClass, spec: { ...nodeClass?.spec, blockDeviceMappings } }, account, ...rest];
  const id = 'iam/ebs-kms-key-denied';
  const finding = found(await diagnosed(encrypted), id);
  expect(finding).toMatchObject({
    confidence: 'certain',
    summary: expect.stringContaining('does not let KarpenterController use it'),
  });
  await run(finding?.fix[0] ?? '');
  const after = await diagnosed(encrypted);
  expect(found(after, id)).toBeUndefined();
  expect(after.checks).toContainEqual({ id, outcome: 'clear' });
  // What the policy said before is still there.
  const { Policy } = (await clients.json.ask('kms', 'GetKeyPolicy', {
    KeyId: KeyMetadata.KeyId,
    PolicyName: 'default',
  })) as { Policy: string };
  expect(Policy).toContain('role/Admin');
});

const patterns: Record<string, object> = {
  spot: { source: ['aws.ec2'], 'detail-type': ['EC2 Spot Instance Interruption Warning'] },
  rebalance: { source: ['aws.ec2'], 'detail-type': ['EC2 Instance Rebalance Recommendation'] },
  state: { source: ['aws.ec2'], 'detail-type': ['EC2 Instance State-change Notification'] },
  health: { source: ['aws.health'], 'detail-type': ['AWS Health Event'] },
};

/** A rule for each kind of event, all of which send to this queue. */
async function feed(queue: string): Promise<void> {
  for (const [Name, pattern] of Object.entries(patterns)) {
    await clients.json.ask('events', 'PutRule', { Name, EventPattern: JSON.stringify(pattern) });
    const Targets = [{ Id: 'queue', Arn: `arn:aws:sqs:us-east-1:123456789012:${queue}` }];
    await clients.json.ask('events', 'PutTargets', { Rule: Name, Targets });
  }
}

test('a queue that is not there, and then one that no event may enter', async () => {
  await clients.iam.send(
    new CreateRoleCommand({ RoleName: role, AssumeRolePolicyDocument: trusting('ec2.amazonaws.com') }),
  );
  expect(found(await diagnosed(), 'interruption/events-not-delivered')?.summary).toContain('does not exist');
  await clients.sqs.send(new CreateQueueCommand({ QueueName: 'prod' }));
  expect(found(await diagnosed(), 'interruption/events-not-delivered')?.summary).toContain('policy');
  const { QueueUrl } = await clients.sqs.send(new GetQueueUrlCommand({ QueueName: 'prod' }));
  const statement = {
    Effect: 'Allow',
    Principal: { Service: ['events.amazonaws.com', 'sqs.amazonaws.com'] },
    Action: 'sqs:SendMessage',
    Resource: '*',
  };
  await clients.sqs.send(
    new SetQueueAttributesCommand({
      QueueUrl,
      Attributes: { Policy: JSON.stringify({ Version: '2012-10-17', Statement: [statement] }) },
    }),
  );
  // No rule yet; then rules of another cluster; then our own.
  expect(found(await diagnosed(), 'interruption/events-not-delivered')?.summary).toContain('no rule for spot');
  await clients.sqs.send(new CreateQueueCommand({ QueueName: 'other' }));
  await feed('other');
  expect(found(await diagnosed(), 'interruption/events-not-delivered')?.summary).toContain('does not target the queue');
  await feed('prod');
  expect(found(await diagnosed(), 'interruption/events-not-delivered')).toBeUndefined();
});
