// Where and how a type is sold to a class: one offering per zone and capacity type, one more per capacity reservation,
// each cloned per partition of a partition placement group. An offering that cannot be bought now is listed as unavailable; a reservation
// that is only full says so in its capacity, because a node that leaves it makes room there.
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

export type OfferingBuilder = (info: InstanceTypeInfo, options?: { probing?: boolean }) => OfferingSpec[];

/** The requirement lists are the same for every type of a class, so they are built once and shared. */
export function offeringBuilder(context: InstanceTypeContext): OfferingBuilder {
  const partitions = partitionsOf(context).map((partition) => ({
    partition,
    requirement: oneOf(awsLabel.placementGroupPartition, [partition]),
  }));
  const listsOf = (zone: string, type: string): PlaceList[] => {
    const requirements = [...place(zone, type, context), ...withoutReservation];
    if (partitions.length === 0) return [{ requirements }];
    return partitions.map(({ partition, requirement }) => ({
      partition,
      requirements: [...requirements, requirement],
    }));
  };
  const places = context.zones.map((zone) => ({
    zone,
    lists: {
      [capacityType.onDemand]: listsOf(zone, capacityType.onDemand),
      [capacityType.spot]: listsOf(zone, capacityType.spot),
    },
  }));
  // What of a type stays as it is from one price list to the next.
  const fixed = new Map<string, { zones: ReadonlySet<string>; capacityTypes: ('on-demand' | 'spot')[] }>();
  const fixedOf = (info: InstanceTypeInfo) => {
    let known = fixed.get(info.InstanceType);
    if (known === undefined) {
      const zones = isCompatible(info, context) ? zonesOfType(info, context) : [];
      known = { zones: new Set(zones), capacityTypes: purchasableCapacityTypes(info) };
      fixed.set(info.InstanceType, known);
    }
    return known;
  };
  return (info, { probing = false } = {}) => {
    const name = info.InstanceType;
    const { zones, capacityTypes } = fixedOf(info);
    const offerings: OfferingSpec[] = [];
    const isReachable = (zone: string): boolean => zones.has(zone) && context.isShifted?.(zone) !== true;
    for (const { zone, lists } of places) {
      const reachable = isReachable(zone);
      for (const type of capacityTypes) {
        const price = priceOf(name, zone, type, context);
        const sold = reachable && (price !== undefined || context.isPricedByOverlay?.(name) === true);
        for (const { requirements, partition } of lists[type]) {
          const available = sold && (context.isAvailable?.(name, zone, type, { partition, probing }) ?? true);
          offerings.push({ requirements, price: price ?? 0, available });
        }
      }
    }
    for (const reservation of context.reservations) {
      if (reservation.instanceType !== name) continue;
      const offering = reservedOffering(reservation, isReachable(reservation.zone), context);
      if (partitions.length === 0) offerings.push(offering);
      for (const { requirement } of partitions) {
        offerings.push({ ...offering, requirements: [...offering.requirements, requirement] });
      }
    }
    return offerings;
  };
}

/** Where an offering is, once per partition of the placement group if that has any. */
interface PlaceList {
  requirements: RequirementSpec[];
  partition?: string;
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
    available: reachable && reservation.state !== 'expiring',
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
