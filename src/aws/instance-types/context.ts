// What an instance type looks like depends on the node class and on the account; this is everything the formulas read
// beside EC2's own description of the type.
import type { KubeletExpression } from '../../api/index.ts';
import type { AmiFamily } from './ami-family.ts';
import type { GpuSharing } from './devices.ts';

export interface KubeletSettings {
  maxPods?: number;
  podsPerCore?: number;
  kubeReserved?: Record<string, string>;
  systemReserved?: Record<string, string>;
  evictionHard?: Record<string, string>;
}

export interface BlockDevice {
  deviceName?: string;
  rootVolume?: boolean;
  ebs?: { volumeSize?: string };
}

export interface CapacityReservation {
  id: string;
  instanceType: string;
  zone: string;
  /** `default` or `capacity-block`. */
  type: string;
  interruptible: boolean;
  state: string;
  /** Instances it can still hold; changes with every launch. */
  available: number;
}

export interface NetworkInterfaceSetting {
  networkCardIndex: number;
  deviceIndex: number;
  interfaceType: string;
}

export interface Prices {
  onDemand(instanceType: string): number | undefined;
  spot(instanceType: string, zone: string): number | undefined;
}

export interface InstanceTypeContext {
  region: string;
  /** Every zone of the region that offers anything. */
  zones: readonly string[];
  /** Zones that offer a type. */
  zonesOfType: Readonly<Record<string, readonly string[]>>;
  /** Zones in which the class has subnets, with their ids where known. */
  classZones: readonly { zone: string; zoneId?: string }[];
  amiFamily: AmiFamily;
  kubelet: KubeletSettings;
  /** Kubelet settings that are worked out for each type; empty while the gate is off. */
  expressions: readonly KubeletExpression[];
  blockDevices: readonly BlockDevice[];
  /** Local disks joined into one volume for pods (`instanceStorePolicy: RAID0`). */
  raid0: boolean;
  networkInterfaces: readonly NetworkInterfaceSetting[];
  nestedVirtualization: boolean;
  connectionTracking: boolean;
  /** Nitro enclaves are on (`enclaveOptions.enabled`). */
  enclaves: boolean;
  /** Drivers whose devices are declared before nodes run (gates DRANVIDIAGPU, DRAEFA); none if absent. */
  devices?: { nvidia: boolean; efa: boolean } | undefined;
  /** Whether GPUs serve several claims at once, as the class says of the driver. */
  gpuSharing: GpuSharing;
  reservations: readonly CapacityReservation[];
  placementGroup?: { id: string; strategy: string; partitions?: number };
  /** Part of a machine's memory that the hypervisor and the kernel keep (setting `vmMemoryOverheadPercent`). */
  vmMemoryOverhead: number;
  /** Interfaces that carry no pods (setting `reservedENIs`). */
  reservedEnis: number;
  prices: Prices;
  /** Baseline network bandwidth by type. */
  bandwidthMbps: Readonly<Record<string, number>>;
  /** Interface figures EC2 does not report. */
  eniLimits: Readonly<Record<string, { ipv4: number; branch: number }>>;
  /** False where AWS just said it has no capacity; in one partition of a placement group, if one is named. */
  isAvailable?(
    instanceType: string,
    zone: string,
    capacityType: string,
    of: { partition: string | undefined; probing: boolean },
  ): boolean;
  /** True while traffic is shifted away from the zone. */
  isShifted?(zone: string): boolean;
  /** True for a type without a price to which a NodeOverlay gives one. */
  isPricedByOverlay?(instanceType: string): boolean;
  /** Memory a registered node really had, in bytes, where known. */
  discoveredMemory?(instanceType: string): number | undefined;
}
