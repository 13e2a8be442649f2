// The checks before launches over scripted answers of the account: what pauses a class, what is only reported, and what
// happens when answers are missing, wrong or late.
import { setImmediate as settle } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { type EC2NodeClass, ec2NodeClassConditions, type NodeClaim, type NodePool } from '../../api/index.ts';
import { conditionOf, VirtualClock } from '../../base/index.ts';
import type { ControllerContext } from '../../controllers/index.ts';
import { recordedEvents, recordedLog } from '../../controllers/testing/records.testing.ts';
import { AwsAnswers } from '../../failures/index.ts';
import { Draft } from '../nodeclass/draft.ts';
import { launchesPausedStep } from '../nodeclass/launches-paused.ts';
import { LaunchChecksLoop } from './controller.ts';

const arn = (role: string): string => `arn:aws:iam::111122223333:role/${role}`;
const ec2Trust = {
  Statement: [{ Effect: 'Allow', Principal: { Service: 'ec2.amazonaws.com' }, Action: 'sts:AssumeRole' }],
};

/** A sound account; tests change one answer. An Error is what the aws command prints of a refusal. */
const sound = (): Record<string, object | string> => ({
  'eks-describe-cluster': {
    cluster: {
      name: 'prod',
      accessConfig: { authenticationMode: 'API' },
      resourcesVpcConfig: { endpointPrivateAccess: true, clusterSecurityGroupId: 'sg-cluster' },
    },
  },
  'eks-list-access-entries': { accessEntries: [arn('nodes')] },
  'iam-get-role-nodes': { Role: { RoleName: 'nodes', Arn: arn('nodes'), AssumeRolePolicyDocument: ec2Trust } },
  'iam-list-attached-role-policies-nodes': {
    AttachedPolicies: ['AmazonEKSWorkerNodePolicy', 'AmazonEC2ContainerRegistryPullOnly', 'AmazonEKS_CNI_Policy'].map(
      (PolicyName) => ({ PolicyName }),
    ),
  },
  'ec2-get-ebs-encryption-by-default': { EbsEncryptionByDefault: false },
  'ec2-describe-subnets': { Subnets: [{ SubnetId: 'subnet-1', AvailableIpAddressCount: 200 }] },
  'ec2-describe-security-groups': {
    SecurityGroups: [
      { GroupId: 'sg-cluster', IpPermissions: [{ IpProtocol: '-1', UserIdGroupPairs: [{ GroupId: 'sg-node' }] }] },
    ],
  },
});
const denied = (name: string): string => `An error occurred (AccessDenied) when calling ${name}: not you`;

const nodeClass = (): EC2NodeClass =>
  ({
    metadata: { name: 'default', uid: 'uid-1', generation: 1 },
    spec: { role: 'nodes', amiSelectorTerms: [{ alias: 'al2023@latest' }] },
    status: { subnets: [{ id: 'subnet-1', zone: 'a' }], securityGroups: [{ id: 'sg-node' }] },
  }) as unknown as EC2NodeClass;

let account: Record<string, object | string>;
let claims: NodeClaim[];
let pools: NodePool[];
let world: ReturnType<typeof open>;

function open() {
  const clock = new VirtualClock({ settle: () => settle() });
  const [events, log] = [recordedEvents(), recordedLog()];
  const state = { clockProblem: undefined as string | undefined, held: nodeClass(), woken: 0 };
  const context = {
    clock,
    log,
    recorder: events,
    cluster: { nodePools: { list: () => pools }, claims: { list: () => claims } },
    cacheOf: () => ({ get: () => state.held, values: () => [state.held] }),
    time: { problem: () => state.clockProblem, aheadMs: () => 0 },
  } as unknown as ControllerContext;
  const loop = new LaunchChecksLoop(context, {
    clusterName: 'prod',
    interruptionQueue: '',
    look: async () => {
      const aws = new AwsAnswers();
      for (const [name, answer] of Object.entries(account))
        if (typeof answer === 'string') aws.addRefusal(name, answer, name);
        else aws.add(name, answer, name);
      return { aws, isThrottled: false };
    },
    awsAuth: async () => undefined,
    kubernetesVersion: () => '1.34',
    caller: async () => 'arn:aws:sts::111122223333:assumed-role/KarpenterControllerRole-prod/karpenter',
  });
  const step = launchesPausedStep(loop.verdicts);
  loop.onChange(() => {
    state.woken += 1;
  });
  const controller = loop.controller();
  /** One look, and the class as the nodeclass controller writes it after that. */
  const look = async () => {
    const outcome = await controller.reconcile('all', new AbortController().signal);
    const draft = new Draft(state.held, ec2NodeClassConditions(false), clock.now());
    for (const type of ec2NodeClassConditions(false).dependents) draft.set({ type, status: 'True' });
    await step(draft);
    state.held = draft.nodeClass;
    return outcome;
  };
  const condition = (type: string) => conditionOf(state.held.status?.conditions, type);
  return { clock, events, state, look, condition, controller };
}

