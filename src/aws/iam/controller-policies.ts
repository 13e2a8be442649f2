// What the controller may do, and nothing else: launches must carry the cluster's tags, and only what carries them may be
// changed or deleted. Six documents, because IAM limits the size of one.
import { awsTag } from '../../api/index.ts';
import { type ClusterAccount, policyNameOf } from './account.ts';

export interface Statement {
  Sid: string;
  Effect: 'Allow' | 'Deny';
  Principal?: Record<string, string | string[]> | '*';
  Action: string | string[];
  Resource?: string | string[];
  Condition?: Record<string, Record<string, string | string[]>>;
}

export interface PolicyDocument {
  Version: '2012-10-17';
  Statement: Statement[];
}

export const policyParts = [
  'NodeLifecycle',
  'IAMIntegration',
  'EKSIntegration',
  'Interruption',
  'ZonalShift',
  'ResourceDiscovery',
] as const;
/** Only looks, for the checks before launches; without it those checks are not made. */
export const checksPart = 'LaunchChecks';
export type PolicyPart = (typeof policyParts)[number] | typeof checksPart;

export const policyName = (part: PolicyPart, cluster: string): string =>
  policyNameOf(`KarpenterController${part}Policy`, cluster);

export interface ControllerPolicyOptions extends ClusterAccount {
  /** ARN of the role that nodes get. */
  nodeRoleArn: string;
  queueName: string;
}

export function controllerPolicies(of: ControllerPolicyOptions): Record<PolicyPart, PolicyDocument> {
  return {
    NodeLifecycle: document(nodeLifecycle(of)),
    IAMIntegration: document(instanceProfiles(of)),
    EKSIntegration: document([allow('AllowAPIServerEndpointDiscovery', ['eks:DescribeCluster'], clusterArn(of))]),
    Interruption: document([
      allow(
        'AllowInterruptionQueueActions',
        ['sqs:DeleteMessage', 'sqs:GetQueueUrl', 'sqs:ReceiveMessage'],
        `arn:${of.partition}:sqs:${of.region}:${of.account}:${of.queueName}`,
      ),
    ]),
    ZonalShift: document([
      {
        ...allow('AllowZonalShiftReadOnly', ['arc-zonal-shift:GetManagedResource'], '*'),
        Condition: { StringEquals: { 'arc-zonal-shift:ResourceIdentifier': clusterArn(of) } },
      },
    ]),
    ResourceDiscovery: document(discovery(of)),
    [checksPart]: document(launchChecks(of)),
  };
}

const document = (Statement: Statement[]): PolicyDocument => ({ Version: '2012-10-17', Statement });

const allow = (Sid: string, Action: string[], Resource: string | string[]): Statement => ({
  Sid,
  Effect: 'Allow',
  Action,
  Resource,
});

const clusterArn = ({ partition, region, account, cluster }: ClusterAccount): string =>
  `arn:${partition}:eks:${region}:${account}:cluster/${cluster}`;

const ownership = (cluster: string): string => `${awsTag.clusterPrefix}${cluster}`;
const requested = (tag: string): string => `aws:RequestTag/${tag}`;
const carried = (tag: string): string => `aws:ResourceTag/${tag}`;

function nodeLifecycle({ partition, region, cluster }: ClusterAccount): Statement[] {
  const ec2 = (kind: string): string => `arn:${partition}:ec2:${region}:*:${kind}/*`;
  const open = (kind: string): string => `arn:${partition}:ec2:${region}::${kind}/*`;
  const launched = ['fleet', 'instance', 'volume', 'network-interface', 'launch-template', 'spot-instances-request'];
  const isOurs = {
    StringEquals: { [carried(ownership(cluster))]: 'owned' },
    StringLike: { [carried(awsTag.nodePool)]: '*' },
  };
  const becomesOurs = {
    StringEquals: { [requested(ownership(cluster))]: 'owned', [requested(awsTag.clusterName)]: cluster },
    StringLike: { [requested(awsTag.nodePool)]: '*' },
  };
  return [
    allow(
      'AllowScopedEC2InstanceAccessActions',
      ['ec2:RunInstances', 'ec2:CreateFleet'],
      [
        open('image'),
        open('snapshot'),
        ...['security-group', 'subnet', 'capacity-reservation', 'placement-group'].map(ec2),
      ],
    ),
    {
      ...allow(
        'AllowScopedEC2LaunchTemplateAccessActions',
        ['ec2:RunInstances', 'ec2:CreateFleet'],
        ec2('launch-template'),
      ),
      Condition: isOurs,
    },
    {
      ...allow(
        'AllowScopedEC2InstanceActionsWithTags',
        ['ec2:RunInstances', 'ec2:CreateFleet', 'ec2:CreateLaunchTemplate'],
        launched.map(ec2),
      ),
      Condition: becomesOurs,
    },
    {
      ...allow('AllowScopedResourceCreationTagging', ['ec2:CreateTags'], launched.map(ec2)),
      Condition: {
        StringEquals: {
          ...becomesOurs.StringEquals,
          'ec2:CreateAction': ['RunInstances', 'CreateFleet', 'CreateLaunchTemplate'],
        },
        StringLike: becomesOurs.StringLike,
      },
    },
    {
      ...allow('AllowScopedResourceTagging', ['ec2:CreateTags'], ec2('instance')),
      Condition: {
        ...isOurs,
        StringEqualsIfExists: { [requested(awsTag.clusterName)]: cluster },
        'ForAllValues:StringEquals': { 'aws:TagKeys': [awsTag.clusterName, awsTag.nodeClaim, awsTag.name] },
      },
    },
    {
      ...allow(
        'AllowScopedDeletion',
        ['ec2:TerminateInstances', 'ec2:DeleteLaunchTemplate', 'ec2:RebootInstances'],
        [ec2('instance'), ec2('launch-template')],
      ),
      Condition: isOurs,
    },
  ];
}

