// Why a node has not joined: every rung of the ladder, over scripted answers of AWS.
import { setImmediate as settle } from 'node:timers/promises';
import type { Instance, IpPermission } from '@aws-sdk/client-ec2';
import type { Cluster } from '@aws-sdk/client-eks';
import { describe, expect, test } from 'vitest';
import type { EC2NodeClass, NodeClaim } from '../../api/index.ts';
import { VirtualClock } from '../../base/index.ts';
import { awsRefusal, fakeEc2, fakeEks, fakeIam } from '../fake-client.testing.ts';
import type { ProfileFacts } from '../instance-profiles/instance-profiles.ts';
import { nodeClass } from '../node-class.testing.ts';
import { Joining } from './why-not-joined.ts';

const claim = { metadata: { name: 'a' }, spec: {}, status: { providerID: 'aws:///us-east-1a/i-1' } } as NodeClaim;
const running: Instance = {
  State: { Name: 'running' },
  PrivateIpAddress: '10.1.2.3',
  SecurityGroups: [{ GroupId: 'sg-node' }],
  IamInstanceProfile: { Arn: 'arn:aws:iam::123456789012:instance-profile/karpenter/profile-1' },
};
const vpc = { clusterSecurityGroupId: 'sg-cluster', endpointPrivateAccess: true };
const fromNodes: IpPermission = {
  IpProtocol: 'tcp',
  FromPort: 443,
  ToPort: 443,
  UserIdGroupPairs: [{ GroupId: 'sg-node' }],
};

interface World {
  entries?: string[] | Error;
  console?: string | Error;
  awsAuth?: object | undefined | Error;
  attached?: string[];
  instance?: Instance | Error;
  profile?: ProfileFacts | undefined | Error;
  cluster?: Cluster | Error;
  rules?: IpPermission[] | Error;
  /** Of the endpoint for ECR in the VPC; absent: the endpoints may not be asked about. */
  endpointRules?: IpPermission[];
  nodeClass?: EC2NodeClass;
}

const endpoint = {
  VpcEndpointId: 'vpce-1',
  VpcEndpointType: 'Interface',
  ServiceName: 'com.amazonaws.us-east-1.ecr.api',
  Groups: [{ GroupId: 'sg-endpoint' }],
};

const noRight = awsRefusal('AccessDeniedException', 'no', 403);

const given = <T>(value: T | Error): T => {
  if (value instanceof Error) throw value;
  return value;
};

function open(world: World) {
  const clock = new VirtualClock({ settle: () => settle() });
  const ec2 = fakeEc2({
    DescribeInstances: () => ({ Reservations: [{ Instances: [given(world.instance ?? running)] }] }),
    DescribeSecurityGroups: () => ({
      SecurityGroups: [
        { GroupId: 'sg-cluster', IpPermissions: given(world.rules ?? [fromNodes]) },
        { GroupId: 'sg-endpoint', IpPermissions: world.endpointRules ?? [] },
      ],
    }),
    DescribeVpcEndpoints: () => ({
      VpcEndpoints: given(world.endpointRules === undefined ? noRight : [endpoint]),
    }),
    DescribeRouteTables: () => given<object>(noRight),
    GetConsoleOutput: () => ({ Output: Buffer.from(given(world.console ?? noRight)).toString('base64') }),
  });
  const iam = fakeIam({
    GetRole: () => ({ Role: { RoleName: 'nodes', Arn: 'arn:aws:iam::123456789012:role/nodes' } }),
    ListAttachedRolePolicies: () => ({
      AttachedPolicies: given(world.attached ?? noRight).map((PolicyName) => ({ PolicyName })),
    }),
    ListRolePolicies: () => given<object>(noRight),
  });
  const eks = fakeEks({
    ListAccessEntries: () => ({ accessEntries: given(world.entries ?? noRight) }),
    DescribeAccessEntry: () => given<object>(noRight),
  });
  const joining = new Joining({
    clients: { ec2: ec2.client, iam: iam.client, eks: eks.client, sqs: undefined as never, json: undefined as never },
    clock,
    clusterName: 'demo',
    awsAuth: async () => given('awsAuth' in world ? world.awsAuth : noRight),
    eks: { describe: async () => given(world.cluster ?? { resourcesVpcConfig: vpc }) },
    profiles: {
      get: async (name) => given('profile' in world ? world.profile : { name, role: 'nodes' }),
    },
  });
  return { joining, ec2, clock };
}

const why = (world: World) => open(world).joining.why(claim, world.nodeClass ?? nodeClass());

describe('an instance that does not run', () => {
  const ended = (Code: string, Message: string): World => ({
    instance: { ...running, State: { Name: 'terminated' }, StateReason: { Code, Message } },
  });

  test('is reported with its state and what EC2 says about it', async () => {
    expect(await why({ instance: { ...running, State: { Name: 'pending' } } })).toBe('the instance is still pending');
    expect(await why({ instance: awsRefusal('InvalidInstanceID.NotFound') })).toBe('EC2 has no instance i-1 any more');
    expect(await why(ended('Server.SpotInstanceTermination', 'Spot'))).toMatch(/terminated \(Spot\); spot capacity/);
    expect(await why(ended('Client.Unheard', 'of'))).toBe('the instance is terminated (of)');
  });

  test('because of a key it may not use names the key, or that of the account', async () => {
    const denied = ended('Client.InternalError', 'Client.InternalError: Client error on launch');
    expect(await why(denied)).toMatch(
      /Client error on launch.*may not use the key.*default key for EBS.*kms:CreateGrant/,
    );
    const blockDeviceMappings = [{ deviceName: '/dev/xvda', ebs: { volumeSize: '20Gi', kmsKeyID: 'key-7' } }];
    expect(await why({ ...denied, nodeClass: nodeClass({ blockDeviceMappings }) })).toMatch(/\(key-7\)/);
  });
});