beforeEach(() => {
  account = sound();
  claims = [];
  pools = [];
  world = open();
});

const paused = () => world.condition('LaunchesPaused');
const twice = async () => {
  await world.look();
  return world.look();
};

test('a sound account pauses nothing and is looked at every three minutes', async () => {
  expect(await twice()).toEqual({ kind: 'again', afterMs: 180_000 });
  expect(paused()).toBeUndefined();
  expect(world.condition('Ready')?.status).toBe('True');
  expect(world.events.list.filter(({ type }) => type === 'Warning')).toEqual([]);
});

test('a role that nothing maps pauses the class at the second look, with id, cause and fix', async () => {
  account['eks-list-access-entries'] = { accessEntries: [arn('other')] };
  expect(await world.look()).toEqual({ kind: 'again', afterMs: 10_000 });
  expect(paused()).toBeUndefined();
  expect(world.condition('Ready')?.status).toBe('True');
  expect(await world.look()).toEqual({ kind: 'again', afterMs: 60_000 });
  expect(paused()).toMatchObject({ status: 'True', reason: 'NodeRoleNotMapped' });
  expect(paused()?.message).toContain(
    `aws eks create-access-entry --cluster-name prod --principal-arn ${arn('nodes')} --type EC2_LINUX (registration/node-role-not-mapped: kerf doctor --only registration/node-role-not-mapped`,
  );
  expect(world.condition('Ready')).toMatchObject({ status: 'False', message: 'LaunchesPaused=True' });
  expect(world.state.woken).toBe(1);
  expect(world.events.list.filter(({ reason }) => reason === 'LaunchesPaused')).toHaveLength(1);
});

test('when the cause is gone the next look lets launches go on, and says so', async () => {
  account['eks-list-access-entries'] = { accessEntries: [] };
  await twice();
  account = sound();
  await world.look();
  expect(paused()).toBeUndefined();
  expect(world.condition('Ready')?.status).toBe('True');
  expect(world.events.list.at(-1)).toMatchObject({ type: 'Normal', reason: 'LaunchesResumed' });
});

describe('a class is paused', () => {
  test.each<[string, string, object]>([
    [
      'iam/node-role-trust-wrong',
      'iam-get-role-nodes',
      {
        Role: {
          RoleName: 'nodes',
          AssumeRolePolicyDocument: {
            Statement: [{ Effect: 'Allow', Principal: { Service: 'eks.amazonaws.com' }, Action: 'sts:AssumeRole' }],
          },
        },
      },
    ],
    [
      'registration/api-server-unreachable',
      'ec2-describe-security-groups',
      { SecurityGroups: [{ GroupId: 'sg-cluster', IpPermissions: [] }] },
    ],
    [
      'net/subnet-addresses-exhausted',
      'ec2-describe-subnets',
      { Subnets: [{ SubnetId: 'subnet-1', AvailableIpAddressCount: 0 }] },
    ],
  ])('for %s', async (id, name, answer) => {
    account[name] = answer;
    await twice();
    expect(paused()?.message).toContain(`(${id}: `);
  });
});

const poolFor = (name: string, architecture: string): NodePool =>
  ({
    metadata: { name },
    spec: {
      template: {
        spec: {
          nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' },
          requirements: [{ key: 'kubernetes.io/arch', operator: 'In', values: [architecture] }],
        },
      },
    },
  }) as unknown as NodePool;
const amdImage = [
  { id: 'ami-1', name: 'golden', requirements: [{ key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] }] },
];

test('images for none of the architectures that its pools ask for pause a class, for some of them they do not', async () => {
  world.state.held = { ...world.state.held, status: { ...world.state.held.status, amis: amdImage } };
  pools = [poolFor('arm', 'arm64')];
  await twice();
  expect(paused()?.message).toContain('allows only arm64, and the images of EC2NodeClass default are for amd64');
  expect(paused()?.message).toContain('(ami/none-for-cluster-version: ');
  pools.push(poolFor('amd', 'amd64'));
  await world.look();
  expect(paused()).toBeUndefined();
  expect(world.events.list.map(({ message }) => message).join()).toContain('Launches go on: NodePool arm allows only');
});

