// Live instance types over a scripted EC2: a few types in three zones, everything adjustable.
import { setImmediate as settle } from 'node:timers/promises';
import type { EC2Client } from '@aws-sdk/client-ec2';
import { capacityType, type EC2NodeClass, label } from '../../api/index.ts';
import { VirtualClock } from '../../base/index.ts';
import { type RecordedMetrics, recordedLog, recordedMetrics } from '../../controllers/testing/records.testing.ts';
import type { InstanceTypeSpec } from '../../core/index.ts';
import { type Fake, fakeEc2 } from '../fake-client.testing.ts';
import { nodeClass } from '../node-class.testing.ts';
import { UnavailableOfferings } from '../unavailable-offerings/unavailable-offerings.ts';
import { bandwidth, infoOf, limits, prices as onDemandPrices } from './instance-types.testing.ts';
import { InstanceTypes, type InstanceTypesOptions } from './live-instance-types.ts';

export const zones = ['us-east-1a', 'us-east-1b', 'us-east-1c'];

export const subnets = zones.map((zone, index) => ({ id: `subnet-${index + 1}`, zone, zoneID: `use1-az${index + 1}` }));

const standardImages = [
  {
    id: 'ami-arm64',
    name: 'arm64',
    requirements: [{ key: label.arch, operator: 'In', values: ['arm64'] }],
  },
  {
    id: 'ami-amd64',
    name: 'amd64',
    requirements: [{ key: label.arch, operator: 'In', values: ['amd64'] }],
  },
];

/** A class with everything resolved and ready. */
export function readyClass(
  spec: Partial<EC2NodeClass['spec']> = {},
  status: Partial<NonNullable<EC2NodeClass['status']>> = {},
): EC2NodeClass {
  const ready = {
    type: 'Ready',
    status: 'True' as const,
    reason: 'Ready',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
    observedGeneration: 1,
  };
  return nodeClass(spec, {
    status: {
      subnets,
      securityGroups: [{ id: 'sg-1' }],
      amis: standardImages,
      instanceProfile: 'profile-1',
      conditions: [ready],
      ...status,
    },
  });
}

export interface LiveWorld {
  clock: VirtualClock;
  metrics: RecordedMetrics;
  ec2: Fake<EC2Client>;
  unavailable: UnavailableOfferings;
  types: InstanceTypes;
  /** What the scripted EC2 and the other sources say; change freely. */
  said: {
    types: string[];
    zonesOf(type: string): string[];
    counts: Map<string, number>;
    shifted: Set<string>;
    priced: ReadonlySet<string>;
    prices: {
      version: number;
      onDemand(type: string): number | undefined;
      spot(type: string, zone: string): number | undefined;
    };
    group: ReturnType<InstanceTypesOptions['placementGroupOf']>;
    /** The class names a group that no one has looked up. */
    isGroupUnknown: boolean;
  };
}

export async function liveWorld(
  change: Partial<InstanceTypesOptions> = {},
  { isRefreshed = true } = {},
): Promise<LiveWorld> {
  const clock = new VirtualClock({ settle });
  const metrics = recordedMetrics();
  const unavailable = new UnavailableOfferings(clock);
  const price = (type: string): number | undefined => onDemandPrices[type];
  const said: LiveWorld['said'] = {
    types: ['m5.large', 'm5.xlarge', 't4g.small', 'm5.metal', 'g4dn.8xlarge'],
    zonesOf: () => zones,
    counts: new Map(),
    shifted: new Set(),
    priced: new Set(),
    prices: { version: 0, onDemand: price, spot: (type) => (price(type) ?? 0) * 0.7 || undefined },
    group: undefined,
    isGroupUnknown: false,
  };
  const ec2 = fakeEc2({
    DescribeInstanceTypes: () => ({ InstanceTypes: said.types.map(infoOf) }),
    DescribeInstanceTypeOfferings: () => ({
      InstanceTypeOfferings: said.types.flatMap((InstanceType) =>
        said.zonesOf(InstanceType).map((Location) => ({ InstanceType, Location })),
      ),
    }),
  });
  const types = new InstanceTypes({
    ec2: ec2.client,
    clock,
    log: recordedLog(),
    metrics,
    region: 'us-east-1',
    vmMemoryOverhead: 0.075,
    reservedEnis: 0,
    reservedCapacity: true,
    kubeletExpressions: true,
    tables: { eniLimits: limits, bandwidthMbps: bandwidth },
    prices: {
      get version() {
        return said.prices.version;
      },
      onDemand: (type) => said.prices.onDemand(type),
      spot: (type, zone) => said.prices.spot(type, zone),
    },
    unavailable,
    availableInReservation: (id) => said.counts.get(id) ?? 0,
    placementGroupOf: () => said.group,
    isShifted: (zoneId) => said.shifted.has(zoneId),
    pricedByOverlay: () => said.priced,
    ...change,
  });
  if (isRefreshed) await types.refresh();
  return { clock, metrics, ec2, unavailable, types, said };
}

export function named(types: readonly InstanceTypeSpec[], name: string): InstanceTypeSpec {
  const found = types.find((type) => type.name === name);
  if (found === undefined) throw new Error(`${name} is not listed`);
  return found;
}

/** Available offerings as `capacityType zone`. */
export function availableIn(type: InstanceTypeSpec): string[] {
  const valueOf = (requirements: InstanceTypeSpec['requirements'], key: string): string =>
    requirements.find((each) => each.key === key)?.values?.[0] ?? '';
  return type.offerings
    .filter(({ available }) => available)
    .map(({ requirements }) => `${valueOf(requirements, label.capacityType)} ${valueOf(requirements, label.zone)}`)
    .sort();
}

export const { spot, onDemand } = capacityType;
