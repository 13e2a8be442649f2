// Devices while planning: what is taken grows with every pod that gets some. A claim that is allocated already says where
// its pods can run; one allocated earlier in the plan does so for the pods that share it; one held only by pods that are
// being moved is allocated anew, and its devices are free until then.

import type { RequirementSet, RequirementTable } from '../requirements/requirement-set.ts';
import { allocate, type DeviceUse, type Taken } from './allocation.ts';
import type { ClaimWork } from './claim-requests.ts';
import type { Device, DevicePool } from './device-pools.ts';
import type { DeviceWorld } from './device-world.ts';
import type { PodClaims } from './pod-claims.ts';
import { narrowedBy, type Place, type Reach } from './reach.ts';

/** What a pod would take on a node, to be committed once it is placed there. */
export interface PendingDevices {
  readonly set: RequirementSet;
  readonly taken: readonly Taken[];
}

export class DeviceState implements DeviceUse {
  private readonly world: DeviceWorld;
  private readonly table: RequirementTable;
  private readonly moving: ReadonlySet<string>;
  private readonly exclusive = new Set<string>();
  private readonly consumed = new Map<string, Map<string, bigint>>();
  private readonly counted = new Map<DevicePool, Map<string, bigint>>();
  private readonly byId = new Map<string, Device>();
  /** Claims allocated in this plan, with the devices they got. */
  private readonly allocated = new Map<string, Taken[]>();
  /** Why the pods of a claim list found no devices, the last time they were looked for. */
  private readonly refusals = new Map<PodClaims, string>();

  /** `moving` are the uids of pods that have a node and leave it in this plan. */
  constructor(world: DeviceWorld, table: RequirementTable, moving: ReadonlySet<string>) {
    this.world = world;
    this.table = table;
    this.moving = moving;
    for (const { devices } of world.pools) for (const device of devices) this.byId.set(device.id, device);
    for (const [key, held] of world.held) {
      if (this.isMoving(key)) continue;
      for (const { id, consumed } of held.devices) this.take(id, consumed);
    }
  }

  /** What the claims would take on the node, or undefined; then `refusalOf` says why. */
  consider(pod: PodClaims, place: Place): PendingDevices | undefined {
    if (pod.error !== undefined) return this.refuse(pod, pod.error);
    let { set } = place;
    const open: ClaimWork[] = [];
    for (const key of pod.claims) {
      const settled = this.settledReach(key);
      if (settled === undefined) {
        const work = this.world.work.get(key);
        if (work === undefined || 'error' in work)
          return this.refuse(pod, work?.error ?? `resourceclaim "${key}" not found`);
        open.push(work);
        continue;
      }
      for (const reach of settled) {
        const narrowed = narrowedBy(this.table, reach, { nodeName: place.nodeName, set });
        if (narrowed === undefined)
          return this.refuse(pod, `resourceclaim "${key}" is allocated where the node is not`);
        set = narrowed;
      }
    }
    if (open.length === 0) return { set, taken: [] };
    const result = allocate(this.table, this.world.pools, this, { ...place, set }, open);
    return 'error' in result ? this.refuse(pod, result.error) : result;
  }

  commit({ taken }: PendingDevices): void {
    for (const entry of taken) {
      this.take(entry.device.id, entry.consumed);
      const own = this.allocated.get(entry.claim);
      if (own) own.push(entry);
      else this.allocated.set(entry.claim, [entry]);
    }
  }

  refusalOf(pod: PodClaims): string | undefined {
    return this.refusals.get(pod);
  }

  isTaken(device: Device): boolean {
    return this.exclusive.has(device.id);
  }

  isInUse(device: Device): boolean {
    return this.exclusive.has(device.id) || this.consumed.has(device.id);
  }

  consumedOf(device: Device, capacity: string): bigint {
    return this.consumed.get(device.id)?.get(capacity) ?? 0n;
  }

  countedOf(pool: DevicePool, counter: string): bigint {
    return this.counted.get(pool)?.get(counter) ?? 0n;
  }

  /** Where the claim's devices can be used; undefined if it has none yet. */
  private settledReach(key: string): readonly Reach[] | undefined {
    const held = this.world.held.get(key);
    if (held !== undefined && !this.isMoving(key)) return [held.reach];
    return this.allocated.get(key)?.map(({ device }) => device.reach);
  }

  private isMoving(key: string): boolean {
    const uids = this.world.held.get(key)?.uids;
    return uids?.every((uid) => this.moving.has(uid)) ?? false;
  }

  private take(id: string, consumed: ReadonlyMap<string, bigint> | undefined): void {
    const device = this.byId.get(id);
    const isFirst = !this.exclusive.has(id) && !this.consumed.has(id);
    if (consumed === undefined) this.exclusive.add(id);
    else {
      const own = this.consumed.get(id) ?? new Map<string, bigint>();
      this.consumed.set(id, own);
      for (const [name, amount] of consumed) own.set(name, (own.get(name) ?? 0n) + amount);
    }
    if (device === undefined || !isFirst) return;
    const counted = this.counted.get(device.pool) ?? new Map<string, bigint>();
    this.counted.set(device.pool, counted);
    for (const { counter, amount } of device.counters) counted.set(counter, (counted.get(counter) ?? 0n) + amount);
  }

  private refuse(pod: PodClaims, why: string): undefined {
    this.refusals.set(pod, why);
  }
}