test('a key of its volumes that KMS calls disabled pauses a class, one that may not be asked about does not', async () => {
  const key = 'arn:aws:kms:us-east-1:111122223333:key/1111';
  const { held } = world.state;
  world.state.held = {
    ...held,
    spec: { ...held.spec, blockDeviceMappings: [{ deviceName: '/dev/xvda', ebs: { kmsKeyID: key } }] },
  };
  account['kms-describe-key-1111'] = denied('DescribeKey');
  await twice();
  expect(paused()).toBeUndefined();
  account['kms-describe-key-1111'] = { KeyMetadata: { KeyId: '1111', Arn: key, KeyState: 'Disabled' } };
  await twice();
  expect(paused()?.message).toContain('aws kms enable-key --key-id 1111');
});

test('an instance profile without a role pauses a class, until it has one', async () => {
  const { held } = world.state;
  const { role: _, ...spec } = held.spec;
  world.state.held = { ...held, spec: { ...spec, instanceProfile: 'nodes-prod' } };
  const profile = (Roles: object[]): object => ({ InstanceProfile: { InstanceProfileName: 'nodes-prod', Roles } });
  account['iam-get-instance-profile-nodes-prod'] = profile([]);
  await twice();
  expect(paused()?.message).toContain('aws iam add-role-to-instance-profile --instance-profile-name nodes-prod');
  account['iam-get-instance-profile-nodes-prod'] = profile([{ RoleName: 'nodes', Arn: arn('nodes') }]);
  await world.look();
  expect(paused()).toBeUndefined();
});

const keyArn = 'arn:aws:kms:us-east-1:111122223333:key/2222';
const keyPolicy = (AWS: string): object => ({
  Policy: JSON.stringify({
    Statement: [{ Sid: 'admins', Effect: 'Allow', Principal: { AWS }, Action: 'kms:*', Resource: '*' }],
  }),
});

/** A key of the account that EBS uses for everything. */
function encryptByDefault(AWS: string): void {
  account['ec2-get-ebs-encryption-by-default'] = { EbsEncryptionByDefault: true };
  account['ec2-get-ebs-default-kms-key-id'] = { KmsKeyId: keyArn };
  account['kms-describe-key-2222'] = { KeyMetadata: { KeyId: '2222', Arn: keyArn, KeyState: 'Enabled' } };
  account['kms-get-key-policy-2222'] = keyPolicy(AWS);
  account['kms-list-grants-2222'] = { Grants: [] };
}

test('a key whose policy and grants leave out who launches pauses a class, until the policy as printed is put', async () => {
  encryptByDefault('arn:aws:iam::111122223333:role/Admin');
  await twice();
  expect(paused()).toMatchObject({ status: 'True', reason: 'EbsKmsKeyDenied' });
  expect(paused()?.message).toContain('aws kms put-key-policy --key-id 2222 --policy-name default --policy ');
  encryptByDefault('arn:aws:iam::111122223333:root');
  await world.look();
  expect(paused()).toBeUndefined();
});

test.each<[string, () => void]>([
  ['the role is named', () => encryptByDefault('arn:aws:iam::111122223333:role/path/KarpenterControllerRole-prod')],
  [
    'the role has a grant',
    () => {
      encryptByDefault('arn:aws:iam::111122223333:role/Admin');
      const GranteePrincipal = 'arn:aws:iam::111122223333:role/KarpenterControllerRole-prod';
      account['kms-list-grants-2222'] = { Grants: [{ KeyId: keyArn, GranteePrincipal, Operations: ['CreateGrant'] }] };
    },
  ],
  [
    'the policy may not be read',
    () => {
      encryptByDefault('arn:aws:iam::111122223333:role/Admin');
      account['kms-get-key-policy-2222'] = denied('GetKeyPolicy');
    },
  ],
  [
    'the grants may not be read',
    () => {
      encryptByDefault('arn:aws:iam::111122223333:role/Admin');
      account['kms-list-grants-2222'] = denied('ListGrants');
    },
  ],
])('a key does not pause a class where %s', async (_, change) => {
  change();
  await twice();
  expect(paused()).toBeUndefined();
});

test('a key whose policy may not be read is said not to have been checked', async () => {
  encryptByDefault('arn:aws:iam::111122223333:role/Admin');
  account['kms-get-key-policy-2222'] = denied('GetKeyPolicy');
  await world.look();
  expect(world.events.list.map(({ message }) => message).join()).toContain(
    'iam/ebs-kms-key-denied (needs kms:GetKeyPolicy)',
  );
});

