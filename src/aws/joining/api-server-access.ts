// Whether an instance may reach the API server through the VPC, as far as security groups tell: one of the groups in front
// of the API server must admit port 443 from a group of the instance or from its address.
import type { IpPermission, SecurityGroup } from '@aws-sdk/client-ec2';
import type { Cluster } from '@aws-sdk/client-eks';

const apiPort = 443;

/** Groups in front of the API server; none where nodes reach it over its public address. */
export function groupsOfApiServer({ resourcesVpcConfig: vpc }: Cluster): string[] {
  if (vpc?.endpointPrivateAccess !== true) return [];
  return [vpc.clusterSecurityGroupId, ...(vpc.securityGroupIds ?? [])].filter(
    (id) => id !== undefined && id !== '',
  ) as string[];
}

export interface Caller {
  groupIds: readonly string[];
  privateAddress?: string | undefined;
}

export function admits(groups: readonly SecurityGroup[], caller: Caller): boolean {
  return groups.some(({ IpPermissions = [] }) =>
    IpPermissions.some((rule) => coversPort(rule) && comesFrom(rule, caller)),
  );
}

function coversPort({ IpProtocol, FromPort, ToPort }: IpPermission): boolean {
  if (IpProtocol === '-1') return true;
  return IpProtocol === 'tcp' && (FromPort ?? 0) <= apiPort && apiPort <= (ToPort ?? 65_535);
}

/** What cannot be read (prefix lists, IPv6) speaks for the instance: only a sure refusal is told. */
function comesFrom(rule: IpPermission, { groupIds, privateAddress }: Caller): boolean {
  if ((rule.PrefixListIds ?? []).length > 0 || (rule.Ipv6Ranges ?? []).length > 0) return true;
  if (rule.UserIdGroupPairs?.some(({ GroupId = '' }) => groupIds.includes(GroupId)) === true) return true;
  const ranges = (rule.IpRanges ?? []).flatMap(({ CidrIp }) => CidrIp ?? []);
  return ranges.some((range) => privateAddress === undefined || isWithin(privateAddress, range));
}

function isWithin(address: string, range: string): boolean {
  const [base = '', length = '32'] = range.split('/');
  const shift = 32 - Number(length);
  return shift >= 32 || numberOf(address) >>> shift === numberOf(base) >>> shift;
}

const numberOf = (address: string): number =>
  address.split('.').reduce((sum, part) => ((sum << 8) | Number(part)) >>> 0, 0);
