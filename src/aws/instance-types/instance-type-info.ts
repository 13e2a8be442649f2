// The part of EC2's DescribeInstanceTypes answer that decides what a node of a type looks like. The field names are
// EC2's, so an answer of the API and an entry of the built-in table are read by the same code.

export interface NetworkCard {
  NetworkCardIndex?: number | undefined;
  MaximumNetworkInterfaces?: number | undefined;
}

export interface Accelerator {
  Name?: string | undefined;
  Manufacturer?: string | undefined;
  Count?: number | undefined;
}

export interface InstanceTypeInfo {
  InstanceType: string;
  BareMetal?: boolean | undefined;
  Hypervisor?: string | undefined;
  SupportedUsageClasses?: string[] | undefined;
  ProcessorInfo?:
    | {
        Manufacturer?: string | undefined;
        SupportedArchitectures?: string[] | undefined;
        SustainedClockSpeedInGhz?: number | undefined;
        SupportedFeatures?: string[] | undefined;
      }
    | undefined;
  VCpuInfo: { DefaultVCpus: number };
  MemoryInfo: { SizeInMiB: number };
  NetworkInfo?:
    | {
        Ipv4AddressesPerInterface?: number | undefined;
        DefaultNetworkCardIndex?: number | undefined;
        EncryptionInTransitSupported?: boolean | undefined;
        EnaSupport?: string | undefined;
        EfaInfo?: { MaximumEfaInterfaces?: number | undefined } | undefined;
        NetworkCards?: NetworkCard[] | undefined;
      }
    | undefined;
  EbsInfo?:
    | {
        EbsOptimizedSupport?: string | undefined;
        EbsOptimizedInfo?: { MaximumBandwidthInMbps?: number | undefined } | undefined;
        MaximumEbsAttachments?: number | undefined;
        /** `shared` or `dedicated`. */
        AttachmentLimitType?: string | undefined;
      }
    | undefined;
  GpuInfo?: { Gpus?: (Accelerator & { MemoryInfo?: { SizeInMiB?: number } | undefined })[] } | undefined;
  NeuronInfo?:
    | { NeuronDevices?: (Accelerator & { CoreInfo?: { Count?: number | undefined } | undefined })[] }
    | undefined;
  InferenceAcceleratorInfo?: { Accelerators?: Accelerator[] } | undefined;
  InstanceStorageInfo?:
    | {
        TotalSizeInGB?: number | undefined;
        NvmeSupport?: string | undefined;
        /** Ours: how many, added up. */
        DiskCount?: number | undefined;
      }
    | undefined;
  NitroEnclavesSupport?: string | undefined;
  PlacementGroupInfo?: { SupportedStrategies?: string[] | undefined } | undefined;
}

/** The first architecture Kubernetes has a name for; undefined for the others (32 bit, macOS). */
export function architectureOf(info: InstanceTypeInfo): 'amd64' | 'arm64' | undefined {
  for (const architecture of info.ProcessorInfo?.SupportedArchitectures ?? []) {
    if (architecture === 'x86_64') return 'amd64';
    if (architecture === 'arm64') return 'arm64';
  }
  return undefined;
}

/** The card whose interfaces carry the addresses of pods. */
export function defaultNetworkCard({ NetworkInfo: network }: InstanceTypeInfo) {
  const index = network?.DefaultNetworkCardIndex ?? 0;
  return network?.NetworkCards?.find(({ NetworkCardIndex }) => NetworkCardIndex === index);
}
