// The provider on the emulated account: real parts, real SDK clients, real time; only AWS itself is emulated. The class is
// resolved by the parts that resolve it in production.
import { PricingClient } from '@aws-sdk/client-pricing';
import { SSMClient } from '@aws-sdk/client-ssm';
import type { EC2NodeClass, NodeClaim } from '../../../src/api/index.ts';
import { capacityType, label } from '../../../src/api/index.ts';
import { bootPartsOf } from '../../../src/aws/boot-parts.ts';
import { CapacityReservations } from '../../../src/aws/capacity-reservations/capacity-reservations.ts';
import { ReservationCounts } from '../../../src/aws/capacity-reservations/reservation-counts.ts';
import { AwsCloud } from '../../../src/aws/cloud.ts';
import { Launcher } from '../../../src/aws/fleet/launcher.ts';
import { Images } from '../../../src/aws/images/images.ts';
import { Parameters } from '../../../src/aws/images/parameters.ts';
import { builtInTables } from '../../../src/aws/instance-types/built-in-tables.ts';
import { InstanceTypes } from '../../../src/aws/instance-types/live-instance-types.ts';
import { Instances } from '../../../src/aws/instances/instances.ts';
import { LaunchTemplates } from '../../../src/aws/launch-templates/launch-templates.ts';
import { PlacementGroups } from '../../../src/aws/placement-groups/placement-groups.ts';
import { Pricing } from '../../../src/aws/pricing/pricing.ts';
import { SecurityGroups } from '../../../src/aws/security-groups/security-groups.ts';
import { SubnetAddresses } from '../../../src/aws/subnets/subnet-addresses.ts';
import { Subnets } from '../../../src/aws/subnets/subnets.ts';
import { UnavailableOfferings } from '../../../src/aws/unavailable-offerings/unavailable-offerings.ts';
import { recordedEvents, recordedLog, recordedMetrics } from '../../../src/controllers/testing/records.testing.ts';
import type { RequirementSpec } from '../../../src/core/index.ts';
import { RealClock } from '../../../src/runtime/index.ts';
import type { AwsEmulator } from '../../setup/aws-emulator.ts';
import { type Account, prepareAccount } from '../emulator/account.ts';

export type LaunchAccount = Awaited<ReturnType<typeof launchAccount>>;

const clusterName = 'demo';

export async function launchAccount(emulator: AwsEmulator, spec: Partial<EC2NodeClass['spec']> = {}) {
  const account = await prepareAccount(emulator);
  const { ec2 } = account;
  const clock = new RealClock();
  const metrics = recordedMetrics();
  const log = recordedLog();
  const recorder = recordedEvents();
  const tables = await builtInTables();
  const unavailable = new UnavailableOfferings(clock);
  const counts = new ReservationCounts(clock);
  const placementGroups = new PlacementGroups({ ec2, clock });
  const addresses = new SubnetAddresses(clock, 60_000);
  const subnets = new Subnets({ ec2, clock, refreshMs: 60_000, addresses });
  const region = 'us-east-1';
  const pricing = new Pricing({
    ec2,
    pricing: new PricingClient(emulator.clientOptions),
    clock,
    log,
    region,
    isolatedVpc: false,
    tables,
  });
  const placementGroupOf = (nodeClass: EC2NodeClass) => placementGroups.known(nodeClass);
  const isShifted = (): boolean => false;
  const types = new InstanceTypes({
    ec2,
    clock,
    log,
    metrics,
    region,
    vmMemoryOverhead: 0.075,
    reservedEnis: 0,
    reservedCapacity: true,
    tables,
    prices: pricing,
    unavailable,
    availableInReservation: (id) => counts.available(id),
    placementGroupOf,
    isShifted,
    pricedByOverlay: () => none,
  });
  const zoneIdOf = (zone: string): string | undefined => types.zoneIdOf(zone);
  const instances = new Instances({ ec2, clock, metrics, clusterName, reservedCapacity: true, isShifted, zoneIdOf });
  const templates = new LaunchTemplates({ ec2, clock, log, metrics, clusterName });
  const launcher = new Launcher({
    ec2,
    clock,
    log,
    metrics,
    recorder,
    templates,
    unavailable,
    subnets: addresses,
    zoneIdOf,
    placementGroupOf,
    minValuesPolicy: 'Strict',
    markFull: (id) => addresses.markFull(id),
    exhausted: (id) => counts.exhausted(id),
    parts: bootPartsOf({
      region,
      clusterName,
      reservedCapacity: true,
      log,
      cluster: {
        name: clusterName,
        endpoint: 'https://demo.eks',
        caBundle: 'Q0E=',
        dnsIp: '10.100.0.10',
        ipFamily: 'ipv4',
        serviceCidr: '10.100.0.0/16',
        resolveServiceCidr: async () => {},
      },
    }),
  });
  const parameters = new Parameters({ ssm: new SSMClient(emulator.clientOptions), clock });
  const images = new Images({ ec2, clock, parameters, refreshMs: 60_000, kubernetesVersion: async () => '1.34' });
  const securityGroups = new SecurityGroups({ ec2, clock });
  const reservations = new CapacityReservations({ ec2, clock, log, counts });
  const resolve = async (of: EC2NodeClass): Promise<EC2NodeClass> => {
    const found = await images.list(of);
    await placementGroups.resolve(of);
    return {
      ...of,
      status: {
        subnets: (await subnets.list(of)).map(({ id, zone, zoneID }) => ({ id, zone, zoneID: zoneID ?? '' })),
        securityGroups: (await securityGroups.list(of)).map(({ id }) => ({ id })),
        amis: found.kind === 'found' ? [...found.images] : [],
        capacityReservations: await reservations.list(of),
        instanceProfile: account.profile,
        conditions: [{ ...readyCondition, observedGeneration: of.metadata.generation ?? 0 }],
      },
    };
  };
  let nodeClass = await resolve(classFor(account, spec));
  const cloud = new AwsCloud({
    types,
    instances,
    launcher,
    recorder,
    nodeClassOf: (name) => (name === 'default' ? nodeClass : undefined),
    reservations: counts,
    placementGroupOf,
    driftOf: async () => undefined,
  });
  await Promise.all([types.refresh(), pricing.refresh()]);
  return {
    ...account,
    cloud,
    types,
    instances,
    templates,
    unavailable,
    metrics,
    recorder,
    counts,
    control: emulator.control,
    nodeClass: () => nodeClass,
    setClass: async (change: Partial<EC2NodeClass['spec']>) => {
      const generation = (nodeClass.metadata.generation ?? 0) + 1;
      const { spec: old, metadata } = nodeClass;
      nodeClass = await resolve({ ...nodeClass, metadata: { ...metadata, generation }, spec: { ...old, ...change } });
    },
    /** How often an action was called since the last `forgetCalls`. */
    calls: (action: string) => emulator.control.calls().filter((call) => call.action === action).length,
    stop: () => templates.dispose(),
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
