// Free addresses of subnets between two looks at EC2. A launch takes addresses long before EC2's count shows it, so what
// is chosen is debited at once, and what turns out unused is credited back.
//
// Promises:
// 1. A fresh count from EC2 replaces every debit made before it; credits for debits of that time are void.
// 2. Of the subnets of a zone the one with most addresses left is chosen, the first of equals.
import { type Clock, ExpiringMap } from '../../base/index.ts';

/** Counts are kept somewhat longer than the refresh that brings them, so that a late refresh does not blind a launch. */
const leastCountTtlMs = 5 * 60_000;
const countSlackMs = 4 * 60_000;

/** A subnet as the status of a class lists it. */
export interface ZonalSubnet {
  id: string;
  zone: string;
  zoneID?: string | undefined;
}

export interface ChosenSubnets {
  /** The subnet to launch into, per zone. */
  byZone: ReadonlyMap<string, ZonalSubnet>;
  /** Credits the subnets that were offered to EC2 and not used. */
  settle(usedSubnetIds: Iterable<string>): void;
}

export class SubnetAddresses {
  /** What EC2 said last. */
  private readonly counts: ExpiringMap<string, number>;
  /** What is left of it by our own reckoning. */
  private readonly left = new Map<string, number>();
  /** Rises with every fresh count of a subnet. */
  private readonly rounds = new Map<string, number>();

  constructor(clock: Clock, refreshMs: number) {
    this.counts = new ExpiringMap(clock, Math.max(leastCountTtlMs, refreshMs + countSlackMs));
  }

  /** EC2's own counts. */
  observe(subnets: Iterable<{ id: string; freeAddresses: number }>): void {
    for (const { id, freeAddresses } of subnets) {
      this.counts.set(id, freeAddresses);
      this.left.delete(id);
      this.rounds.set(id, this.roundOf(id) + 1);
    }
  }

  /** EC2 refused a launch because the subnet is full: it comes last until the next count. */
  markFull(id: string): void {
    this.observe([{ id, freeAddresses: 0 }]);
  }

  freeIn(id: string): number {
    return this.left.get(id) ?? this.counts.get(id) ?? 0;
  }

  /** What launches have taken since EC2 was asked last: its count does not show it for a while. */
  takenOf(id: string): number {
    const [left, count] = [this.left.get(id), this.counts.get(id)];
    return left === undefined || count === undefined ? 0 : Math.max(0, count - left);
  }

  /** `addresses` says how many a launch in the zone is going to take at least. */
  choose(subnets: readonly ZonalSubnet[], addresses: (zone: string) => number): ChosenSubnets {
    const byZone = new Map<string, ZonalSubnet>();
    for (const subnet of subnets) {
      const best = byZone.get(subnet.zone);
      if (best === undefined || this.freeIn(subnet.id) > this.freeIn(best.id)) byZone.set(subnet.zone, subnet);
    }
    const debits = [...byZone.values()].map(({ id, zone }) => {
      const count = addresses(zone);
      this.left.set(id, this.freeIn(id) - count);
      return { id, count, round: this.roundOf(id) };
    });
    return {
      byZone,
      settle: (used) => {
        const taken = new Set(used);
        for (const { id, count, round } of debits.splice(0)) {
          if (!taken.has(id) && this.roundOf(id) === round) this.left.set(id, this.freeIn(id) + count);
        }
      },
    };
  }

  private roundOf(id: string): number {
    return this.rounds.get(id) ?? 0;
  }
}
