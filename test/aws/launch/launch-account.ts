// The provider on the emulated account: put together as in production (createAwsProvider, createAwsClients), real time;
// only AWS itself is emulated. The class is resolved by the parts that resolve it in production.
import { vi } from 'vitest';
import {
  awsAnnotation,
  capacityType,
  type EC2NodeClass,
  ec2NodeClassHash,
  ec2NodeClassHashVersion,
  label,
  type NodeClaim,
} from '../../../src/api/index.ts';
import { type AwsProvider, createAwsClients, createAwsProvider, noZonalShifts } from '../../../src/aws/index.ts';
import { recordedEvents, recordedLog, recordedMetrics } from '../../../src/controllers/testing/records.testing.ts';
import type { RequirementSpec } from '../../../src/core/index.ts';
import { RealClock } from '../../../src/runtime/index.ts';
import type { AwsEmulator } from '../../setup/aws-emulator.ts';
import { type Account, prepareAccount } from '../emulator/account.ts';

const caBundle = 'Q0E=';

export type LaunchAccount = Awaited<ReturnType<typeof launchAccount>>;

const clusterName = 'demo';

export async function launchAccount(emulator: AwsEmulator, spec: Partial<EC2NodeClass['spec']> = {}) {
  const account = await prepareAccount(emulator);
  const clock = new RealClock();
  const metrics = recordedMetrics();
  const log = recordedLog();
  const recorder = recordedEvents();
  vi.stubEnv('AWS_ENDPOINT_URL', emulator.url);
  const clients = await createAwsClients({
    clock,
    metrics,
    env: process.env,
    region: 'us-east-1',
    version: 'test',
    lookUpCredentials: async () => emulator.clientOptions.credentials,
  });
  let nodeClass = classFor(account, spec);
  const provider = await createAwsProvider({
    clients,
    clock,
    log,
    metrics,
    recorder,
    settings: {
      clusterName,
      isolatedVpc: false,
      vmMemoryOverheadPercent: 0.075,
      reservedEnis: 0,
      amiRefreshIntervalMs: 60_000,
      subnetRefreshIntervalMs: 60_000,
      securityGroupRefreshIntervalMs: 60_000,
      minValuesPolicy: 'Strict',
      reservedCapacity: true,
    },
    cluster: {
      name: clusterName,
      endpoint: 'https://demo.eks',
      caBundle,
      dnsIp: '10.100.0.10',
      ipFamily: 'ipv4',
      serviceCidr: '10.100.0.0/16',
      resolveServiceCidr: async () => {},
    },
    shifts: noZonalShifts,
    kubernetesVersion: () => '1.34',
    nodeClassOf: (name) => (name === 'default' ? nodeClass : undefined),
    pricedByOverlay: () => none,
  });
  nodeClass = await resolved(nodeClass, provider, account);
  await Promise.all([provider.types.refresh(), provider.pricing.refresh()]);
  return {
    ...account,
    ...provider,
    subnets: account.subnets,
    metrics,
    recorder,
    control: emulator.control,
    nodeClass: () => nodeClass,
    setClass: async (change: Partial<EC2NodeClass['spec']>) => {
      const generation = (nodeClass.metadata.generation ?? 0) + 1;
      const { spec: old, metadata } = nodeClass;
      const changed = { ...nodeClass, metadata: { ...metadata, generation }, spec: { ...old, ...change } };
      nodeClass = await resolved(changed, provider, account);
    },
    /** How often an action was called since the last `forgetCalls`. */
    calls: (action: string) => emulator.control.calls().filter((call) => call.action === action).length,
    stop: () => {
      provider.templates.dispose();
      clients.destroy();
    },
  };
}

/** The class as its controllers would leave it: status filled in, hash stamped. */
async function resolved(of: EC2NodeClass, provider: AwsProvider, { profile }: Account): Promise<EC2NodeClass> {
  const { images, placementGroups, subnets, securityGroups, reservations } = provider;
  const found = await images.list(of);
  await placementGroups.resolve(of);
  const stamps = {
    [awsAnnotation.nodeClassHash]: ec2NodeClassHash(of.spec, caBundle),
    [awsAnnotation.nodeClassHashVersion]: ec2NodeClassHashVersion,
  };
  return {
    ...of,
    metadata: { ...of.metadata, annotations: stamps },
    status: {
      subnets: (await subnets.list(of)).map(({ id, zone, zoneID }) => ({ id, zone, zoneID: zoneID ?? '' })),
      securityGroups: (await securityGroups.list(of)).map(({ id }) => ({ id })),
      amis: found.kind === 'found' ? [...found.images] : [],
      capacityReservations: await reservations.list(of),
      instanceProfile: profile,
      conditions: [{ ...readyCondition, observedGeneration: of.metadata.generation ?? 0 }],
    },
  };
}

const none: ReadonlySet<string> = new Set();

const readyCondition = {
  type: 'Ready',
  status: 'True' as const,
  reason: 'Ready',
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
};

function classFor({ groupId, subnets }: Account, spec: Partial<EC2NodeClass['spec']>): EC2NodeClass {
  return {
    metadata: { name: 'default', uid: 'uid-default', generation: 1 },
    spec: {
      role: 'nodes',
      amiSelectorTerms: [{ alias: 'al2023@latest' }],
      subnetSelectorTerms: subnets.map(({ SubnetId = '' }) => ({ id: SubnetId })),
      securityGroupSelectorTerms: [{ id: groupId }],
      metadataOptions: {
        httpEndpoint: 'enabled',
        httpProtocolIPv6: 'disabled',
        httpPutResponseHopLimit: 1,
        httpTokens: 'required',
      },
      ...spec,
    },
  };
}

export const among = (key: string, ...values: string[]): RequirementSpec => ({ key, operator: 'In', values });

export function claimFor(name: string, requirements: RequirementSpec[] = cheap, requests = {}): NodeClaim {
  return {
    metadata: { name, uid: name, labels: { [label.nodePool]: 'default', team: 'a' } },
    spec: {
      nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' },
      requirements,
      resources: { requests },
      taints: [{ key: 'dedicated', value: 'a', effect: 'NoSchedule' }],
    },
  };
}

/** Few pools, so that the emulator is quick. */
export const cheap: RequirementSpec[] = [
  among(label.instanceType, 'm5.large', 'm5.xlarge', 'm6g.large'),
  among(label.capacityType, capacityType.onDemand),
];
