// Which capacity reservations a class selects. Every term is one question to EC2, whose answer is kept for a minute and
// shared by all classes that ask the same.
//
// Promises: only active reservations whose end has not come are listed; one with a type or match criterion that is unknown
// is left out, with a line in the log; an id that does not exist selects nothing.
import {
  type CapacityReservation,
  DescribeCapacityReservationsCommand,
  type DescribeCapacityReservationsCommandInput,
  type EC2Client,
} from '@aws-sdk/client-ec2';
import type { EC2NodeClass } from '../../api/index.ts';
import { type Clock, ExpiringMap, formatTime } from '../../base/index.ts';
import type { Log } from '../../ports/index.ts';
import { isAwsNotFound } from '../aws-errors.ts';
import { allPages } from '../paging.ts';
import { tagFilters } from '../tag-filters.ts';
import type { ReservationCounts } from './reservation-counts.ts';

type Term = NonNullable<EC2NodeClass['spec']['capacityReservationSelectorTerms']>[number];
export type ReservationStatus = NonNullable<NonNullable<EC2NodeClass['status']>['capacityReservations']>[number];

export interface CapacityReservationsOptions {
  ec2: EC2Client;
  clock: Clock;
  log: Log;
  counts: ReservationCounts;
}

const ttlMs = 60_000;
const pageSize = 1_000;
/** Instances in a capacity block are taken back half an hour before its end; nodes must be gone by then. */
export const takenBackBeforeEndMs: number = 30 * 60_000;
export const expiringBeforeEndMs: number = 40 * 60_000;

export interface UnusedReservation {
  id: string;
  instanceType: string;
  zone: string;
  /** Instances that are paid for and not used. */
  count: number;
}

export class CapacityReservations {
  private readonly options: CapacityReservationsOptions;
  private readonly found: ExpiringMap<string, CapacityReservation[]>;

  constructor(options: CapacityReservationsOptions) {
    this.options = options;
    this.found = new ExpiringMap(options.clock, ttlMs);
  }

  /** By id. */
  async list(nodeClass: Pick<EC2NodeClass, 'spec'>): Promise<ReservationStatus[]> {
    const byId = new Map<string, CapacityReservation>();
    for (const term of nodeClass.spec.capacityReservationSelectorTerms ?? []) {
      for (const query of reservationQueries(term)) {
        for (const reservation of await this.matching(query)) {
          if (reservation.CapacityReservationId !== undefined) byId.set(reservation.CapacityReservationId, reservation);
        }
      }
    }
    const nowMs = this.options.clock.now();
    return [...byId.values()]
      .filter(({ EndDate }) => EndDate === undefined || EndDate.getTime() > nowMs)
      .flatMap((reservation) => this.read(reservation, nowMs))
      .sort((left, right) => (left.id < right.id ? -1 : 1));
  }

  /** Open reservations in these zones that hold instances no one uses, beside those that the class selects. */
  async openUnused(zones: ReadonlySet<string>, selected: ReadonlySet<string>): Promise<UnusedReservation[]> {
    const open = { Name: 'instance-match-criteria', Values: ['open'] };
    return (await this.matching({ Filters: [activeOnly, open] })).flatMap((reservation) => {
      const {
        CapacityReservationId: id = '',
        AvailabilityZone: zone = '',
        AvailableInstanceCount: count = 0,
      } = reservation;
      if (selected.has(id) || !zones.has(zone) || count === 0) return [];
      return [{ id, zone, count, instanceType: reservation.InstanceType ?? '' }];
    });
  }

  /**
   * When these capacity blocks end, as EC2 says now, past every cache. One id is one question: EC2 refuses a whole question
   * for an id that it does not know. What is not there as an active block is left out.
   */
  async blockEnds(ids: ReadonlySet<string>, abortSignal: AbortSignal): Promise<Map<string, number>> {
    const { ec2 } = this.options;
    const ends = new Map<string, number>();
    for (const id of ids) {
      const found = await ec2
        .send(new DescribeCapacityReservationsCommand({ CapacityReservationIds: [id] }), { abortSignal })
        .catch((error: unknown) => {
          if (isAwsNotFound(error)) return undefined;
          throw error;
        });
      const block = found?.CapacityReservations?.find(({ CapacityReservationId }) => CapacityReservationId === id);
      if (block?.ReservationType !== 'capacity-block' || block.State !== 'active' || block.EndDate === undefined)
        continue;
      ends.set(id, block.EndDate.getTime());
    }
    return ends;
  }

  private async matching(query: DescribeCapacityReservationsCommandInput): Promise<CapacityReservation[]> {
    const key = JSON.stringify(query);
    const known = this.found.get(key);
    if (known !== undefined) return known;
    const { ec2, counts } = this.options;
    const reservations: CapacityReservation[] = [];
    // EC2 refuses a page size beside ids.
    const paging = query.CapacityReservationIds === undefined ? { MaxResults: pageSize } : {};
    try {
      const pages = allPages((next) =>
        ec2.send(new DescribeCapacityReservationsCommand({ ...query, ...paging, ...next })),
      );
      for await (const page of pages) {
        reservations.push(...(page.CapacityReservations ?? []));
      }
    } catch (error) {
      if (!isAwsNotFound(error)) throw error;
    }
    for (const { CapacityReservationId: id, AvailableInstanceCount: count } of reservations) {
      if (id !== undefined) counts.observe(id, count ?? 0);
    }
    this.found.set(key, reservations);
    return reservations;
  }

  private read(reservation: CapacityReservation, nowMs: number): ReservationStatus[] {
    const { CapacityReservationId: id = '', EndDate: end } = reservation;
    const type = reservation.ReservationType ?? 'default';
    const criteria = reservation.InstanceMatchCriteria;
    if ((type !== 'default' && type !== 'capacity-block') || (criteria !== 'open' && criteria !== 'targeted')) {
      this.options.log.info('ignoring capacity reservation of an unknown kind', { id, type, criteria });
      return [];
    }
    const isExpiring = type === 'capacity-block' && end !== undefined && end.getTime() - nowMs <= expiringBeforeEndMs;
    return [
      {
        availabilityZone: reservation.AvailabilityZone ?? '',
        ...(end === undefined ? {} : { endTime: formatTime(end.getTime()) }),
        id,
        instanceMatchCriteria: criteria,
        instanceType: reservation.InstanceType ?? '',
        ownerID: reservation.OwnerId ?? '',
        reservationType: type,
        interruptible: reservation.Interruptible ?? false,
        state: isExpiring ? 'expiring' : 'active',
      },
    ];
  }
}

const activeOnly = { Name: 'state', Values: ['active'] };

/** What EC2 is asked for one term: an id is a question of its own, beside what else the term says. */
export function reservationQueries(term: Term): DescribeCapacityReservationsCommandInput[] {
  const byId = term.id === undefined ? [] : [{ CapacityReservationIds: [term.id], Filters: [activeOnly] }];
  const isSelecting = Object.keys(term.tags ?? {}).length > 0 || term.instanceMatchCriteria !== undefined;
  if (byId.length > 0 && !isSelecting) return byId;
  const filters = [activeOnly, ...tagFilters(term.tags)];
  if (term.ownerID !== undefined) filters.push({ Name: 'owner-id', Values: [term.ownerID] });
  if (term.instanceMatchCriteria !== undefined)
    filters.push({ Name: 'instance-match-criteria', Values: [term.instanceMatchCriteria] });
  return [...byId, { Filters: filters }];
}
