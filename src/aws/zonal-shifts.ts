// Which zones ARC shifts the cluster away from. Refreshed by a controller; in between, a shift ends by itself at its
// expiry, so that a failing refresh never keeps a zone closed for longer than its owner asked.
import type { Clock } from '../base/index.ts';
import type { AppliedShift } from './clients/zonal-shift.ts';

export interface ZonalShifts {
  /** Whether nothing may be launched, changed or deleted in the zone with this id. */
  isShifted(zoneId: string): boolean;
}

/** Where zonal shift is not enabled. */
export const noZonalShifts: ZonalShifts = { isShifted: () => false };

export class FollowedZonalShifts implements ZonalShifts {
  private readonly ask: () => Promise<AppliedShift[]>;
  private readonly clock: Clock;
  private shifts = new Map<string, number>();

  constructor(clock: Clock, ask: () => Promise<AppliedShift[]>) {
    this.clock = clock;
    this.ask = ask;
  }

  isShifted(zoneId: string): boolean {
    return (this.shifts.get(zoneId) ?? 0) > this.clock.now();
  }

  shiftedZones(): string[] {
    return [...this.shifts.keys()].filter((zoneId) => this.isShifted(zoneId)).sort();
  }

  async refresh(): Promise<void> {
    this.shifts = new Map((await this.ask()).map(({ zoneId, expiresAtMs }) => [zoneId, expiresAtMs]));
  }
}
