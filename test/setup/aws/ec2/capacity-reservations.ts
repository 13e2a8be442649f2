// Capacity reservations, which moto does not have: create, describe, cancel. What is available is what running
// instances have not taken.
import { randomBytes } from 'node:crypto';
import { type AwsAnswer, type AwsCall, AwsRefusal, ec2Answer } from '../exchange.ts';
import { formText, formTexts } from '../form.ts';
import type { World } from '../world.ts';
import { element } from '../xml.ts';
import { dryRunSucceeded, ec2Page, isDryRun, matchesFilters, readFilters } from './filters.ts';
import { tokenOf } from './instance-types.ts';
import { stateAt } from './launched-instance.ts';
import { tagFilterValues, tagSet, tagsOfCall } from './tags.ts';

export interface CapacityReservation {
  id: string;
  ownerId: string;
  instanceType: string;
  zone: string;
  totalInstanceCount: number;
  instanceMatchCriteria: 'open' | 'targeted';
  reservationType: 'default' | 'capacity-block';
  interruptible: boolean;
  state: 'active' | 'expired' | 'cancelled' | 'pending' | 'failed' | 'scheduled';
  endDate?: string;
  tags: Record<string, string>;
}

export function newCapacityReservation(
  facts: Partial<CapacityReservation> & Pick<CapacityReservation, 'instanceType' | 'zone'>,
): CapacityReservation {
  return {
    id: `cr-${randomBytes(8).toString('hex')}0`,
    ownerId: '123456789012',
    totalInstanceCount: 1,
    instanceMatchCriteria: 'open',
    reservationType: 'default',
    interruptible: false,
    state: 'active',
    tags: {},
    ...facts,
  };
}

export function availableIn(world: World, reservation: CapacityReservation): number {
  let taken = 0;
  for (const instance of world.launched.values()) {
    if (instance.capacityReservationId !== reservation.id) continue;
    const state = stateAt(world, instance.instanceId);
    if (state === 'pending' || state === 'running') taken += 1;
  }
  return Math.max(0, reservation.totalInstanceCount - taken);
}

export async function createCapacityReservation(call: AwsCall, world: World): Promise<AwsAnswer> {
  if (isDryRun(call)) throw dryRunSucceeded();
  const text = (name: string): string | undefined => formText(call.form, name);
  const endDate = text('EndDate');
  const reservation = newCapacityReservation({
    instanceType: text('InstanceType') ?? '',
    zone: text('AvailabilityZone') ?? '',
    totalInstanceCount: Number(text('InstanceCount') ?? 1),
    instanceMatchCriteria: (text('InstanceMatchCriteria') ?? 'open') as CapacityReservation['instanceMatchCriteria'],
    tags: tagsOfCall(call, 'capacity-reservation'),
    ...(endDate === undefined ? {} : { endDate }),
  });
  world.capacityReservations.set(reservation.id, reservation);
  return ec2Answer(call, [described(world, reservation, 'capacityReservation')]);
}

export async function cancelCapacityReservation(call: AwsCall, world: World): Promise<AwsAnswer> {
  const id = formText(call.form, 'CapacityReservationId') ?? '';
  const reservation = world.capacityReservations.get(id);
  if (reservation === undefined) throw unknownReservation(id);
  reservation.state = 'cancelled';
  return ec2Answer(call, [element('return', true)]);
}

export async function describeCapacityReservations(call: AwsCall, world: World): Promise<AwsAnswer> {
  if (isDryRun(call)) throw dryRunSucceeded();
  const ids = formTexts(call.form, 'CapacityReservationId');
  for (const id of ids) if (!world.capacityReservations.has(id)) throw unknownReservation(id);
  const filters = readFilters(call.form);
  const found = [...world.capacityReservations.values()].filter(
    (reservation) =>
      (ids.length === 0 || ids.includes(reservation.id)) &&
      matchesFilters(filters, (name) => filterValues(reservation, name)),
  );
  const page = ec2Page(call, found);
  return ec2Answer(call, [
    element(
      'capacityReservationSet',
      page.items.map((reservation) => described(world, reservation, 'item')),
    ),
    tokenOf(page.nextToken),
  ]);
}

export function unknownReservation(id: string): AwsRefusal {
  return new AwsRefusal('InvalidCapacityReservationId.NotFound', `The capacity reservation '${id}' does not exist`);
}

function filterValues(reservation: CapacityReservation, name: string): string[] | undefined {
  switch (name) {
    case 'state':
      return [reservation.state];
    case 'instance-type':
      return [reservation.instanceType];
    case 'availability-zone':
      return [reservation.zone];
    case 'owner-id':
      return [reservation.ownerId];
    case 'instance-match-criteria':
      return [reservation.instanceMatchCriteria];
    default:
      return tagFilterValues(reservation.tags, name);
  }
}

function described(world: World, reservation: CapacityReservation, name: string) {
  const { id, ownerId, instanceType, zone, totalInstanceCount, endDate, tags } = reservation;
  return element(name, [
    element('capacityReservationId', id),
    element('ownerId', ownerId),
    element('instanceType', instanceType),
    element('availabilityZone', zone),
    element('instancePlatform', 'Linux/UNIX'),
    element('tenancy', 'default'),
    element('totalInstanceCount', totalInstanceCount),
    element('availableInstanceCount', availableIn(world, reservation)),
    element('instanceMatchCriteria', reservation.instanceMatchCriteria),
    element('reservationType', reservation.reservationType),
    element('interruptible', reservation.interruptible),
    element('state', reservation.state),
    element('endDateType', endDate === undefined ? 'unlimited' : 'limited'),
    endDate === undefined ? undefined : element('endDate', endDate),
    tagSet(tags),
  ]);
}
