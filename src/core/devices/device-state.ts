// Devices while planning: what is taken grows with every pod that gets some. A claim that is allocated already says where
// its pods can run; one allocated earlier in the plan does so for the pods that share it; one held only by pods that are
// being moved is allocated anew, and its devices are free until then.
//
// Where a node can still become several types, devices are looked for once for all types that bring the same. Types
// without enough of them are out, and so are those that would need the node elsewhere than the types before them.

import type { RequirementSet, RequirementTable } from '../requirements/requirement-set.ts';
import type { DynamicResources } from '../snapshot.ts';
import { allocate, mostSteps, noneFree } from './allocation.ts';
import type { Device, DevicePool } from './device-pools.ts';
import type { DeviceWorld } from './device-world.ts';
import type { PodClaims } from './pod-claims.ts';
import { narrowedBy, type Reach } from './reach.ts';
import type { ClaimWork } from './resource-claim-requests.ts';
import { Seat } from './seat.ts';
import { type DeviceUse, type Taken, Tally, Together } from './tally.ts';
import { noDevices, type TypeDevices } from './type-devices.ts';

/** Instance types that bring the same devices, among those a node can become. */
export interface Kind {
  readonly devices: TypeDevices;
  /** Some of these types can be where devices narrow the node to. */
  readonly isWithin?: ((set: RequirementSet) => boolean) | undefined;
}

/** What a pod would take on a node, to be committed once it is placed there. */
export interface PendingDevices {
  readonly seat: Seat;
  readonly set: RequirementSet;
  /** By what the types bring that are left; undefined if there was nothing to look for. */
  readonly found: ReadonlyMap<TypeDevices, readonly Taken[]> | undefined;
}

export class DeviceState {
  private readonly world: DeviceWorld;
  private readonly table: RequirementTable;
  private readonly moving: ReadonlySet<string>;
  /** Pools with devices that are not plugged into a node: of published ones, what new nodes can use. */
  private readonly network: readonly DevicePool[];
  /** Of published devices: what is taken for sure. */
  private readonly certain = new Tally();
  /** Nodes that hold published devices for some of their types only. */
  private readonly undecided = new Map<Seat, DeviceUse>();
  private readonly seats = new Map<string, Seat>();
  /** Claims allocated in this plan, with the nodes they were allocated for. */
  private readonly allocated = new Map<string, Seat>();
  /** Why the pods of a claim list found no devices, the last time they were looked for. */
  private readonly refusals = new Map<PodClaims, string>();

  /** `moving` are the uids of pods that have a node and leave it in this plan. */
  constructor(world: DeviceWorld, table: RequirementTable, moving: ReadonlySet<string>) {
    this.world = world;
    this.table = table;
    this.moving = moving;
    this.network = world.pools.filter(({ devices }) => devices.some(({ reach }) => reach.kind !== 'node'));
    const byId = new Map<string, Device>();
    for (const { devices } of world.pools) for (const device of devices) byId.set(device.id, device);
    for (const [key, held] of world.held) {
      if (this.isMoving(key)) continue;
      for (const { id, consumed } of held.devices) {
        const device = byId.get(id);
        if (device !== undefined) this.certain.take({ device, consumed });
      }
    }
  }

  /** The devices that come with a node of a type that declares these. */
  brought(declared: DynamicResources | undefined): TypeDevices {
    return this.world.brought(declared);
  }

  /** What the claims would take on a node that exists, or undefined; then `refusalOf` says why. */
  considerNode(pod: PodClaims, name: string, set: RequirementSet): PendingDevices | undefined {
    let seat = this.seats.get(name);
    if (seat === undefined) {
      seat = new Seat(name);
      this.seats.set(name, seat);
    }
    return this.consider(pod, seat, set, [{ devices: this.world.carried.get(name) ?? noDevices }]);
  }

