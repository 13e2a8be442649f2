// What EC2 sells in the region: its instance types, and which zones offer each. Read whole or not at all; the answer says
// whether anything changed, so that an unchanged refresh disturbs no one.
import {
  DescribeInstanceTypeOfferingsCommand,
  DescribeInstanceTypesCommand,
  type EC2Client,
  type InstanceTypeInfo as Ec2InstanceType,
} from '@aws-sdk/client-ec2';
import { KerfError } from '../../base/index.ts';
import { allPages } from '../paging.ts';
import type { InstanceTypeInfo } from './instance-type-info.ts';

/** Sizes of a page: the most EC2 gives. */
const typesPerPage = 100;
const offeringsPerPage = 1_000;

const typeFilters = [
  { Name: 'supported-virtualization-type', Values: ['hvm'] },
  { Name: 'processor-info.supported-architecture', Values: ['x86_64', 'arm64'] },
];

/** By name, in order. */
export async function describeInstanceTypes(ec2: EC2Client): Promise<InstanceTypeInfo[]> {
  const infos = new Map<string, InstanceTypeInfo>();
  const pages = allPages((next) =>
    ec2.send(new DescribeInstanceTypesCommand({ Filters: typeFilters, MaxResults: typesPerPage, ...next })),
  );
  for await (const { InstanceTypes = [] } of pages) {
    for (const each of InstanceTypes) {
      const info = instanceTypeInfo(each);
      if (info !== undefined) infos.set(info.InstanceType, info);
    }
  }
  if (infos.size === 0) throw nothing('no instance types found');
  return [...infos.values()].sort((left, right) => (left.InstanceType < right.InstanceType ? -1 : 1));
}

/** Zones by type, each in order. */
export async function describeOfferings(ec2: EC2Client): Promise<Record<string, string[]>> {
  const zonesOfType = new Map<string, Set<string>>();
  const pages = allPages((next) =>
    ec2.send(
      new DescribeInstanceTypeOfferingsCommand({
        LocationType: 'availability-zone',
        MaxResults: offeringsPerPage,
        ...next,
      }),
    ),
  );
  for await (const { InstanceTypeOfferings = [] } of pages) {
    for (const { InstanceType, Location } of InstanceTypeOfferings) {
      if (InstanceType === undefined || Location === undefined) continue;
      const zones = zonesOfType.get(InstanceType);
      if (zones === undefined) zonesOfType.set(InstanceType, new Set([Location]));
      else zones.add(Location);
    }
  }
  if (zonesOfType.size === 0) throw nothing('no instance types offerings found');
  const sorted = [...zonesOfType].sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(sorted.map(([type, zones]) => [type, [...zones].sort()]));
}

function nothing(message: string): KerfError {
  return new KerfError('NoInstanceTypes', message, { retryable: true });
}

/** Only what is looked at: EC2 says four times as much, and 1,300 types are kept in memory. */
function instanceTypeInfo(info: Ec2InstanceType): InstanceTypeInfo | undefined {
  const { InstanceType, VCpuInfo, MemoryInfo, ProcessorInfo: processor, NetworkInfo: network, EbsInfo: ebs } = info;
  const cpus = VCpuInfo?.DefaultVCpus;
  const memory = MemoryInfo?.SizeInMiB;
  if (InstanceType === undefined || cpus === undefined || memory === undefined) return undefined;
  return {
    InstanceType,
    BareMetal: info.BareMetal,
    Hypervisor: info.Hypervisor,
    SupportedUsageClasses: info.SupportedUsageClasses,
    ProcessorInfo: processor && {
      Manufacturer: processor.Manufacturer,
      SupportedArchitectures: processor.SupportedArchitectures,
      SustainedClockSpeedInGhz: processor.SustainedClockSpeedInGhz,
      SupportedFeatures: processor.SupportedFeatures,
    },
    VCpuInfo: { DefaultVCpus: cpus },
    MemoryInfo: { SizeInMiB: memory },
    NetworkInfo: network && {
      Ipv4AddressesPerInterface: network.Ipv4AddressesPerInterface,
      DefaultNetworkCardIndex: network.DefaultNetworkCardIndex,
      EncryptionInTransitSupported: network.EncryptionInTransitSupported,
      EnaSupport: network.EnaSupport,
      EfaInfo: network.EfaInfo && { MaximumEfaInterfaces: network.EfaInfo.MaximumEfaInterfaces },
      NetworkCards: network.NetworkCards?.map(({ NetworkCardIndex, MaximumNetworkInterfaces }) => ({
        NetworkCardIndex,
        MaximumNetworkInterfaces,
      })),
    },
    EbsInfo: ebs && {
      EbsOptimizedSupport: ebs.EbsOptimizedSupport,
      EbsOptimizedInfo: ebs.EbsOptimizedInfo && {
        MaximumBandwidthInMbps: ebs.EbsOptimizedInfo.MaximumBandwidthInMbps,
      },
      MaximumEbsAttachments: ebs.MaximumEbsAttachments,
      AttachmentLimitType: ebs.AttachmentLimitType,
    },
    GpuInfo: info.GpuInfo && {
      Gpus: (info.GpuInfo.Gpus ?? []).map(({ Name, Manufacturer, Count, MemoryInfo }) => ({
        Name,
        Manufacturer,
        Count,
        MemoryInfo: MemoryInfo?.SizeInMiB === undefined ? undefined : { SizeInMiB: MemoryInfo.SizeInMiB },
      })),
    },
    NeuronInfo: info.NeuronInfo && {
      NeuronDevices: (info.NeuronInfo.NeuronDevices ?? []).map(({ Name, Count, CoreInfo }) => ({
        Name,
        Count,
        CoreInfo: CoreInfo && { Count: CoreInfo.Count },
      })),
    },
    InferenceAcceleratorInfo: info.InferenceAcceleratorInfo && {
      Accelerators: (info.InferenceAcceleratorInfo.Accelerators ?? []).map(({ Name, Manufacturer, Count }) => ({
        Name,
        Manufacturer,
        Count,
      })),
    },
    InstanceStorageInfo: info.InstanceStorageInfo && {
      TotalSizeInGB: info.InstanceStorageInfo.TotalSizeInGB,
      NvmeSupport: info.InstanceStorageInfo.NvmeSupport,
      DiskCount: info.InstanceStorageInfo.Disks?.reduce((sum, { Count = 1 }) => sum + Count, 0),
    },
    NitroEnclavesSupport: info.NitroEnclavesSupport,
    PlacementGroupInfo: info.PlacementGroupInfo && {
      SupportedStrategies: info.PlacementGroupInfo.SupportedStrategies,
    },
  };
}
