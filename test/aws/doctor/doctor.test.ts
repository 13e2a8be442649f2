// Accounts that are set up wrong, diagnosed through the API of AWS; each fix is applied as printed, and the finding is gone.
import { DescribeSubnetsCommand, EC2Client } from '@aws-sdk/client-ec2';
import { EKSClient } from '@aws-sdk/client-eks';
import {
  CreateRoleCommand,
  CreateServiceLinkedRoleCommand,
  IAMClient,
  UpdateAssumeRolePolicyCommand,
} from '@aws-sdk/client-iam';
import { CreateQueueCommand, GetQueueUrlCommand, SetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { beforeEach, expect, test } from 'vitest';
import { type AwsClients, accountQuestions, answerOf } from '../../../src/aws/index.ts';
import { Gathering } from '../../../src/cli/doctor/gather.ts';
import { questionsOf } from '../../../src/cli/doctor/live/questions.ts';
import { catalogue, type Diagnosis, diagnose } from '../../../src/failures/index.ts';
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
    // The emulator has no EventBridge and no keys: as for someone who may not ask.
    json: { ask: () => Promise.reject(Object.assign(new Error('not allowed'), { name: 'AccessDeniedException' })) },
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
  for (const question of accountQuestions(clients, asked)) {
    const answer = await answerOf(question);
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
  expect(found(await diagnosed(), 'interruption/events-not-delivered')).toBeUndefined();
});
