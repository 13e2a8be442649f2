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

/** IAM's limit for names of roles. */
const longestRoleName = 64;

/** The usual name; one that is too long ends in a hash instead of being refused. */
export function roleName(prefix: string, cluster: string): string {
  const name = `${prefix}-${cluster}`;
  if (name.length <= longestRoleName) return name;
  const hash = createHash('sha256').update(cluster).digest('hex').slice(0, 8);
  return `${name.slice(0, longestRoleName - 9)}-${hash}`;
}

export const nodeRoleName = (cluster: string): string => roleName('KarpenterNodeRole', cluster);

export const controllerRoleName = (cluster: string): string => roleName('KarpenterControllerRole', cluster);
