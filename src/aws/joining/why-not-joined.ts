// Why an instance that was launched has no Node, found where a person would look: the instance's state, its profile, the
// groups in front of the API server, and, when all of that is in order, the role that the cluster must know. The first
// that is wrong is told, with what to do. Only what the controller may read anyway is asked; what cannot be asked is
// passed over.
import {
  DescribeInstancesCommand,
  DescribeSecurityGroupsCommand,
  type EC2Client,
  type Instance,
} from '@aws-sdk/client-ec2';
import type { Cluster } from '@aws-sdk/client-eks';
import type { EC2NodeClass, NodeClaim } from '../../api/index.ts';
import { type Clock, ExpiringMap } from '../../base/index.ts';
import { isAwsNotFound } from '../aws-errors.ts';
import type { EksCluster } from '../discovery/cluster.ts';
import type { InstanceProfiles } from '../instance-profiles/instance-profiles.ts';
import { amiFamilies, amiFamilyOf } from '../instance-types/ami-family.ts';
import { instanceIdOf } from '../instances/provider-id.ts';
import { admits, groupsOfApiServer } from './api-server-access.ts';

export interface JoiningOptions {
  ec2: EC2Client;
  eks: EksCluster;
  profiles: Pick<InstanceProfiles, 'get'>;
  clock: Clock;
  clusterName: string;
}

/** Claims are looked at often; what keeps a machine from joining changes slowly. */
const keepMs = 2 * 60_000;

export class Joining {
  private readonly options: JoiningOptions;
  private readonly found: ExpiringMap<string, { why: string | undefined }>;

  constructor(options: JoiningOptions) {
    this.options = options;
    this.found = new ExpiringMap(options.clock, keepMs);
  }

  /** A clause that goes on after "the node has not joined: "; undefined when nothing can be told. */
  async why(claim: NodeClaim, nodeClass: EC2NodeClass | undefined): Promise<string | undefined> {
    const id = instanceIdOf(claim.status?.providerID ?? '');
    if (id === undefined) return undefined;
    const known = this.found.get(id);
    if (known !== undefined) return known.why;
    const why = await this.look(id, nodeClass);
    this.found.set(id, { why });
    return why;
  }

  private async look(id: string, nodeClass: EC2NodeClass | undefined): Promise<string | undefined> {
    const instance = await this.instance(id);
    if (instance === undefined) return `EC2 has no instance ${id} any more`;
    const state = instance.State?.Name ?? 'pending';
    if (state === 'pending') return 'the instance is still pending';
    if (state !== 'running') return ended(instance, state, nodeClass);
    const profile = instance.IamInstanceProfile?.Arn?.split('/').at(-1);
    const role = profile === undefined ? undefined : await quietly(this.options.profiles.get(profile));
    if (profile === undefined) return 'the instance has no instance profile, so its kubelet cannot prove who it is';
    if (role !== undefined && role.role === undefined)
      return `its instance profile ${profile} has no role; add the role`;
    const cluster = await quietly(this.options.eks.describe());
    if (cluster === undefined) return undefined;
    return (await this.closedDoor(cluster, instance)) ?? this.unknownRole(cluster, instance, role?.role, nodeClass);
  }

  private async instance(id: string): Promise<Instance | undefined> {
    try {
      const { Reservations = [] } = await this.options.ec2.send(new DescribeInstancesCommand({ InstanceIds: [id] }));
      return Reservations[0]?.Instances?.[0];
    } catch (error) {
      if (isAwsNotFound(error)) return undefined;
      throw error;
    }
  }

  private async closedDoor(cluster: Cluster, instance: Instance): Promise<string | undefined> {
    const ids = groupsOfApiServer(cluster);
    if (ids.length === 0) return undefined;
    const Filters = [{ Name: 'group-id', Values: ids }];
    const answer = await quietly(this.options.ec2.send(new DescribeSecurityGroupsCommand({ Filters })));
    const groups = answer?.SecurityGroups ?? [];
    const own = (instance.SecurityGroups ?? []).flatMap(({ GroupId }) => GroupId ?? []);
    if (groups.length === 0 || admits(groups, { groupIds: own, privateAddress: instance.PrivateIpAddress }))
      return undefined;
    return `no security group of the API server (${ids.join(', ')}) admits port 443 from the instance's (${own.join(', ')}); select the cluster's security group in spec.securityGroupSelectorTerms or add such a rule`;
  }

  private unknownRole(
    cluster: Cluster,
    instance: Instance,
    role: string | undefined,
    nodeClass: EC2NodeClass | undefined,
  ): string {
    const { clusterName } = this.options;
    const [, partition = 'aws', , , account = ''] = instance.IamInstanceProfile?.Arn?.split(':') ?? [];
    const arn = role === undefined ? 'the ARN of the node role' : `arn:${partition}:iam::${account}:role/${role}`;
    const family = nodeClass === undefined ? 'AL2023' : amiFamilyOf(nodeClass.spec);
    const isWindows = amiFamilies[family].os === 'windows';
    const groups = ['system:bootstrappers', 'system:nodes', ...(isWindows ? ['eks:kube-proxy-windows'] : [])];
    const mapping =
      cluster.accessConfig?.authenticationMode === 'CONFIG_MAP'
        ? `map ${arn} in ConfigMap kube-system/aws-auth to username system:node:{{EC2PrivateDNSName}} and groups ${groups.join(', ')}`
        : `aws eks create-access-entry --cluster-name ${clusterName} --principal-arn ${arn} --type ${isWindows ? 'EC2_WINDOWS' : 'EC2_LINUX'}`;
    const own = family === 'Custom' ? ' With amiFamily Custom, spec.userData must make the machine join.' : '';
    return `the instance runs and its network looks right; most often the cluster does not know the node role: ${mapping}.${own} Otherwise see the instance's console output`;
  }
}

/** What EC2 says about the end of an instance, and what it usually means. */
function ended({ StateReason }: Instance, state: string, nodeClass: EC2NodeClass | undefined): string {
  const { Code = '', Message = '' } = StateReason ?? {};
  const said = Code === '' && Message === '' ? '' : ` (${Message === '' ? Code : Message})`;
  const advice = advices.find(({ code }) => code === Code)?.advice(nodeClass);
  return `the instance is ${state}${said}${advice === undefined ? '' : `; ${advice}`}`;
}

const advices: readonly { code: string; advice(nodeClass: EC2NodeClass | undefined): string }[] = [
  {
    code: 'Client.InternalError',
    advice(nodeClass) {
      const keys = nodeClass?.spec.blockDeviceMappings?.flatMap(({ ebs }) => ebs?.kmsKeyID ?? []) ?? [];
      const key = keys.length === 0 ? "the account's default key for EBS" : keys.join(', ');
      return `usually the controller's role may not use the key of an encrypted volume (${key}): allow it kms:CreateGrant, kms:Decrypt, kms:DescribeKey and kms:GenerateDataKey* in the key policy`;
    },
  },
  { code: 'Client.UserInitiatedShutdown', advice: () => 'somebody else terminated it' },
  { code: 'Client.InstanceInitiatedShutdown', advice: () => 'it shut itself down: see its user data' },
  { code: 'Server.SpotInstanceTermination', advice: () => 'spot capacity was taken back' },
  { code: 'Client.VolumeLimitExceeded', advice: () => 'raise the quota of EBS volumes' },
];

/** What may not or cannot be asked tells nothing. */
function quietly<T>(asked: Promise<T>): Promise<T | undefined> {
  return asked.catch(() => undefined);
}
