// How many instances each capacity reservation can still take. EC2 says it whenever reservations are listed; in between,
// launches and terminations of our own are counted here, so that a burst does not run into a full reservation.
import { type Clock, ExpiringMap } from '../../base/index.ts';

const dayMs = 24 * 3_600_000;

export class ReservationCounts {
  private readonly counts: ExpiringMap<string, number>;

  constructor(clock: Clock) {
    this.counts = new ExpiringMap(clock, dayMs);
  }

  /** EC2's own count. */
  observe(id: string, available: number): void {
    this.counts.set(id, available);
  }

  /** Zero for a reservation no one has heard of. */
  available(id: string): number {
    return this.counts.get(id) ?? 0;
  }

  launched(id: string): void {
    this.change(id, -1);
  }

  terminated(id: string): void {
    this.change(id, 1);
  }

  /** EC2 refused to launch into it, or takes it back. */
  exhausted(id: string): void {
    if (this.counts.has(id)) this.counts.set(id, 0);
  }

  private change(id: string, by: 1 | -1): void {
    const count = this.counts.get(id);
    if (count !== undefined) this.counts.set(id, Math.max(0, count + by));
  }
}
