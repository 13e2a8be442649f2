// Who holds which reservation: every node under construction holds all reserved offerings it might be launched with.
import type { Offering, Template } from '../rules/catalogue.ts';

export class Reservations {
  private readonly capacity = new Map<string, number>();
  private readonly holders = new Map<string, Set<object>>();

  constructor(templates: readonly Template[]) {
    for (const offering of templates.flatMap((t) => t.types.flatMap((type) => type.offerings))) {
      if (offering.capacityType !== 'reserved' || offering.reservationID === undefined) continue;
      const before = this.capacity.get(offering.reservationID) ?? Number.POSITIVE_INFINITY;
      this.capacity.set(offering.reservationID, Math.min(before, offering.reservationCapacity));
    }
  }

  /** It was not full from the start. */
  hasRoom(offering: Offering): boolean {
    return (this.capacity.get(offering.reservationID ?? '') ?? 0) > 0;
  }

  canHold(holder: object, offering: Offering): boolean {
    const id = offering.reservationID ?? '';
    const holders = this.holders.get(id) ?? new Set();
    return holders.has(holder) || holders.size < (this.capacity.get(id) ?? 0);
  }

  /** From now on `holder` holds exactly these. */
  hold(holder: object, offerings: readonly Offering[]): void {
    for (const holders of this.holders.values()) holders.delete(holder);
    for (const { reservationID } of offerings) {
      const id = reservationID ?? '';
      this.holders.set(id, (this.holders.get(id) ?? new Set()).add(holder));
    }
  }
}
