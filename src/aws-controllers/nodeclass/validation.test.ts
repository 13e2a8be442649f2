import type {
  CreateFleetCommandInput,
  CreateLaunchTemplateCommandInput,
  RunInstancesCommandInput,
} from '@aws-sdk/client-ec2';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { EC2NodeClass, NodePool } from '../../api/index.ts';
import { awsRefusal } from '../../aws/fake-client.testing.ts';
import { ec2NodeClasses } from '../../aws/index.ts';
import { nodePools } from '../../controllers/index.ts';
import {
  minuteMs,
  type NodeClassBench,
  type NodeClassBenchOptions,
  openNodeClasses,
} from './nodeclass-bench.testing.ts';

let bench: NodeClassBench;
const open = async (options: NodeClassBenchOptions = {}) => {
  await bench.close();
  bench = await openNodeClasses(options);
};
beforeEach(async () => {
  bench = await openNodeClasses();
});
afterEach(() => bench.close());

const denied = (message = 'You are not authorized to perform this operation.') =>
  awsRefusal('UnauthorizedOperation', message, 403);
const noPolicy = 'User is not authorized to perform this operation because no identity-based policy allows it';
const validation = () => bench.condition('ValidationSucceeded');
const calls = () =>
  ['CreateLaunchTemplate', 'CreateFleet', 'RunInstances'].map((action) => bench.ec2.inputs(action).length);
const lastTemplate = () => bench.ec2.inputs<CreateLaunchTemplateCommandInput>('CreateLaunchTemplate').at(-1);
const lastRun = () => bench.ec2.inputs<RunInstancesCommandInput>('RunInstances').at(-1);

