// What EC2 just said it cannot sell: pools (type, zone, capacity type, and the placement group if any), whole capacity
// types, and subnets without addresses. Pools are remembered for a time that grows (OfferingMemory of core), everything
// else for three minutes.
//
// Promises:
// 1. Marking again starts the time again; what is past its time is available at once, whoever looks.
// 2. `sequenceOf` changes whenever the answer for a type may have changed, by a mark or by its end: what was derived from
//    it can be kept as long as the number is the same.
import type { Clock } from '../../base/index.ts';
import { type FailedOffering, firstSpellMs, OfferingMemory } from '../../core/index.ts';

/** One pool of machines EC2 sells. */
export interface Pool {
  instanceType: string;
  zone: string;
  capacityType: string;
  placementGroup?: { id: string; partition?: string | undefined } | undefined;
}

export class UnavailableOfferings {
  private readonly clock: Pick<Clock, 'elapsed' | 'now'>;
  /** Pools outside placement groups. */
  private readonly pools: OfferingMemory;
  /** When each mark ends, by what it is about; in the order of their ends, as all last equally long. */
  private readonly marks = new Map<string, { untilMs: number; instanceType: string | undefined }>();
  /** How many marks there are about a type; about all types under undefined. Most types have none, most of the time. */
  private readonly marksOf = new Map<string | undefined, number>();
  private readonly sequences = new Map<string, number>();
  /** Changes of everything: marks that concern all types. */
  private common = 0;
  private changes = 0;

  /** `typeNames`: every type EC2 has; the same array while nothing changed. */
  constructor(clock: Pick<Clock, 'elapsed' | 'now'>, typeNames?: () => readonly string[]) {
    this.clock = clock;
    const onChange = (instanceType: string): void => this.bump(instanceType);
    this.pools = new OfferingMemory({ clock, onChange, ...(typeNames === undefined ? {} : { typeNames }) });
  }

  /** Rises with every change of any answer. */
  get version(): number {
    this.forget();
    return this.changes;
  }

  sequenceOf(instanceType: string): number {
    this.forget();
    return this.common + (this.sequences.get(instanceType) ?? 0);
  }

  /** `isShortage`: EC2 had no machine to give, rather than a limit of the account or a machine taken back. */
  markPool({ placementGroup, ...pool }: Pool, { isShortage = false } = {}): void {
    if (placementGroup === undefined) this.pools.failed(pool, 'EC2 has no capacity', { isShortage });
    else this.mark(poolKey({ ...pool, placementGroup }), pool.instanceType);
  }

  /** EC2 had one after all. */
  launched({ instanceType, zone, capacityType }: Pool): void {
    this.pools.succeeded({ instanceType, zone, capacityType });
  }

  lastFailedMs({ instanceType, zone, capacityType }: Pool): number {
    return this.pools.lastFailedMs({ instanceType, zone, capacityType });
  }

  markCapacityType(capacityType: string): void {
    this.mark(`capacity-type ${capacityType}`, undefined);
  }

  markSubnet(subnetId: string): void {
    this.mark(`subnet ${subnetId}`, undefined);
  }

  /** Forgets everything. */
  clear(): void {
    this.pools.clear();
    for (const [key, { instanceType }] of this.marks) this.remove(key, instanceType);
  }

  /**
   * `zoneSubnets`: the subnets a launch in the zone could use; none known does not speak against it. `probing`: for pods
   * that could use nothing else, pools that failed a minute ago or earlier are available.
   */
  isUnavailable(pool: Pool, zoneSubnets: readonly string[], { probing = false } = {}): boolean {
    this.forget();
    const name = { instanceType: pool.instanceType, zone: pool.zone, capacityType: pool.capacityType };
    return (
      (this.pools.isLeftAlone(name) && !(probing && this.pools.isProbeDue(name))) ||
      ((this.marksOf.get(pool.instanceType) ?? 0) > 0 && this.isPoolMarked(pool)) ||
      ((this.marksOf.get(undefined) ?? 0) > 0 &&
        (this.marks.has(`capacity-type ${pool.capacityType}`) ||
          (zoneSubnets.length > 0 && zoneSubnets.every((id) => this.marks.has(`subnet ${id}`)))))
    );
  }

  /** The marked pools outside placement groups, as snapshots list them. */
  list(options: { probing?: boolean } = {}): FailedOffering[] {
    return this.pools.list(options);
  }

  private isPoolMarked(pool: Pool): boolean {
    const { placementGroup: group, ...general } = pool;
    if (group === undefined) return false;
    if (this.marks.has(poolKey({ ...general, placementGroup: { id: group.id } }))) return true;
    return group.partition !== undefined && this.marks.has(poolKey(pool));
  }

  private mark(key: string, instanceType: string | undefined): void {
    this.forget();
    // Marked last, ends last.
    if (!this.marks.delete(key)) this.marksOf.set(instanceType, (this.marksOf.get(instanceType) ?? 0) + 1);
    this.marks.set(key, { untilMs: this.clock.elapsed() + firstSpellMs, instanceType });
    this.bump(instanceType);
  }

  private forget(): void {
    this.pools.forget();
    const nowMs = this.clock.elapsed();
    for (const [key, { untilMs, instanceType }] of this.marks) {
      if (untilMs > nowMs) return;
      this.remove(key, instanceType);
    }
  }

  private remove(key: string, instanceType: string | undefined): void {
    this.marks.delete(key);
    this.marksOf.set(instanceType, (this.marksOf.get(instanceType) ?? 1) - 1);
    this.bump(instanceType);
  }

  private bump(instanceType: string | undefined): void {
    this.changes += 1;
    if (instanceType === undefined) this.common += 1;
    else this.sequences.set(instanceType, (this.sequences.get(instanceType) ?? 0) + 1);
  }
}

function poolKey({ capacityType, instanceType, zone, placementGroup }: Pool): string {
  const key = `${capacityType}:${instanceType}:${zone}`;
  if (placementGroup === undefined) return key;
  const { id, partition } = placementGroup;
  return partition === undefined ? `${key}:${id}` : `${key}:${id}:${partition}`;
}
