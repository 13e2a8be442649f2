// Whether a class can launch a type at all. An incompatible type stays in the catalogue, with no available offering.
import { efaOnlyInterfaces } from './capacity.ts';
import type { InstanceTypeContext } from './context.ts';
import type { InstanceTypeInfo } from './instance-type-info.ts';

export function isCompatible(info: InstanceTypeInfo, context: InstanceTypeContext): boolean {
  // First-generation Graviton cannot boot Amazon Linux 2023.
  if (context.amiFamily === 'AL2023' && info.InstanceType.startsWith('a1.')) return false;
  if (context.nestedVirtualization && !info.ProcessorInfo?.SupportedFeatures?.includes('nested-virtualization')) {
    return false;
  }
  const strategy = context.placementGroup?.strategy;
  if (strategy !== undefined && !info.PlacementGroupInfo?.SupportedStrategies?.includes(strategy)) return false;
  if (context.connectionTracking && info.Hypervisor !== 'nitro') return false;
  if (context.enclaves && !hasEnclaves(info)) return false;
  return context.networkInterfaces.length === 0 || canCarryInterfaces(info, context);
}

/** The built-in table does not say it: Nitro machines have enclaves from four CPUs, those of AWS's own make from two. */
function hasEnclaves(info: InstanceTypeInfo): boolean {
  if (info.NitroEnclavesSupport !== undefined) return info.NitroEnclavesSupport === 'supported';
  const least = info.ProcessorInfo?.Manufacturer === 'AWS' ? 2 : 4;
  return info.Hypervisor === 'nitro' && info.BareMetal !== true && info.VCpuInfo.DefaultVCpus >= least;
}

function canCarryInterfaces(info: InstanceTypeInfo, context: InstanceTypeContext): boolean {
  const network = info.NetworkInfo;
  const cards = network?.NetworkCards ?? [];
  if (cards.length === 0 || network?.EnaSupport === 'unsupported') return false;
  if (efaOnlyInterfaces(context).length > (network?.EfaInfo?.MaximumEfaInterfaces ?? 0)) return false;
  return context.networkInterfaces.every(({ networkCardIndex, deviceIndex }) => {
    const card = cards[networkCardIndex];
    return card !== undefined && deviceIndex < (card.MaximumNetworkInterfaces ?? 0);
  });
}
