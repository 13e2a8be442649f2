// What a machine of a type has: cpu, memory, storage, pods, devices, as quantities. Memory is an estimate that errs on
// the small side, because a pod planned on memory the kernel keeps would wait for ever.
import type { ResourceQuantities } from '../../core/index.ts';
import { amiFamilies, operatingSystemOf } from './ami-family.ts';
import type { InstanceTypeContext } from './context.ts';
import { architectureOf, defaultNetworkCard, type InstanceTypeInfo } from './instance-type-info.ts';

/** Memory that Graviton firmware keeps before the hypervisor's share is taken. */
const arm64FirmwareMiB = 64;
/** What the kubelet allows where interfaces do not limit it. */
const defaultMaxPods = 110;

export function capacityOf(info: InstanceTypeInfo, context: InstanceTypeContext): ResourceQuantities {
  const discovered = context.discoveredMemory?.(info.InstanceType);
  const capacity: ResourceQuantities = {
    cpu: String(info.VCpuInfo.DefaultVCpus),
    memory: discovered === undefined ? `${estimatedMemoryMiB(info, context)}Mi` : String(discovered),
    'ephemeral-storage': ephemeralStorageOf(info, context),
    pods: String(podsOf(info, context)),
  };
  for (const [resource, count] of Object.entries(extendedResourcesOf(info, context))) {
    if (count > 0) capacity[resource] = String(count);
  }
  return capacity;
}

/** Whole MiB left after firmware and hypervisor. */
export function estimatedMemoryMiB(info: InstanceTypeInfo, context: InstanceTypeContext): number {
  const firmware = architectureOf(info) === 'arm64' ? arm64FirmwareMiB : 0;
  const memory = info.MemoryInfo.SizeInMiB - firmware;
  return memory - Math.ceil(memory * context.vmMemoryOverhead);
}

/** Size of the disk that holds containers and logs. */
export function ephemeralStorageOf(info: InstanceTypeInfo, context: InstanceTypeContext): string {
  const localGB = info.InstanceStorageInfo?.TotalSizeInGB;
  if (context.raid0 && localGB !== undefined) return `${localGB}G`;
  const family = amiFamilies[context.amiFamily];
  const devices = context.blockDevices;
  const ofFamily =
    family.ephemeralDevice === undefined
      ? devices.at(-1)
      : devices.find(({ deviceName }) => deviceName === family.ephemeralDevice);
  // A volume made from a snapshot alone has no size of its own to tell.
  const root = devices.find(({ rootVolume }) => rootVolume);
  return root?.ebs?.volumeSize ?? ofFamily?.ebs?.volumeSize ?? family.defaultEphemeralStorage;
}

/** Pods the kubelet will accept. */
export function podsOf(info: InstanceTypeInfo, context: InstanceTypeContext): number {
  const family = amiFamilies[context.amiFamily];
  const { maxPods, podsPerCore } = context.kubelet;
  const most =
    maxPods ?? (family.eniLimitedPods ? eniLimitedPods(info, context, context.reservedEnis) : defaultMaxPods);
  if (podsPerCore === undefined || podsPerCore <= 0 || !family.honoursPodsPerCore) return most;
  return Math.min(podsPerCore * info.VCpuInfo.DefaultVCpus, most);
}

/** Addresses the default network card can give to pods, one per interface being the interface's own, plus two for host pods. */
export function eniLimitedPods(info: InstanceTypeInfo, context: InstanceTypeContext, reservedEnis: number): number {
  const network = info.NetworkInfo;
  const card = defaultNetworkCard(info);
  const efaOnly = efaOnlyInterfaces(context).filter(({ networkCardIndex }) => networkCardIndex === 0).length;
  const usable = Math.max(0, (card?.MaximumNetworkInterfaces ?? 0) - reservedEnis - efaOnly);
  return usable === 0 ? 0 : usable * ((network?.Ipv4AddressesPerInterface ?? 1) - 1) + 2;
}

/** Interfaces the class sets up for EFA traffic alone. */
export function efaOnlyInterfaces(context: InstanceTypeContext): InstanceTypeContext['networkInterfaces'] {
  return context.networkInterfaces.filter(({ interfaceType }) => interfaceType === 'efa-only');
}

/** EFA interfaces of a node that asks for them; a class that lays out its interfaces itself has those. */
export function efaInterfaces(info: InstanceTypeInfo, context: InstanceTypeContext): number {
  if (context.networkInterfaces.length > 0) return efaOnlyInterfaces(context).length;
  return info.NetworkInfo?.EfaInfo?.MaximumEfaInterfaces ?? 0;
}

function extendedResourcesOf(info: InstanceTypeInfo, context: InstanceTypeContext): Record<string, number> {
  const limits = context.eniLimits[info.InstanceType];
  const gpus = (manufacturer: string): number =>
    (info.GpuInfo?.Gpus ?? [])
      .filter((gpu) => gpu.Manufacturer === manufacturer)
      .reduce((sum, gpu) => sum + (gpu.Count ?? 0), 0);
  const neuron = info.NeuronInfo?.NeuronDevices ?? [];
  const devices: Record<string, number> = {
    'vpc.amazonaws.com/pod-eni': limits?.branch ?? 0,
    'nvidia.com/gpu': gpus('NVIDIA'),
    'amd.com/gpu': gpus('AMD'),
    'habana.ai/gaudi': gpus('Habana'),
    'aws.amazon.com/neuron': neuron.reduce((sum, device) => sum + (device.Count ?? 0), 0),
    'aws.amazon.com/neuroncore': (neuron[0]?.Count ?? 0) * (neuron[0]?.CoreInfo?.Count ?? 0),
    'vpc.amazonaws.com/efa': efaInterfaces(info, context),
  };
  if (operatingSystemOf(context.amiFamily, architectureOf(info)) === 'windows') {
    devices['vpc.amazonaws.com/PrivateIPv4Address'] = limits === undefined ? 0 : limits.ipv4 - 1;
  }
  return devices;
}
