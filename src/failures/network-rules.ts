// What security groups and routes let through, as far as EC2 describes them. Only a sure refusal counts: what cannot be
// read (prefix lists, IPv6 ranges, another account's groups) is taken as admitted.
import type { Evidence } from './evidence.ts';
import { listAt, numberAt, textAt } from './fields.ts';

export interface Group {
  id: string;
  rules: readonly unknown[];
  source: string;
}

export function securityGroup({ aws }: Evidence, id: string): Group | undefined {
  const found = aws.items('ec2-describe-security-groups').find(({ item }) => textAt(item, 'GroupId') === id);
  return found === undefined ? undefined : { id, rules: listAt(found.item, 'IpPermissions'), source: found.source };
}

/**
 * One of the groups admits TCP on this port from one of the callers' groups, or from a range that holds one of their
 * addresses; where no address is known, any range may.
 */
export function admits(
  groups: readonly Group[],
  port: number,
  callers: readonly string[],
  addresses: readonly string[] = [],
): boolean {
  return groups.some(({ rules }) =>
    rules.some((rule) => coversPort(rule, port) && comesFrom(rule, callers, addresses)),
  );
}

function coversPort(rule: unknown, port: number): boolean {
  const protocol = textAt(rule, 'IpProtocol');
  if (protocol === '-1') return true;
  return (
    (protocol === 'tcp' || protocol === '6') &&
    (numberAt(rule, 'FromPort') ?? 0) <= port &&
    port <= (numberAt(rule, 'ToPort') ?? 65_535)
  );
}

function comesFrom(rule: unknown, callers: readonly string[], addresses: readonly string[]): boolean {
  if (listAt(rule, 'PrefixListIds').length > 0 || listAt(rule, 'Ipv6Ranges').length > 0) return true;
  if (listAt(rule, 'UserIdGroupPairs').some((pair) => callers.includes(textAt(pair, 'GroupId')))) return true;
  const ranges = listAt(rule, 'IpRanges').map((range) => textAt(range, 'CidrIp'));
  if (addresses.length === 0) return ranges.length > 0;
  return ranges.some((range) => addresses.some((address) => isWithin(address, range)));
}

/** What is not of this shape is taken as within. */
export function isWithin(address: string, range: string): boolean {
  const [base = '', length = '32'] = range.split('/');
  const [own, net, shift] = [numberOf(address), numberOf(base), 32 - Number(length)];
  if (own === undefined || net === undefined || !Number.isInteger(shift) || shift < 0) return true;
  return shift >= 32 || own >>> shift === net >>> shift;
}

function numberOf(address: string): number | undefined {
  const parts = address.split('.').map(Number);
  if (parts.length !== 4 || parts.some((part) => !Number.isInteger(part) || part < 0 || part > 255)) return undefined;
  return parts.reduce((sum, part) => ((sum << 8) | part) >>> 0, 0);
}

/** Addresses of the instances that have exactly these groups, as far as they were described. */
export function addressesOf({ aws }: Evidence, groups: readonly string[]): string[] {
  const wanted = [...groups].sort().join();
  return aws.items('ec2-describe-instances').flatMap(({ item }) =>
    listAt(item, 'Instances').flatMap((instance) => {
      const own = listAt(instance, 'SecurityGroups').map((group) => textAt(group, 'GroupId'));
      const address = textAt(instance, 'PrivateIpAddress');
      return address !== '' && own.sort().join() === wanted ? [address] : [];
    }),
  );
}

/** Groups in front of the API server inside the VPC; none where it is not private. */
export function apiServerGroups({ aws }: Evidence): string[] {
  return aws.bodies('eks-describe-cluster').flatMap(({ item }) => {
    const vpc = ['resourcesVpcConfig'] as const;
    if (textAt(item, ...vpc, 'endpointPrivateAccess') !== 'true') return [];
    return [
      textAt(item, ...vpc, 'clusterSecurityGroupId'),
      ...listAt(item, ...vpc, 'securityGroupIds').map(String),
    ].filter((id) => id !== '');
  });
}

/** Groups of the endpoints of AWS services in the cluster's VPC. */
export function endpointGroups({ aws }: Evidence): string[] {
  const vpc = textAt(aws.bodies('eks-describe-cluster')[0]?.item, 'resourcesVpcConfig', 'vpcId');
  return aws
    .items('ec2-describe-vpc-endpoints')
    .filter(({ item }) => vpc === '' || textAt(item, 'VpcId') === vpc)
    .flatMap(({ item }) => listAt(item, 'Groups').map((group) => textAt(group, 'GroupId')))
    .filter((id) => id !== '');
}

/** The route table of a subnet leads out of the VPC; undefined when routes are not known. */
export function hasWayOut({ aws }: Evidence, subnet: string, vpc: string): boolean | undefined {
  const tables = aws.items('ec2-describe-route-tables').map(({ item }) => item);
  if (tables.length === 0) return undefined;
  const own = tables.find((table) => listAt(table, 'Associations').some((one) => textAt(one, 'SubnetId') === subnet));
  const main = tables.find(
    (table) =>
      textAt(table, 'VpcId') === vpc && listAt(table, 'Associations').some((one) => textAt(one, 'Main') === 'true'),
  );
  const table = own ?? main;
  if (table === undefined) return undefined;
  return listAt(table, 'Routes').some(
    (route) =>
      ['0.0.0.0/0', '::/0'].includes(
        textAt(route, 'DestinationCidrBlock') || textAt(route, 'DestinationIpv6CidrBlock'),
      ) && textAt(route, 'State') !== 'blackhole',
  );
}

/** Names for commands about the VPC: as described, or shell variables. */
export function clusterNetwork({ aws, objects }: Evidence): { vpc: string; subnets: string; group: string } {
  const vpc = aws.bodies('eks-describe-cluster').map(({ item }) => item['resourcesVpcConfig'])[0];
  const selected = objects
    .of('EC2NodeClass')
    .flatMap(({ object }) => listAt(object, 'status', 'subnets').map((one) => textAt(one, 'id')));
  const subnets = selected.length > 0 ? selected : listAt(vpc, 'subnetIds').map(String);
  return {
    vpc: textAt(vpc, 'vpcId') || onlyVpc(aws) || '"$VPC"',
    subnets: [...new Set(subnets)].join(' ') || '"$NODE_SUBNETS"',
    group: textAt(vpc, 'clusterSecurityGroupId') || '"$GROUP_THAT_ADMITS_443_FROM_NODES"',
  };
}

export function routeTables({ aws }: Evidence, vpc: string): string {
  const ids = aws
    .items('ec2-describe-route-tables')
    .filter(({ item }) => textAt(item, 'VpcId') === vpc)
    .map(({ item }) => textAt(item, 'RouteTableId'));
  return ids.filter((id) => id !== '').join(' ') || '"$ROUTE_TABLE"';
}

/** The one VPC of which subnets, routes and endpoints were described. */
export function onlyVpc(aws: Evidence['aws']): string {
  const described = ['ec2-describe-subnets', 'ec2-describe-route-tables', 'ec2-describe-vpc-endpoints'] as const;
  const ids = new Set(described.flatMap((one) => aws.items(one).map(({ item }) => textAt(item, 'VpcId'))));
  ids.delete('');
  return ids.size === 1 ? ([...ids][0] ?? '') : '';
}
