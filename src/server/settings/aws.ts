// The settings that only the aws provider has, under the names charts use; the last two are our own.
import { defaultAwsGates, define, defineGates, type SettingDefinition } from './definitions.ts';
import type { SettingReader } from './reader.ts';

const minuteMs = 60_000;

export interface AwsSettings {
  clusterName: string;
  /** Empty: asked of EKS. */
  clusterEndpoint: string;
  /** Base64 of PEM; empty: the authority this process itself trusts. */
  clusterCaBundle: string;
  isolatedVpc: boolean;
  eksControlPlane: boolean;
  vmMemoryOverheadPercent: number;
  /** Empty: no interruption messages. */
  interruptionQueue: string;
  reservedEnis: number;
  disableDryRun: boolean;
  enableZonalShift: boolean;
  amiRefreshIntervalMs: number;
  subnetRefreshIntervalMs: number;
  securityGroupRefreshIntervalMs: number;
  spotRebalancePolicy: 'Notify' | 'Replace';
  instanceStatusDryRun: boolean;
  awsFeatureGates: Record<string, boolean>;
}

export const awsSettingDefinitions = {
  clusterName: define('cluster-name', 'text', '', 'name of the EKS cluster; required'),
  clusterEndpoint: define('cluster-endpoint', 'text', '', 'URL of the API server for nodes; asked of EKS if empty'),
  clusterCaBundle: define(
    'cluster-ca-bundle',
    'text',
    '',
    'base64 of the certificates nodes trust; those of this process if empty',
  ),
  isolatedVpc: define('isolated-vpc', 'boolean', 'false', 'no way to the price list: use the built-in prices'),
  eksControlPlane: define('eks-control-plane', 'boolean', 'false', 'ask EKS for the Kubernetes version'),
  vmMemoryOverheadPercent: define(
    'vm-memory-overhead-percent',
    'number',
    '0.075',
    'part of the memory that the hypervisor is expected to take, as a fraction',
  ),
  interruptionQueue: define('interruption-queue', 'text', '', 'name of the SQS queue with interruption events'),
  reservedEnis: define('reserved-enis', 'integer', '0', 'network interfaces per node that pods do not get'),
  disableDryRun: define('disable-dry-run', 'boolean', 'false', 'do not try launches of a node class in dry runs'),
  enableZonalShift: define(
    'enable-zonal-shift',
    'boolean',
    'false',
    'launch nothing in zones that ARC shifts away from',
  ),
  amiRefreshInterval: define('ami-refresh-interval', 'duration', '1m', 'how often images are looked up; at least 1m'),
  subnetRefreshInterval: define(
    'subnet-refresh-interval',
    'duration',
    '1m',
    'how often subnets are looked up; at least 1m',
  ),
  securityGroupRefreshInterval: define(
    'security-group-refresh-interval',
    'duration',
    '1m',
    'how often security groups are looked up; at least 1m',
  ),
  spotRebalancePolicy: define(
    'spot-rebalance-policy',
    'choice',
    'Notify',
    'what a rebalance recommendation does: an event and a metric, or the node is also replaced as if it had drifted',
    ['Notify', 'Replace'],
  ),
  instanceStatusDryRun: define(
    'instance-status-dry-run',
    'boolean',
    'false',
    'only count instances that fail their status checks, keep their nodes',
  ),
  awsFeatureGates: defineGates('aws-feature-gates', defaultAwsGates, 'comma list of Name=true or Name=false'),
} satisfies Record<string, SettingDefinition>;

export function readAwsSettings(reader: SettingReader): AwsSettings {
  const of = awsSettingDefinitions;
  const settings: AwsSettings = {
    clusterName: reader.read(of.clusterName),
    clusterEndpoint: reader.read(of.clusterEndpoint),
    clusterCaBundle: reader.read(of.clusterCaBundle),
    isolatedVpc: reader.read(of.isolatedVpc),
    eksControlPlane: reader.read(of.eksControlPlane),
    vmMemoryOverheadPercent: reader.read(of.vmMemoryOverheadPercent),
    interruptionQueue: reader.read(of.interruptionQueue),
    reservedEnis: reader.read(of.reservedEnis),
    disableDryRun: reader.read(of.disableDryRun),
    enableZonalShift: reader.read(of.enableZonalShift),
    amiRefreshIntervalMs: reader.read(of.amiRefreshInterval),
    subnetRefreshIntervalMs: reader.read(of.subnetRefreshInterval),
    securityGroupRefreshIntervalMs: reader.read(of.securityGroupRefreshInterval),
    spotRebalancePolicy: reader.read(of.spotRebalancePolicy),
    instanceStatusDryRun: reader.read(of.instanceStatusDryRun),
    awsFeatureGates: reader.read(of.awsFeatureGates),
  };
  const check = (holds: boolean, { flag, env }: SettingDefinition, what: string): void => {
    if (!holds) reader.problems.push(`--${flag} (${env}): ${what}`);
  };
  check(settings.clusterName !== '', of.clusterName, 'is missing; write the name of the EKS cluster');
  check(
    settings.clusterEndpoint === '' || isAbsoluteUrl(settings.clusterEndpoint),
    of.clusterEndpoint,
    `"${settings.clusterEndpoint}" is not a URL with a host, such as https://example.eks.amazonaws.com`,
  );
  check(settings.vmMemoryOverheadPercent >= 0, of.vmMemoryOverheadPercent, 'must not be negative');
  check(settings.reservedEnis >= 0, of.reservedEnis, 'must not be negative');
  check(settings.amiRefreshIntervalMs >= minuteMs, of.amiRefreshInterval, 'must be 1m or more');
  check(settings.subnetRefreshIntervalMs >= minuteMs, of.subnetRefreshInterval, 'must be 1m or more');
  check(settings.securityGroupRefreshIntervalMs >= minuteMs, of.securityGroupRefreshInterval, 'must be 1m or more');
  return settings;
}

function isAbsoluteUrl(text: string): boolean {
  return URL.canParse(text) && new URL(text).host !== '';
}
