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

interface Partition {
  /** What names of its regions begin with. */
  regions: string;
  name: string;
  dnsSuffix: string;
}

const commercial: Partition = { regions: '', name: 'aws', dnsSuffix: 'amazonaws.com' };

const partitions: readonly Partition[] = [
  { regions: 'cn-', name: 'aws-cn', dnsSuffix: 'amazonaws.com.cn' },
  { regions: 'us-gov-', name: 'aws-us-gov', dnsSuffix: 'amazonaws.com' },
  { regions: 'us-iso-', name: 'aws-iso', dnsSuffix: 'c2s.ic.gov' },
  { regions: 'us-isob-', name: 'aws-iso-b', dnsSuffix: 'sc2s.sgov.gov' },
  { regions: 'eu-isoe-', name: 'aws-iso-e', dnsSuffix: 'cloud.adc-e.uk' },
  { regions: 'us-isof-', name: 'aws-iso-f', dnsSuffix: 'csp.hci.ic.gov' },
  { regions: 'eusc-', name: 'aws-eusc', dnsSuffix: 'amazonaws.eu' },
];

const partitionWith = (region: string): Partition =>
  partitions.find(({ regions }) => region.startsWith(regions)) ?? commercial;

export const partitionOf = (region: string): string => partitionWith(region).name;

export const dnsSuffixOf = (region: string): string => partitionWith(region).dnsSuffix;

/** Limits for names: of roles and policies in IAM, of rules in EventBridge, of queues in SQS. */
const longestRoleName = 64;
const longestPolicyName = 128;
const longestRuleName = 64;
const longestQueueName = 80;

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

/** The interruption queue is named as its cluster. */
export const queueNameOf = (cluster: string): string => shortened(cluster, longestQueueName);

export const nodeRoleName = (cluster: string): string => roleName('KarpenterNodeRole', cluster);

export const controllerRoleName = (cluster: string): string => roleName('KarpenterControllerRole', cluster);