type Requirement = NodePool['spec']['template']['spec']['requirements'][number];
const pool = (...requirements: Requirement[]) =>
  bench.apply(nodePools, {
    metadata: { name: 'pool' },
    spec: {
      template: {
        spec: { nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' }, requirements },
      },
    },
  });
const types = (...values: string[]): Requirement => ({
  key: 'node.kubernetes.io/instance-type',
  operator: 'In',
  values,
});

describe('a class that may be launched', () => {
  test('is ready after one template, one fleet and one instance, the last two as dry runs', async () => {
    await bench.classOf();
    expect(await bench.condition('Ready')).toMatchObject({ status: 'True' });
    expect(await validation()).toMatchObject({ status: 'True', reason: 'ValidationSucceeded' });
    expect(calls()).toEqual([1, 1, 1]);
    const [fleet] = bench.ec2.inputs<CreateFleetCommandInput>('CreateFleet');
    expect(fleet).toMatchObject({
      DryRun: true,
      Type: 'instant',
      OnDemandOptions: { AllocationStrategy: 'lowest-price' },
      TargetCapacitySpecification: { DefaultTargetCapacityType: 'on-demand', TotalTargetCapacity: 1 },
    });
    const InstanceType = lastRun()?.InstanceType;
    expect(fleet?.LaunchTemplateConfigs?.[0]?.Overrides).toEqual(
      ['subnet-2', 'subnet-3', 'subnet-1'].map((SubnetId) => ({ InstanceType, SubnetId })),
    );
    expect(lastRun()).toMatchObject({
      DryRun: true,
      MinCount: 1,
      MaxCount: 1,
      LaunchTemplate: { LaunchTemplateName: lastTemplate()?.LaunchTemplateName, Version: '$Latest' },
      NetworkInterfaces: [{ DeviceIndex: 0, SubnetId: 'subnet-2' }],
    });
    expect(lastRun()?.TagSpecifications?.map(({ ResourceType }) => ResourceType)).toEqual([
      'instance',
      'volume',
      'network-interface',
    ]);
    expect(lastTemplate()?.TagSpecifications?.[0]?.Tags).toContainEqual({ Key: 'karpenter.sh/nodepool', Value: '' });
  });

  test('is asked about without its context, which concerns what is launched and not whether', async () => {
    await bench.classOf({ context: 'of-the-account' });
    const [fleet] = bench.ec2.inputs<CreateFleetCommandInput>('CreateFleet');
    expect(fleet).toMatchObject({ DryRun: true });
    expect(fleet).not.toHaveProperty('Context');
  });

  test('is not asked about again for half an hour, however often it is looked at', async () => {
    await bench.classOf();
    await bench.run(29 * minuteMs);
    expect(calls()).toEqual([1, 1, 1]);
    await bench.run(11 * minuteMs);
    expect(calls()).toEqual([2, 2, 2]);
  });

  test('a new annotation asks anew; another order of subnets does not', async () => {
    await bench.classOf();
    bench.world.subnets = bench.world.subnets.toReversed();
    await bench.run(2 * minuteMs);
    expect(calls()).toEqual([1, 1, 1]);
    await bench.apply(ec2NodeClasses, { metadata: { name: 'default', annotations: { again: 'please' } } });
    await bench.run(1_000);
    expect(calls().slice(1)).toEqual([2, 2]);
  });

  test('a class made again under its name is asked about anew', async () => {
    await bench.classOf();
    await bench.remove(ec2NodeClasses, 'default');
    await bench.run(1_000);
    expect(await bench.isGone()).toBe(true);
    await bench.classOf();
    expect(calls().slice(1)).toEqual([2, 2]);
  });

  test('without dry runs it is ready and EC2 is not asked', async () => {
    await open({ disableDryRun: true });
    await bench.classOf();
    expect(await bench.condition('Ready')).toMatchObject({ status: 'True' });
    expect(calls()).toEqual([0, 0, 0]);
  });
});

describe('what validation waits for', () => {
  const message = 'Awaiting AMI, Instance Profile, Security Group, and Subnet resolution';

  test('something that is False makes it False', async () => {
    bench.world.subnets = [];
    await bench.classOf();
    expect(await validation()).toMatchObject({ status: 'False', reason: 'DependenciesNotReady', message });
    expect(calls()).toEqual([0, 0, 0]);
  });

  test('something that is Unknown makes it Unknown', async () => {
    bench.iam.missingRoles.add('ghost');
    await bench.classOf({ role: 'ghost' });
    expect(await validation()).toMatchObject({ status: 'Unknown', reason: 'DependenciesNotReady', message });
    expect(await bench.condition('Ready')).toMatchObject({ status: 'Unknown' });
  });
});

describe('the addresses of services', () => {
  const bottlerocket = { amiFamily: 'Bottlerocket', amiSelectorTerms: [{ id: 'ami-x86_64-standard' }] } as const;

  test('are looked up for AL2023 only', async () => {
    await bench.classOf(bottlerocket as never);
    expect(await validation()).toMatchObject({ status: 'True' });
    expect(bench.world.cidrCalls).toBe(0);
    await bench.classOf({}, 'second');
    expect(bench.world.cidrCalls).toBeGreaterThan(0);
  });

  test('that cannot be found are reported; EKS in trouble is waited for', async () => {
    bench.world.cidrError = awsRefusal('AccessDeniedException', 'not you', 403);
    await bench.classOf();
    expect(await validation()).toMatchObject({
      status: 'False',
      reason: 'ClusterCIDRResolutionFailed',
      message: 'Failed to detect the cluster CIDR',
    });
    await open();
    bench.world.cidrError = awsRefusal('ServerException', 'oh', 500);
    await bench.classOf();
    expect(await validation()).toMatchObject({ status: 'Unknown', reason: 'AwaitingReconciliation' });
    delete bench.world.cidrError;
    await bench.run(10_000);
    expect(await validation()).toMatchObject({ status: 'True' });
  });
});

describe('what the controller is not allowed to do', () => {
  test.each([
    ['CreateLaunchTemplate', 'CreateLaunchTemplateAuthCheckFailed'],
    ['CreateFleet', 'CreateFleetAuthCheckFailed'],
    ['RunInstances', 'RunInstancesAuthCheckFailed'],
  ])('%s is reported, and believed for half an hour', async (action, reason) => {
    bench.world.errors[action] = denied();
    await bench.classOf();
    const reported = {
      status: 'False',
      reason,
      message: `Controller isn't authorized to call ec2:${action}: ${noPolicy}`,
    };
    expect(await validation()).toMatchObject(reported);
    expect(await bench.condition('Ready')).toMatchObject({ status: 'False', message: 'ValidationSucceeded=False' });
    bench.world.errors = {};
    await bench.run(15 * minuteMs);
    expect(await validation()).toMatchObject(reported);
    await bench.run(25 * minuteMs);
    expect(await validation()).toMatchObject({ status: 'True' });
  });

  test.each([
    [
      'with an explicit deny in a permissions boundary',
      'User is not authorized to perform this operation due to a permission boundary',
    ],
    [
      'with an explicit deny in a service control policy',
      'User is not authorized to perform this operation due to a service control policy',
    ],
    ['Not authorized for images: [ami-1]', 'User is not authorized for AMI used in instance launch'],
  ])('a dry run refused %s says so', async (text, detail) => {
    bench.world.errors['CreateFleet'] = denied(`You are not authorized to perform this operation. ${text}`);
    await bench.classOf();
    expect((await validation())?.message).toBe(`Controller isn't authorized to call ec2:CreateFleet: ${detail}`);
  });

  test('one subnet that works is enough', async () => {
    bench.world.subnetErrors = { 'subnet-2': denied() };
    await bench.classOf();
    expect(await validation()).toMatchObject({ status: 'True' });
    expect(calls()).toEqual([1, 1, 2]);
  });

  test('if no subnet works, the first says why', async () => {
    bench.world.subnetErrors = { 'subnet-1': denied(), 'subnet-2': denied(), 'subnet-3': awsRefusal('Odd') };
    await bench.classOf();
    expect(await validation()).toMatchObject({ reason: 'RunInstancesAuthCheckFailed' });
  });
});

test("a profile of the user's own that EC2 does not know is reported, and looked for again every minute", async () => {
  bench.world.errors['RunInstances'] = awsRefusal(
    'InvalidParameterValue',
    'Value (ours) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name',
  );
  await bench.classOf({ role: null as never, instanceProfile: 'ours' });
  expect(await validation()).toMatchObject({
    status: 'False',
    reason: 'InstanceProfileNotFound',
    message: 'Instance profile "ours" not found',
  });
  expect(await bench.condition('Ready')).toMatchObject({ status: 'False', message: 'ValidationSucceeded=False' });
  bench.world.errors = {};
  await bench.run(2 * minuteMs);
  expect(await validation()).toMatchObject({ status: 'True' });
});

describe('user data', () => {
  test('that is too large is reported', async () => {
    bench.world.errors['CreateLaunchTemplate'] = awsRefusal(
      'InvalidUserData.Malformed',
      'User data is limited to 16384 bytes',
    );
    await bench.classOf();
    expect(await validation()).toMatchObject({
      status: 'False',
      reason: 'UserDataSizeLimitExceeded',
      message:
        'ec2:CreateLaunchTemplate rejected the rendered user data as too large: Rendered user data exceeds the EC2 user data size limit',
    });
  });

  test('that is malformed otherwise is an error of the reconcile', async () => {
    bench.world.errors['CreateLaunchTemplate'] = awsRefusal('InvalidUserData.Malformed', 'Invalid BASE64 encoding');
    await bench.classOf();
    expect(await validation()).toMatchObject({ status: 'Unknown' });
    expect(bench.log.lines.some(({ error }) => String(error).includes('Invalid BASE64 encoding'))).toBe(true);
  });
});

describe('a busy AWS', () => {
  test.each([
    ['CreateLaunchTemplate', awsRefusal('RequestLimitExceeded', 'slow', 503)],
    ['CreateFleet', awsRefusal('InternalError', 'oh', 500)],
    [
      'RunInstances',
      awsRefusal(
        'InvalidParameterValue',
        'Value (x) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name',
      ),
    ],
  ])('%s is asked again soon without a word', async (action, error) => {
    bench.world.errors[action] = error;
    await bench.classOf();
    expect(await validation()).toMatchObject({ status: 'Unknown', reason: 'AwaitingReconciliation' });
    expect(bench.log.lines.filter((line) => line.error !== undefined)).toEqual([]);
    bench.world.errors = {};
    await bench.run(10_000);
    expect(await validation()).toMatchObject({ status: 'True' });
  });

  test('anything else fails the reconcile', async () => {
    bench.world.errors['CreateFleet'] = awsRefusal('InvalidParameter', 'what is this');
    await bench.classOf();
    expect(bench.log.lines.some(({ error }) => String(error).includes('what is this'))).toBe(true);
  });
});

describe('the type a class is checked with', () => {
  const images = {
    amiFamily: 'Windows2022',
    amiSelectorTerms: [{ id: 'ami-x86_64-standard' }],
  } as const;

  test('for Windows is m5.large', async () => {
    await pool(types('g4dn.8xlarge'));
    await bench.classOf(images as never);
    expect(lastRun()?.InstanceType).toBe('m5.large');
  });

  test('is one that a pool of the class wants, rather without GPU', async () => {
    await pool(types('c6g.large', 'g4dn.8xlarge'));
    await bench.classOf();
    expect(lastRun()?.InstanceType).toBe('c6g.large');
    expect(lastTemplate()?.LaunchTemplateData?.ImageId).toBe('ami-arm64-standard');
  });

  test('is one with a GPU if the pool wants nothing else', async () => {
    await pool(types('g4dn.8xlarge'));
    await bench.classOf();
    expect(lastRun()?.InstanceType).toBe('g4dn.8xlarge');
    expect(lastTemplate()?.LaunchTemplateData?.ImageId).toBe('ami-x86_64-nvidia');
  });

  test('is another one if the pool only wants what the class cannot launch', async () => {
    await pool(types('a1.large'));
    await bench.classOf();
    expect(lastRun()?.InstanceType).toBe('m5.large');
  });

  test('can carry the interfaces the class configures', async () => {
    const networkInterfaces: EC2NodeClass['spec']['networkInterfaces'] = [
      { networkCardIndex: 0, deviceIndex: 0, interfaceType: 'interface' },
      { networkCardIndex: 1, deviceIndex: 1, interfaceType: 'efa-only' },
    ];
    await bench.classOf({ networkInterfaces });
    expect(lastRun()?.InstanceType).toBe('p5.48xlarge');
    expect(lastRun()?.NetworkInterfaces).toEqual([
      { NetworkCardIndex: 0, DeviceIndex: 0, InterfaceType: 'interface', SubnetId: 'subnet-2' },
      { NetworkCardIndex: 1, DeviceIndex: 1, InterfaceType: 'efa-only', SubnetId: 'subnet-2' },
    ]);
  });

  const tenancy = (operator: 'In' | 'NotIn', ...values: string[]): Requirement => ({
    key: 'karpenter.k8s.aws/instance-tenancy',
    operator,
    values,
  });
  test.each<[string, Requirement[] | undefined, string]>([
    ['no pool', undefined, 'default'],
    ['a pool that says nothing', [], 'default'],
    ['default', [tenancy('In', 'default')], 'default'],
    ['dedicated', [tenancy('In', 'dedicated')], 'dedicated'],
    ['both', [tenancy('In', 'default', 'dedicated')], 'dedicated'],
    ['anything but default', [tenancy('NotIn', 'default')], 'dedicated'],
  ])('the tenancy with %s', async (_, requirements, expected) => {
    if (requirements !== undefined) await pool(...requirements);
    await bench.classOf();
    expect(lastTemplate()?.LaunchTemplateData?.Placement?.Tenancy).toBe(expected);
  });
});

describe('tags that AWS would refuse', () => {
  test('are reported in the condition, and never reach AWS', async () => {
    await bench.classOf({ tags: { 'aws:mine': 'x' } });
    expect(await validation()).toMatchObject({
      status: 'False',
      reason: 'TagValidationFailed',
      message: 'tag "aws:mine" begins with aws:, which AWS keeps for itself',
    });
    expect(await bench.condition('Ready')).toMatchObject({ status: 'False' });
    expect(bench.iam.count('CreateInstanceProfile')).toBe(0);
    expect(calls()).toEqual([0, 0, 0]);
    await bench.classOf({ tags: { 'aws:mine': null as never, mine: 'x' } });
    expect(await bench.condition('Ready')).toMatchObject({ status: 'True' });
  });
});

test('what keeps a class from being looked at is reported where people look: in an event on the class', async () => {
  bench.iam.missingRoles.add('node-role');
  await bench.classOf();
  const reported = bench.events.filter(({ reason }) => reason === 'ReconcileFailed');
  expect(reported[0]).toMatchObject({ type: 'Warning', subject: { kind: 'EC2NodeClass', name: 'default' } });
  expect([...new Set(reported.map(({ message }) => message))]).toEqual([
    'role not found, node-role: create it or correct spec.role',
  ]);
});

describe('expressions in kubelet settings', () => {
  const withExpressions = (expressionProblem: () => string | undefined) => open({ validation: { expressionProblem } });

  test('are refused while their gate is off', async () => {
    await bench.classOf({ kubelet: { maxPods: 'vcpus * 8' } });
    expect(await validation()).toMatchObject({ status: 'False', reason: 'KubeletExpressionsDisabled' });
  });

  test('that fail on a type keep the class from being used, and say so', async () => {
    await withExpressions(() => 'spec.kubelet.maxPods gives -1, which is negative on t3.nano');
    await bench.classOf({ kubelet: { maxPods: 'vcpus - 3' } });
    expect(await validation()).toMatchObject({
      status: 'False',
      reason: 'KubeletExpressionEvaluationFailed',
      message: expect.stringContaining('t3.nano'),
    });
  });

  test('that are numbers for every type are fine', async () => {
    await withExpressions(() => undefined);
    await bench.classOf({ kubelet: { maxPods: 'vcpus * 8' } });
    expect(await validation()).toMatchObject({ status: 'True' });
  });
});
