// A machine of EC2, as far as we look at it: the same whether EC2 described it or we just launched it.
import type { Instance } from '@aws-sdk/client-ec2';
import { capacityType } from '../../api/index.ts';
import { tagMap } from '../tags.ts';

export interface Ec2Instance {
  id: string;
  instanceType: string;
  zone: string;
  zoneId?: string;
  imageId: string;
  /** EC2's name of its state: pending, running, stopping, stopped, shutting-down, terminated. */
  state: string;
  /** Absent where EC2 does not say. */
  launchedMs?: number;
  capacityType: string;
  reservation?: { id: string; type: string; interruptible: boolean };
  subnetId: string;
  securityGroupIds: readonly string[];
  tags: Readonly<Record<string, string>>;
  /** Interfaces for EFA traffic. */
  efaCount: number;
  tenancy: string;
  placementGroupId?: string;
  /** Of a partition placement group. */
  partition?: string;
}

export const isGoing = ({ state }: Ec2Instance): boolean => state === 'shutting-down' || state === 'terminated';

/** Undefined for an answer without the fields every instance has. */
export function readInstance(
  described: Instance,
  { reservedCapacity }: { reservedCapacity: boolean },
): Ec2Instance | undefined {
  const { InstanceId: id, InstanceType: instanceType, Placement: place, State } = described;
  const zone = place?.AvailabilityZone;
  if (id === undefined || instanceType === undefined || zone === undefined) return undefined;
  const reservation = reservedCapacity ? reservationOf(described) : undefined;
  const interfaces = described.NetworkInterfaces ?? [];
  return {
    id,
    instanceType,
    zone,
    ...(place?.AvailabilityZoneId === undefined ? {} : { zoneId: place.AvailabilityZoneId }),
    imageId: described.ImageId ?? '',
    state: State?.Name ?? '',
    ...(described.LaunchTime === undefined ? {} : { launchedMs: described.LaunchTime.getTime() }),
    capacityType: isSpot(described)
      ? capacityType.spot
      : reservation === undefined
        ? capacityType.onDemand
        : capacityType.reserved,
    ...(reservation === undefined || isSpot(described) ? {} : { reservation }),
    subnetId: described.SubnetId ?? '',
    securityGroupIds: (described.SecurityGroups ?? []).flatMap(({ GroupId }) => GroupId ?? []),
    tags: tagMap(described.Tags),
    efaCount: interfaces.filter(({ InterfaceType }) => InterfaceType?.startsWith('efa')).length,
    tenancy: place?.Tenancy ?? 'default',
    ...(place?.GroupId === undefined || place.GroupId === '' ? {} : { placementGroupId: place.GroupId }),
    ...(place?.PartitionNumber ? { partition: String(place.PartitionNumber) } : {}),
  };
}

function isSpot({ SpotInstanceRequestId, InstanceLifecycle }: Instance): boolean {
  return (SpotInstanceRequestId !== undefined && SpotInstanceRequestId !== '') || InstanceLifecycle === 'spot';
}

/** Only what was launched into a reservation on purpose: an open one that happened to match is ordinary on-demand. */
function reservationOf(described: Instance): Ec2Instance['reservation'] | undefined {
  const { CapacityReservationId: id, CapacityReservationSpecification: specification, InstanceLifecycle } = described;
  if (id === undefined || id === '') return undefined;
  if (specification?.CapacityReservationPreference !== 'capacity-reservations-only') return undefined;
  const lifecycle: string = InstanceLifecycle ?? '';
  return {
    id,
    type: lifecycle === 'capacity-block' ? 'capacity-block' : 'default',
    interruptible: lifecycle === 'interruptible-capacity-reservation',
  };
}