  /** What the claims would take on a node that can become types of these kinds. */
  consider(pod: PodClaims, seat: Seat, from: RequirementSet, kinds: readonly Kind[]): PendingDevices | undefined {
    if (pod.error !== undefined) return this.refuse(pod, pod.error);
    const { nodeName } = seat;
    let set = from;
    const open: ClaimWork[] = [];
    for (const key of pod.claims) {
      const settled = this.settled(key);
      if (settled === undefined) {
        const work = this.world.work.get(key);
        if (work === undefined || 'error' in work)
          return this.refuse(pod, work?.error ?? `resourceclaim "${key}" not found`);
        open.push(work);
        continue;
      }
      for (const reach of settled.reaches) {
        const isElsewhere = reach.kind === 'own' && settled.seat !== seat;
        const narrowed = isElsewhere ? undefined : narrowedBy(this.table, reach, { nodeName, set });
        if (narrowed === undefined)
          return this.refuse(pod, `resourceclaim "${key}" is allocated where the node is not`);
        set = narrowed;
      }
    }
    return open.length === 0 ? { seat, set, found: undefined } : this.search(pod, seat, set, kinds, open);
  }

  commit({ seat, found }: PendingDevices): void {
    if (found === undefined) return;
    this.settle(seat, seat.hold(found));
    for (const taken of found.values()) for (const { claim } of taken) this.allocated.set(claim, seat);
  }

  /** The node can become these kinds only. */
  keep(seat: Seat, kinds: readonly Kind[]): void {
    this.settle(seat, seat.keep(new Set(kinds.map(({ devices }) => devices))));
  }

  refusalOf(pod: PodClaims): string | undefined {
    return this.refusals.get(pod);
  }

  private search(
    pod: PodClaims,
    seat: Seat,
    from: RequirementSet,
    kinds: readonly Kind[],
    claims: readonly ClaimWork[],
  ): PendingDevices | undefined {
    const others = [...this.undecided].flatMap(([other, reserved]) => (other === seat ? [] : [reserved]));
    const published = seat.nodeName === undefined ? this.network : this.world.pools;
    const isAllOwn = published.length === 0;
    const like = claims.map((claim) => claim.like).join();
    const budget = { steps: mostSteps };
    const found = new Map<TypeDevices, readonly Taken[]>();
    let set = from;
    let why: string | undefined;
    for (const { devices, isWithin } of kinds) {
      if (isAllOwn && seat.isExhausted(devices, like)) {
        why ??= noneFree(claims);
        continue;
      }
      const parts = [this.certain, ...seat.usesOf(devices), ...others];
      const result = allocate({
        table: this.table,
        pools: devices.pools.length === 0 ? published : [...published, ...devices.pools],
        bonds: devices.bonds,
        use: parts.length === 1 ? this.certain : new Together(parts),
        place: { nodeName: seat.nodeName, set },
        claims,
        isWithin,
        budget,
      });
      if ('error' in result) {
        why ??= result.error;
        if (isAllOwn && result.error === noneFree(claims)) seat.exhaust(devices, like);
        continue;
      }
      found.set(devices, result.taken);
      set = result.set;
    }
    return found.size === 0 ? this.refuse(pod, why ?? 'no instance type is left') : { seat, set, found };
  }

  private settle(seat: Seat, certain: readonly Taken[]): void {
    for (const taken of certain) this.certain.take(taken);
    const { reserved } = seat;
    if (reserved === undefined) this.undecided.delete(seat);
    else this.undecided.set(seat, reserved);
  }

  /** Where the claim's devices can be used; undefined if it has none yet. */
  private settled(key: string): { reaches: readonly Reach[]; seat?: Seat } | undefined {
    const held = this.world.held.get(key);
    if (held !== undefined && !this.isMoving(key)) return { reaches: [held.reach] };
    const seat = this.allocated.get(key);
    return seat && { reaches: seat.devicesOf(key).map(({ reach }) => reach), seat };
  }

  private isMoving(key: string): boolean {
    const uids = this.world.held.get(key)?.uids;
    return uids?.every((uid) => this.moving.has(uid)) ?? false;
  }

  private refuse(pod: PodClaims, why: string): undefined {
    this.refusals.set(pod, why);
  }
}