function instanceProfiles({ partition, region, account, cluster, nodeRoleArn }: ControllerPolicyOptions): Statement[] {
  const profiles = `arn:${partition}:iam::${account}:instance-profile/*`;
  const equals = (on: (tag: string) => string): Record<string, string> => ({
    [on(ownership(cluster))]: 'owned',
    [on('topology.kubernetes.io/region')]: region,
  });
  const named = { [requested(awsTag.clusterName)]: cluster };
  const ofClass = (on: (tag: string) => string): Record<string, string> => ({ [on(awsTag.nodeClass)]: '*' });
  return [
    {
      ...allow('AllowPassingInstanceRole', ['iam:PassRole'], nodeRoleArn),
      Condition: { StringEquals: { 'iam:PassedToService': ['ec2.amazonaws.com', 'ec2.amazonaws.com.cn'] } },
    },
    {
      ...allow('AllowScopedInstanceProfileCreationActions', ['iam:CreateInstanceProfile'], profiles),
      Condition: { StringEquals: { ...equals(requested), ...named }, StringLike: ofClass(requested) },
    },
    {
      ...allow('AllowScopedInstanceProfileTagActions', ['iam:TagInstanceProfile'], profiles),
      Condition: {
        StringEquals: { ...equals(carried), ...equals(requested), ...named },
        StringLike: { ...ofClass(carried), ...ofClass(requested) },
      },
    },
    {
      ...allow(
        'AllowScopedInstanceProfileActions',
        ['iam:AddRoleToInstanceProfile', 'iam:RemoveRoleFromInstanceProfile', 'iam:DeleteInstanceProfile'],
        profiles,
      ),
      Condition: { StringEquals: equals(carried), StringLike: ofClass(carried) },
    },
  ];
}

/** What the checks before launches and the look at a node that did not join read beyond the rest. */
function launchChecks(of: ControllerPolicyOptions): Statement[] {
  const { partition, region, account, queueName, nodeRoleArn } = of;
  const entries = clusterArn(of).replace(':cluster/', ':access-entry/');
  return [
    allow(
      'AllowAccessEntryReadActions',
      ['eks:ListAccessEntries', 'eks:DescribeAccessEntry'],
      [clusterArn(of), `${entries}/*`],
    ),
    allow(
      'AllowNodeRoleReadActions',
      ['iam:GetRole', 'iam:ListAttachedRolePolicies', 'iam:ListRolePolicies'],
      [nodeRoleArn, `arn:${partition}:iam::${account}:role/aws-service-role/spot.amazonaws.com/*`],
    ),
    allow(
      'AllowQueueReadActions',
      ['sqs:GetQueueAttributes'],
      `arn:${partition}:sqs:${region}:${account}:${queueName}`,
    ),
    allow(
      'AllowEventRuleReadActions',
      ['events:ListRules', 'events:ListTargetsByRule'],
      `arn:${partition}:events:${region}:${account}:rule/*`,
    ),
    allow(
      'AllowVolumeKeyReadActions',
      ['kms:DescribeKey', 'kms:GetKeyPolicy', 'kms:ListGrants'],
      `arn:${partition}:kms:${region}:${account}:key/*`,
    ),
    {
      ...allow(
        'AllowAccountReadActions',
        [
          'ec2:GetEbsDefaultKmsKeyId',
          'ec2:GetEbsEncryptionByDefault',
          'ec2:DescribeRouteTables',
          'ec2:DescribeVpcEndpoints',
        ],
        '*',
      ),
      Condition: { StringEquals: { 'aws:RequestedRegion': region } },
    },
    allow(
      'AllowConsoleOutputReadActions',
      ['ec2:GetConsoleOutput'],
      `arn:${partition}:ec2:${region}:${account}:instance/*`,
    ),
  ];
}

/** The actions that only look at EC2. */
const reads = [
  'CapacityReservations',
  'Images',
  'Instances',
  'InstanceStatus',
  'InstanceTypeOfferings',
  'InstanceTypes',
  'LaunchTemplates',
  'PlacementGroups',
  'SecurityGroups',
  'SpotPriceHistory',
  'Subnets',
].map((what) => `ec2:Describe${what}`);

function discovery({ partition, region, account }: ClusterAccount): Statement[] {
  return [
    {
      ...allow('AllowRegionalReadActions', reads, '*'),
      Condition: { StringEquals: { 'aws:RequestedRegion': region } },
    },
    allow('AllowSSMReadActions', ['ssm:GetParameter'], `arn:${partition}:ssm:${region}::parameter/aws/service/*`),
    allow('AllowPricingReadActions', ['pricing:GetProducts'], '*'),
    allow('AllowUnscopedInstanceProfileListAction', ['iam:ListInstanceProfiles'], '*'),
    allow(
      'AllowInstanceProfileReadActions',
      ['iam:GetInstanceProfile'],
      `arn:${partition}:iam::${account}:instance-profile/*`,
    ),
  ];
}