describe('a class is not paused', () => {
  test('for an address of DNS that is not of the cluster: that is reported', async () => {
    const { held } = world.state;
    world.state.held = { ...held, spec: { ...held.spec, kubelet: { clusterDNS: ['10.100.0.10'] } } };
    const { cluster } = sound()['eks-describe-cluster'] as { cluster: object };
    const kubernetesNetworkConfig = { serviceIpv4Cidr: '172.20.0.0/16' };
    account['eks-describe-cluster'] = { cluster: { ...cluster, kubernetesNetworkConfig } };
    await twice();
    expect(paused()).toBeUndefined();
    expect(world.events.list.map(({ message }) => message).join()).toContain('gives its nodes 10.100.0.10 for DNS');
  });

  test('for subnets that are nearly full: that is reported', async () => {
    account['ec2-describe-subnets'] = { Subnets: [{ SubnetId: 'subnet-1', AvailableIpAddressCount: 3 }] };
    await twice();
    expect(paused()).toBeUndefined();
    expect(world.events.list).toContainEqual(
      expect.objectContaining({ reason: 'LaunchCheckFailed', message: expect.stringContaining('Launches go on: ') }),
    );
  });

  test('for policies that its role lacks: that is reported', async () => {
    account['iam-list-attached-role-policies-nodes'] = { AttachedPolicies: [] };
    await twice();
    expect(paused()).toBeUndefined();
    expect(world.events.list.map(({ message }) => message).join()).toContain('iam/node-role-policies-missing');
  });

  test('by refusals: without the rights a check is not made, which is said once', async () => {
    account = Object.fromEntries(Object.keys(sound()).map((name) => [name, denied(name)]));
    await twice();
    await world.look();
    expect(paused()).toBeUndefined();
    const reported = world.events.list.filter(({ reason }) => reason === 'LaunchChecksNotMade');
    expect(reported).toHaveLength(1);
    expect(reported[0]?.message).toContain('registration/node-role-not-mapped');
    expect(world.events.list.filter(({ type }) => type === 'Warning')).toEqual([]);
  });

  test.each<[string, Record<string, object>]>([
    ['does not say how the cluster knows nodes', { 'eks-describe-cluster': { cluster: { name: 'prod' } } }],
    [
      'has no trust policy in it',
      { 'iam-get-role-nodes': { Role: { RoleName: 'nodes', AssumeRolePolicyDocument: {} } } },
    ],
    ['has no subnets in it', { 'ec2-describe-subnets': {} }],
    ['has no groups in it', { 'ec2-describe-security-groups': { SecurityGroups: [] } }],
  ])('by an answer that %s', async (_, change) => {
    account = {
      ...sound(),
      ...('eks-describe-cluster' in change ? { 'eks-list-access-entries': { accessEntries: [] } } : {}),
      ...change,
    };
    await twice();
    expect(paused()).toBeUndefined();
  });

  test('while a node of it joined a short while ago', async () => {
    account['ec2-describe-security-groups'] = { SecurityGroups: [{ GroupId: 'sg-cluster', IpPermissions: [] }] };
    const lastTransitionTime = new Date(world.clock.now() - 60_000).toISOString();
    claims = [
      {
        metadata: { name: 'a' },
        spec: { nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' } },
        status: { conditions: [{ type: 'Registered', status: 'True', lastTransitionTime }] },
      } as unknown as NodeClaim,
    ];
    await twice();
    expect(paused()).toBeUndefined();
    await world.clock.runFor(16 * 60_000);
    await twice();
    expect(paused()?.reason).toBe('ApiServerUnreachable');
  });

  test('and nothing is asked while our own clock is wrong', async () => {
    account['eks-list-access-entries'] = { accessEntries: [] };
    world.state.clockProblem = 'the clock is an hour ahead';
    await twice();
    expect(paused()).toBeUndefined();
  });
});

test('a pause whose proof is no longer available ends', async () => {
  account['eks-list-access-entries'] = { accessEntries: [] };
  await twice();
  account = Object.fromEntries(Object.keys(sound()).map((name) => [name, denied(name)]));
  await world.look();
  expect(paused()?.status).toBe('True');
  await world.look();
  expect(paused()).toBeUndefined();
});

test('an edited class, or one that selects something else, is looked at at once; its own status is not news', () => {
  const [source] = world.controller.sources;
  const before = nodeClass();
  const keys = (after: EC2NodeClass) => [...(source?.keys({ before, after }) ?? [])];
  expect(keys({ ...before, metadata: { ...before.metadata, generation: 2 } })).toEqual(['all']);
  expect(keys({ ...before, status: { ...before.status, subnets: [] } })).toEqual(['all']);
  expect(keys({ ...before, status: { ...before.status, conditions: [] } })).toEqual([]);
});
