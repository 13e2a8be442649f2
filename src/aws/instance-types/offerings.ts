// Where and how a type is sold to a class: one offering per zone and capacity type, one more per capacity reservation,
// each cloned per partition of a partition placement group. An offering that cannot be bought now is listed as unavailable.
import { awsLabel, capacityType, label } from '../../api/names.ts';
import type { OfferingSpec, RequirementSpec } from '../../core/index.ts';
import { isCompatible } from './compatibility.ts';
import type { CapacityReservation, InstanceTypeContext } from './context.ts';
import type { InstanceTypeInfo } from './instance-type-info.ts';
import { oneOf, partitionsOf, purchasableCapacityTypes, zonesOfType } from './requirements.ts';

/** Reserved capacity is paid for already: a price this small still orders reservations by what they replace. */
const reservedPriceDivisor = 10_000_000;

const withoutReservation: RequirementSpec[] = [
  { key: awsLabel.capacityReservationId, operator: 'DoesNotExist' },
  { key: awsLabel.capacityReservationType, operator: 'DoesNotExist' },
  { key: awsLabel.capacityReservationInterruptible, operator: 'DoesNotExist' },
];

export type OfferingBuilder = (info: InstanceTypeInfo) => OfferingSpec[];

/** The requirement lists are the same for every type of a class, so they are built once and shared. */
export function offeringBuilder(context: InstanceTypeContext): OfferingBuilder {
  const partitions = partitionsOf(context).map((partition) => oneOf(awsLabel.placementGroupPartition, [partition]));
  const places = context.zones.map((zone) => ({
    zone,
    [capacityType.onDemand]: [...place(zone, capacityType.onDemand, context), ...withoutReservation],
    [capacityType.spot]: [...place(zone, capacityType.spot, context), ...withoutReservation],
  }));
  return (info) => {
    const zones = zonesOfType(info, context);
    const compatible = isCompatible(info, context);
    const offerings: OfferingSpec[] = [];
    const capacityTypes = purchasableCapacityTypes(info);
    for (const { zone, ...requirements } of places) {
      for (const type of capacityTypes) {
        const price = priceOf(info.InstanceType, zone, type, context);
        const free = context.isAvailable?.(info.InstanceType, zone, type) ?? true;
        offerings.push({
          requirements: requirements[type],
          price: price ?? 0,
          available: compatible && free && price !== undefined && zones.includes(zone),
        });
      }
    }
    for (const reservation of context.reservations) {
      if (reservation.instanceType !== info.InstanceType) continue;
      offerings.push(reservedOffering(reservation, compatible && zones.includes(reservation.zone), context));
    }
    if (partitions.length === 0) return offerings;
    return offerings.flatMap((offering) =>
      partitions.map((partition) => ({ ...offering, requirements: [...offering.requirements, partition] })),
    );
  };
}

function reservedOffering(
  reservation: CapacityReservation,
  reachable: boolean,
  context: InstanceTypeContext,
): OfferingSpec {
  const onDemand = context.prices.onDemand(reservation.instanceType) ?? 0;
  return {
    requirements: [
      ...place(reservation.zone, capacityType.reserved, context),
      oneOf(awsLabel.capacityReservationId, [reservation.id]),
      oneOf(awsLabel.capacityReservationType, [reservation.type]),
      oneOf(awsLabel.capacityReservationInterruptible, [String(reservation.interruptible)]),
    ],
    price: onDemand / reservedPriceDivisor,
    available: reachable && reservation.available !== 0 && reservation.state !== 'expiring',
    reservationCapacity: reservation.available,
  };
}

function place(zone: string, type: string, context: InstanceTypeContext): RequirementSpec[] {
  const zoneId = context.classZones.find((entry) => entry.zone === zone)?.zoneId;
  const requirements = [oneOf(label.capacityType, [type]), oneOf(label.zone, [zone])];
  return zoneId === undefined ? requirements : [...requirements, oneOf(awsLabel.zoneId, [zoneId])];
}

function priceOf(type: string, zone: string, capacity: string, context: InstanceTypeContext): number | undefined {
  return capacity === capacityType.spot ? context.prices.spot(type, zone) : context.prices.onDemand(type);
}
