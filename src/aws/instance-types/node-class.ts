// What an EC2NodeClass says about its machines, read from the raw object. A class not yet reconciled (a file on
// disk) has no subnets in its status: it is then taken to reach every zone of the region.
import { annotation, kubeletExpressions, staticKubelet } from '../../api/index.ts';
import { type AmiFamily, amiFamilyOf } from './ami-family.ts';
import type { BlockDevice, CapacityReservation, InstanceTypeContext } from './context.ts';
import { readGpuSharing } from './devices.ts';

/** The fields of an EC2NodeClass that shape its instance types. */
export interface NodeClassShape {
  metadata?: { annotations?: Record<string, string> | undefined };
  spec?: {
    amiFamily?: string;
    amiSelectorTerms?: { alias?: string }[];
    kubelet?: Parameters<typeof staticKubelet>[0];
    blockDeviceMappings?: BlockDevice[];
    instanceStorePolicy?: string;
    networkInterfaces?: { networkCardIndex: number; deviceIndex: number; interfaceType: string }[];
    cpuOptions?: { nestedVirtualization?: string };
    connectionTracking?: object;
    enclaveOptions?: { enabled: boolean };
  };
  status?: {
    subnets?: { zone: string; zoneID?: string }[];
    capacityReservations?: {
      id: string;
      instanceType: string;
      availabilityZone: string;
      reservationType?: string;
      interruptible?: boolean;
      state?: string;
    }[];
  };
}

type ClassPart = Pick<
  InstanceTypeContext,
  | 'classZones'
  | 'amiFamily'
  | 'kubelet'
  | 'expressions'
  | 'blockDevices'
  | 'raid0'
  | 'networkInterfaces'
  | 'nestedVirtualization'
  | 'connectionTracking'
  | 'enclaves'
  | 'gpuSharing'
  | 'reservations'
>;

/** The family assumed for a NodePool whose class is not known: the one AWS recommends today. */
const familyOfUnknownClass: AmiFamily = 'AL2023';

/** `availableInReservation` answers how many instances a reservation still holds; the status does not say. */
export function readNodeClass(
  nodeClass: NodeClassShape | undefined,
  allZones: readonly string[],
  availableInReservation: (id: string) => number = () => 0,
): ClassPart {
  const spec = nodeClass?.spec ?? {};
  const status = nodeClass?.status ?? {};
  return {
    classZones: zonesOf(status.subnets, allZones),
    amiFamily: nodeClass === undefined ? familyOfUnknownClass : amiFamilyOf(spec),
    kubelet: staticKubelet(spec.kubelet ?? {}),
    expressions: kubeletExpressions(spec.kubelet ?? {}),
    blockDevices: spec.blockDeviceMappings ?? [],
    raid0: spec.instanceStorePolicy === 'RAID0',
    networkInterfaces: spec.networkInterfaces ?? [],
    nestedVirtualization: spec.cpuOptions?.nestedVirtualization === 'enabled',
    connectionTracking: spec.connectionTracking !== undefined,
    enclaves: spec.enclaveOptions?.enabled === true,
    gpuSharing: readGpuSharing(nodeClass?.metadata?.annotations?.[annotation.nvidiaConsumableCapacity]),
    reservations: (status.capacityReservations ?? []).map(
      (entry): CapacityReservation => ({
        id: entry.id,
        instanceType: entry.instanceType,
        zone: entry.availabilityZone,
        type: entry.reservationType ?? 'default',
        interruptible: entry.interruptible ?? false,
        state: entry.state ?? 'active',
        available: availableInReservation(entry.id),
      }),
    ),
  };
}

/** Distinct zones with the id of the first subnet that has one. */
function zonesOf(
  subnets: { zone: string; zoneID?: string }[] | undefined,
  allZones: readonly string[],
): { zone: string; zoneId?: string }[] {
  if (subnets === undefined) return allZones.map((zone) => ({ zone }));
  const ids = new Map<string, string | undefined>();
  for (const { zone, zoneID } of subnets) ids.set(zone, ids.get(zone) ?? zoneID);
  return [...ids]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([zone, zoneId]) => (zoneId === undefined ? { zone } : { zone, zoneId }));
}