describe('an instance that runs', () => {
  test('without a profile, or with one that has no role, cannot prove who it is', async () => {
    const { IamInstanceProfile: _, ...bare } = running;
    expect(await why({ instance: bare })).toMatch(/no instance profile/);
    expect(await why({ profile: { name: 'profile-1' } })).toMatch(/profile profile-1 has no role/);
  });

  test('behind groups that do not admit it names them', async () => {
    const rules = [{ ...fromNodes, UserIdGroupPairs: [{ GroupId: 'sg-other' }] }];
    expect(await why({ rules })).toMatch(
      /\(sg-cluster\) admits port 443 from the nodes .* \(sg-node\).*Fix: aws ec2 authorize-security-group-ingress --group-id sg-cluster .*registration\/api-server-unreachable/,
    );
    const elsewhere = [{ ...fromNodes, UserIdGroupPairs: [], IpRanges: [{ CidrIp: '10.2.0.0/16' }] }];
    expect(await why({ rules: elsewhere })).toContain('registration/api-server-unreachable');
    const here = [{ ...fromNodes, UserIdGroupPairs: [], IpRanges: [{ CidrIp: '10.1.0.0/16' }] }];
    expect(await why({ rules: here })).not.toContain('registration/api-server-unreachable');
  });

  test('before endpoints of AWS services that do not admit it names them', async () => {
    expect(await why({ endpointRules: [] })).toMatch(
      /endpoints for ecr\.api do not admit port 443 .*\(registration\/service-endpoints-unreachable/,
    );
    expect(await why({ endpointRules: [fromNodes] })).not.toContain('service-endpoints-unreachable');
  });

  test('and is admitted is most often unknown to the cluster: the command to fix it is there', async () => {
    expect(await why({})).toContain(
      'aws eks create-access-entry --cluster-name demo --principal-arn arn:aws:iam::123456789012:role/nodes --type EC2_LINUX',
    );
    const windows = nodeClass({ amiSelectorTerms: [{ alias: 'windows2022@latest' }] });
    expect(await why({ nodeClass: windows })).toContain('--type EC2_WINDOWS');
    const cluster = { resourcesVpcConfig: vpc, accessConfig: { authenticationMode: 'CONFIG_MAP' as const } };
    expect(await why({ cluster })).toMatch(/role\/nodes in ConfigMap kube-system\/aws-auth.*system:bootstrappers/);
    const custom = nodeClass({ amiFamily: 'Custom', amiSelectorTerms: [{ id: 'ami-1' }] });
    expect(await why({ nodeClass: custom })).toMatch(/spec.userData must make the machine join/);
  });

  test('whose role no access entry names is reported, with the id and the command', async () => {
    const cluster = { resourcesVpcConfig: vpc, accessConfig: { authenticationMode: 'API' as const } };
    const reported = await why({ cluster, entries: ['arn:aws:iam::123456789012:role/other'] });
    expect(reported).toMatch(
      /^Nodes of role nodes cannot join: .*Fix: aws eks create-access-entry --cluster-name demo --principal-arn arn:aws:iam::123456789012:role\/nodes --type EC2_LINUX \(registration\/node-role-not-mapped: kerf doctor --only registration\/node-role-not-mapped/,
    );
    const mapped = await why({ cluster, entries: ['arn:aws:iam::123456789012:role/nodes'] });
    expect(mapped).toContain('registration/undiagnosed-timeout');
  });

  test('with an aws-auth that may be read and does not name its role is reported', async () => {
    const cluster = { resourcesVpcConfig: vpc, accessConfig: { authenticationMode: 'CONFIG_MAP' as const } };
    const metadata = { name: 'aws-auth', namespace: 'kube-system' };
    const data = { mapRoles: '- rolearn: arn:aws:iam::123456789012:role/other\n  groups: [system:nodes]\n' };
    expect(await why({ cluster, awsAuth: { metadata, data } })).toContain('registration/node-role-not-mapped');
  });

  test('and says on its console why is reported in the words of the catalogue', async () => {
    const console =
      '[   12.3] cloud-init[1]: done\nkubelet[900]: "Unable to register node with API server" err="Unauthorized"';
    expect(await why({ console })).toContain('registration/node-role-not-mapped');
    const swap = 'kubelet[7]: failed to run Kubelet: running with swap on is not supported, please disable swap';
    expect(await why({ console: swap })).toContain('ami/swap-blocks-kubelet');
  });

  test('what may not be asked is passed over', async () => {
    const denied = awsRefusal('AccessDenied', 'no', 403);
    expect(await why({ profile: denied, rules: denied })).toContain('--principal-arn the ARN of the node role');
    expect(await why({ cluster: denied })).toBeUndefined();
    await expect(why({ instance: denied })).rejects.toThrow('no');
  });
});

test('an answer is kept for two minutes; a claim without an instance is not asked about', async () => {
  const { joining, ec2, clock } = open({});
  for (const _ of [1, 2]) await joining.why(claim, undefined);
  expect(ec2.inputs('DescribeInstances')).toHaveLength(1);
  await clock.runFor(120_000);
  await joining.why(claim, undefined);
  expect(ec2.inputs('DescribeInstances')).toHaveLength(2);
  expect(await joining.why({ metadata: {}, spec: {} } as NodeClaim, undefined)).toBeUndefined();
});
