// Reserved capacity while planning. A node under construction holds, pessimistically, one instance of every reservation it
// could still be launched from, and gives back those its constraints have ruled out. In strict mode a pod that could have
// had reserved capacity waits rather than falling back to anything dearer.

import type { Offering } from '../pools/instance-types.ts';

export type ReservationVerdict =
  | { readonly kind: 'held'; readonly ids: ReadonlySet<string> }
  | { readonly kind: 'deferred'; readonly message: string };

export class Reservations {
  private readonly left: Map<string, number>;
  private readonly strict: boolean;

  constructor(capacity: ReadonlyMap<string, number>, strict: boolean) {
    this.left = new Map(capacity);
    this.strict = strict;
  }

  /** What a node that holds `held` would hold after narrowing to these compatible reserved offerings. */
  consider(held: ReadonlySet<string>, compatible: Iterable<Offering>): ReservationVerdict {
    let some = false;
    const ids = new Set<string>();
    for (const { reservationId } of compatible) {
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
