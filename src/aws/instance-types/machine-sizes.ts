// What ships with the project about the size of each instance type, without prices, zones or a node class.
import { builtInTables } from './built-in-tables.ts';

export interface MachineSize {
  vcpus: number;
  memoryMiB: number;
  /** Pods that the interfaces have addresses for, without prefixes, and the two of the host's network. */
  maxPods: number;
  architecture: string;
}

export async function builtInMachineSizes(): Promise<ReadonlyMap<string, MachineSize>> {
  const { infos } = await builtInTables();
  return new Map(
    infos.map((info) => {
      const { InstanceType, VCpuInfo, MemoryInfo, NetworkInfo, ProcessorInfo } = info;
      const cardIndex = NetworkInfo?.DefaultNetworkCardIndex ?? 0;
      const card = NetworkInfo?.NetworkCards?.find((one) => one.NetworkCardIndex === cardIndex);
      const interfaces = card?.MaximumNetworkInterfaces ?? 1;
      const isArm = ProcessorInfo?.SupportedArchitectures?.includes('arm64') === true;
      return [
        InstanceType,
        {
          vcpus: VCpuInfo.DefaultVCpus,
          memoryMiB: MemoryInfo.SizeInMiB,
          maxPods: interfaces * ((NetworkInfo?.Ipv4AddressesPerInterface ?? 1) - 1) + 2,
          architecture: isArm ? 'arm64' : 'amd64',
        },
      ];
    }),
  );
}
