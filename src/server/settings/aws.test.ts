import { describe, expect, test } from 'vitest';
import type { AwsSettings } from './aws.ts';
import { parseSettings } from './parse.ts';

const parse = (flags: Record<string, string> = {}, env: Record<string, string> = {}): AwsSettings => {
  const { aws } = parseSettings(flags, env, 'aws');
  if (aws === undefined) throw new Error('the aws provider has settings');
  return aws;
};
const named = { 'cluster-name': 'one' };

describe('settings of AWS', () => {
  test('defaults, with intervals of one minute', () => {
    expect(parse(named)).toEqual({
      clusterName: 'one',
      clusterEndpoint: '',
      clusterCaBundle: '',
      isolatedVpc: false,
      eksControlPlane: false,
      vmMemoryOverheadPercent: 0.075,
      interruptionQueue: '',
      reservedEnis: 0,
      disableDryRun: false,
      enableZonalShift: false,
      amiRefreshIntervalMs: 60_000,
      subnetRefreshIntervalMs: 60_000,
      securityGroupRefreshIntervalMs: 60_000,
      awsFeatureGates: { NodeClassCEL: false, DRANVIDIAGPU: false, DRAEFA: false, RebootForRepair: false },
      spotRebalancePolicy: 'Notify',
      instanceStatusDryRun: false,
    });
  });

  test('the environment is used when there is no flag, and flags override it', () => {
    const env = {
      CLUSTER_NAME: 'env',
      CLUSTER_ENDPOINT: 'https://env.example',
      ISOLATED_VPC: 'true',
      EKS_CONTROL_PLANE: 'true',
      VM_MEMORY_OVERHEAD_PERCENT: '0.1',
      INTERRUPTION_QUEUE: 'queue',
      RESERVED_ENIS: '2',
      DISABLE_DRY_RUN: 'true',
      ENABLE_ZONAL_SHIFT: 'true',
      AMI_REFRESH_INTERVAL: '5m',
      SUBNET_REFRESH_INTERVAL: '10m',
    };
    expect(parse({}, env)).toMatchObject({
      clusterName: 'env',
      clusterEndpoint: 'https://env.example',
      isolatedVpc: true,
      eksControlPlane: true,
      vmMemoryOverheadPercent: 0.1,
      interruptionQueue: 'queue',
      reservedEnis: 2,
      disableDryRun: true,
      enableZonalShift: true,
      amiRefreshIntervalMs: 300_000,
      subnetRefreshIntervalMs: 600_000,
    });
    expect(parse({ 'cluster-name': 'flag', 'reserved-enis': '3' }, env)).toMatchObject({
      clusterName: 'flag',
      reservedEnis: 3,
      interruptionQueue: 'queue',
    });
  });

  test('an overhead of the environment that is not a number means the default', () => {
    expect(parse(named, { VM_MEMORY_OVERHEAD_PERCENT: 'much' }).vmMemoryOverheadPercent).toBe(0.075);
    expect(parse(named, { VM_MEMORY_OVERHEAD_PERCENT: '0' }).vmMemoryOverheadPercent).toBe(0);
  });

  test.each([
    [{}, /cluster-name \(CLUSTER_NAME\): is missing/],
    [
      { ...named, 'cluster-endpoint': '00000000000000000000000.gr7.us-west-2.eks.amazonaws.com' },
      /not a URL with a host/,
    ],
    [{ ...named, 'cluster-endpoint': '/relative' }, /not a URL with a host/],
    [{ ...named, 'vm-memory-overhead-percent': '-0.01' }, /vm-memory-overhead-percent .*negative/],
    [{ ...named, 'reserved-enis': '-1' }, /reserved-enis .*negative/],
    [{ ...named, 'ami-refresh-interval': '59s' }, /ami-refresh-interval .*1m or more/],
    [{ ...named, 'subnet-refresh-interval': '30s' }, /subnet-refresh-interval .*1m or more/],
  ])('%j stops the start', (flags, problem) => {
    expect(() => parse(flags)).toThrow(problem);
  });

  test('other providers need none of them', () => {
    expect(parseSettings({}, {}).aws).toBeUndefined();
  });
});
