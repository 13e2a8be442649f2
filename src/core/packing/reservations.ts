// Reserved capacity while planning. A node under construction holds, pessimistically, one instance of every reservation it
// could still be launched from, and gives back those its constraints have ruled out. In strict mode a pod that could have
// had reserved capacity waits rather than falling back to anything dearer. A reservation that was full from the start is
// nothing to wait for, as long as there is anything else.

import { type Bitset, membersOf } from '../../base/index.ts';
import type { Offering } from '../pools/instance-types.ts';
import type { Template } from '../pools/templates.ts';
import type { RequirementSet, RequirementTable } from '../requirements/requirement-set.ts';

export const noneHeld: ReadonlySet<string> = new Set();

export type ReservationVerdict =
  | { readonly kind: 'held'; readonly ids: ReadonlySet<string> }
  | { readonly kind: 'deferred'; readonly message: string }
  /** There is nothing but full reservations. */
  | { readonly kind: 'full' };

export class Reservations {
  private readonly capacity: ReadonlyMap<string, number>;
  private readonly left: Map<string, number>;
  private readonly strict: boolean;

  constructor(capacity: ReadonlyMap<string, number>, strict: boolean) {
    this.capacity = capacity;
    this.left = new Map(capacity);
    this.strict = strict;
  }

  /**
   * What a node that holds `held` would hold after narrowing to these compatible reserved offerings; `hasOther` says
   * whether it could be anything else.
   */
  consider(held: ReadonlySet<string>, compatible: Iterable<Offering>, hasOther: () => boolean): ReservationVerdict {
    let some = false;
    let someFull = false;
    const ids = new Set<string>();
    for (const { reservationId } of compatible) {
      if ((this.capacity.get(reservationId) ?? 0) === 0) {
        someFull = true;
        continue;
      }
      some = true;
      if (held.has(reservationId) || (this.left.get(reservationId) ?? 0) > 0) ids.add(reservationId);
    }
    if (this.strict && ids.size === 0 && some) {
      return {
        kind: 'deferred',
        message:
          'one or more instance types with compatible reserved offerings are available, but could not be reserved',
      };
    }
    if (someFull && !some && !hasOther()) {
      if (!this.strict) return { kind: 'full' };
      return {
        kind: 'deferred',
        message: 'all compatible reserved offerings are full and no on-demand or spot fallback is available',
      };
    }
    if (this.strict && ids.size === 0 && held.size > 0) {
      return {
        kind: 'deferred',
        message: 'satisfying updated nodeclaim constraints would remove all compatible reserved offering options',
      };
    }
    return { kind: 'held', ids };
  }

  exchange(before: ReadonlySet<string>, after: ReadonlySet<string>): void {
    for (const id of after) if (!before.has(id)) this.left.set(id, (this.left.get(id) ?? 0) - 1);
    for (const id of before) if (!after.has(id)) this.left.set(id, (this.left.get(id) ?? 0) + 1);
  }
}

/** The reserved offerings of these rows that labels in the set leave open. */
export function reservedOfferings(
  table: RequirementTable,
  template: Template,
  set: RequirementSet,
  rows: Bitset,
): Offering[] {
  const compatible: Offering[] = [];
  for (const row of membersOf(rows)) {
    for (const offering of template.rows.offeringsOf[row] ?? []) {
      if (offering.reserved && table.compatible(set, offering.set, 'wellKnown')) compatible.push(offering);
    }
  }
  return compatible;
}
