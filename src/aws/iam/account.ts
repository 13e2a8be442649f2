// Where policies and infrastructure belong: names and ARNs of one cluster in one account. Region and account may be
// expressions of a template language; they are only ever put into text.
import { createHash } from 'node:crypto';

export interface ClusterAccount {
  cluster: string;
  region: string;
  account: string;
  partition: string;
  /** `amazonaws.com`, or China's. */
  dnsSuffix: string;
}

export function partitionOf(region: string): string {
  if (region.startsWith('cn-')) return 'aws-cn';
  if (region.startsWith('us-gov-')) return 'aws-us-gov';
  return 'aws';
}

export function dnsSuffixOf(region: string): string {
  return region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
}

/** Limits for names: of roles and policies in IAM, of rules in EventBridge. */
const longestRoleName = 64;
const longestPolicyName = 128;
const longestRuleName = 64;

/** The cluster's name; one that is too long ends in a hash instead of being refused, or of meeting another's. */
function shortened(cluster: string, longest: number): string {
  if (cluster.length <= longest) return cluster;
  const hash = createHash('sha256').update(cluster).digest('hex').slice(0, 8);
  return `${cluster.slice(0, longest - 9)}-${hash}`;
}

const named = (prefix: string, cluster: string, longest: number): string =>
  `${prefix}-${shortened(cluster, longest - prefix.length - 1)}`;

const roleName = (prefix: string, cluster: string): string => named(prefix, cluster, longestRoleName);

export const policyNameOf = (prefix: string, cluster: string): string => named(prefix, cluster, longestPolicyName);

export const ruleNameOf = (cluster: string, id: string): string =>
  `${shortened(cluster, longestRuleName - id.length - 1)}-${id}`;

export const nodeRoleName = (cluster: string): string => roleName('KarpenterNodeRole', cluster);

export const controllerRoleName = (cluster: string): string => roleName('KarpenterControllerRole', cluster);
