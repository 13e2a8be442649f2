// Finding devices for claims on one node: depth first, request by request and device by device, taking back what leads
// nowhere. A device outside the node narrows where the node can be; the search carries that along. Bounded by the number
// of devices looked at, never by time, so that the same question always has the same answer.

import type { RequirementSet, RequirementTable } from '../requirements/requirement-set.ts';
import type { ClaimWork, CommonAttribute, DeviceRequest, DeviceSelector } from './claim-requests.ts';
import { consumptionOf } from './consumption.ts';
import { amountOf, attributeOf, type Device, type DevicePool } from './device-pools.ts';
import { narrowedBy, type Place } from './reach.ts';

/** What is gone already, and how much of what is shared. */
export interface DeviceUse {
  /** By a claim of its own. */
  isTaken(device: Device): boolean;
  /** By anybody, so that its counters are counted. */
  isInUse(device: Device): boolean;
  consumedOf(device: Device, capacity: string): bigint;
  countedOf(pool: DevicePool, counter: string): bigint;
}

export interface Taken {
  readonly claim: string;
  readonly device: Device;
  /** Of a shared device: how much of each capacity. */
  readonly consumed: ReadonlyMap<string, bigint> | undefined;
}

export interface Allocation {
  readonly set: RequirementSet;
  readonly taken: readonly Taken[];
}

/** Devices looked at before the search gives up; thousands of times what real claims need. */
const mostSteps = 50_000;

export function allocate(
  table: RequirementTable,
  pools: readonly DevicePool[],
  use: DeviceUse,
  place: Place,
  claims: readonly ClaimWork[],
): Allocation | { readonly error: string } {
  return new Search(table, pools, use, place, claims).run();
}

interface Slot {
  readonly claim: ClaimWork;
  readonly request: DeviceRequest;
  /** For "all of them" the one device of this slot. */
  readonly only: Device | undefined;
}

class Search {
  private readonly table: RequirementTable;
  private readonly pools: readonly DevicePool[];
  private readonly use: DeviceUse;
  private readonly place: Place;
  private readonly claims: readonly ClaimWork[];
  private readonly slots: Slot[] = [];
  private readonly taken: Taken[] = [];
  private readonly slotOfTaken: Slot[] = [];
  private readonly suits = new Map<DeviceRequest, Map<Device, boolean>>();
  private steps = 0;
  /** A selector that failed; then nothing else counts. */
  private failure: string | undefined;

  constructor(
    table: RequirementTable,
    pools: readonly DevicePool[],
    use: DeviceUse,
    place: Place,
    claims: readonly ClaimWork[],
  ) {
    this.table = table;
    this.pools = pools;
    this.use = use;
    this.place = place;
    this.claims = claims;
  }

  run(): Allocation | { readonly error: string } {
    for (const claim of this.claims) {
      for (const request of claim.requests) {
        const error = this.addSlots(claim, request);
        if (error !== undefined) return { error };
      }
    }
    const set = this.fill(0, -1, this.place.set);
    if (this.failure !== undefined) return { error: this.failure };
    if (set !== undefined) return { set, taken: this.taken };
    const names = this.claims.map(({ key }) => `"${key}"`).join(', ');
    return {
      error:
        this.steps > mostSteps
          ? `gave up looking for devices for ${names} after ${mostSteps} steps`
          : `no free devices satisfy ${names}`,
    };
  }

  private addSlots(claim: ClaimWork, request: DeviceRequest): string | undefined {
    if (request.count !== undefined) {
      for (let at = 0; at < request.count; at++) this.slots.push({ claim, request, only: undefined });
      return undefined;
    }
    const all: Device[] = [];
    for (const pool of this.pools) {
      const own = pool.devices.filter((device) => narrowedBy(this.table, device.reach, this.place) !== undefined);
      if (own.length > 0 && (pool.invalid || !pool.complete)) {
        return `pool "${pool.driver}/${pool.name}" is ${pool.invalid ? 'invalid' : 'incomplete'}, so that not all of its devices are known`;
      }
      all.push(...own.filter((device) => this.suitsRequest(request, device)));
    }
    if (all.length === 0) return `no device matches request "${request.name}" of "${claim.key}"`;
    for (const device of all) this.slots.push({ claim, request, only: device });
    return undefined;
  }

  /** Fills the slots from `at` on; what the node is narrowed to, or undefined if there is no way. */
  private fill(at: number, previous: number, set: RequirementSet): RequirementSet | undefined {
    const slot = this.slots[at];
    if (slot === undefined) return set;
    // Slots of one request are alike: their devices are tried in one order only.
    const isAlike = at > 0 && this.slots[at - 1]?.request === slot.request;
    let number = -1;
    for (const device of slot.only === undefined ? this.devices() : [slot.only]) {
      number += 1;
      if (slot.only === undefined && isAlike && (device.shared ? number < previous : number <= previous)) continue;
      if (this.failure !== undefined || this.steps++ > mostSteps) return undefined;
      const narrowed = narrowedBy(this.table, device.reach, { nodeName: this.place.nodeName, set });
      if (narrowed === undefined || !this.suitsRequest(slot.request, device)) continue;
      const consumed = this.available(device, slot.request);
      if (consumed === undefined || !this.isCommon(slot, device)) continue;
      this.taken.push({ claim: slot.claim.key, device, consumed: device.shared ? consumed : undefined });
      this.slotOfTaken.push(slot);
      const result = this.fill(at + 1, number, narrowed);
      if (result !== undefined) return result;
      this.taken.pop();
      this.slotOfTaken.pop();
    }
    return undefined;
  }

  private *devices(): Generator<Device> {
    for (const pool of this.pools) if (!pool.invalid) yield* pool.devices;
  }

  private suitsRequest(request: DeviceRequest, device: Device): boolean {
    let known = this.suits.get(request);
    if (known === undefined) {
      known = new Map();
      this.suits.set(request, known);
    }
    let suits = known.get(device);
    if (suits === undefined) {
      suits = request.selectors.every((selector) => this.verdict(selector(device)));
      known.set(device, suits);
    }
    return suits;
  }

  private verdict(answer: ReturnType<DeviceSelector>): boolean {
    if (typeof answer === 'boolean') return answer;
    this.failure ??= answer.error;
    return false;
  }

  /** How much of its capacity the request would take, or undefined if the device cannot give it now. */
  private available(device: Device, request: DeviceRequest): ReadonlyMap<string, bigint> | undefined {
    const mine = this.taken.filter((own) => own.device === device);
    if (!device.shared && (mine.length > 0 || this.use.isTaken(device))) return undefined;
    const wanted = consumptionOf(device, request.capacity);
    if (wanted === undefined) return undefined;
    if (device.shared) {
      for (const [name, amount] of wanted) {
        const others = mine.reduce((sum, own) => sum + (own.consumed?.get(name) ?? 0n), 0n);
        if (amount + others + this.use.consumedOf(device, name) > amountOf(device.capacity[name]?.value ?? 0))
          return undefined;
      }
    }
    return this.hasCounters(device, mine.length > 0 || this.use.isInUse(device)) ? wanted : undefined;
  }

  private hasCounters(device: Device, counted: boolean): boolean {
    if (counted) return true;
    return device.counters.every(({ counter, amount }) => {
      let used = this.use.countedOf(device.pool, counter);
      for (const other of new Set(this.taken.map((own) => own.device))) {
        if (other.pool !== device.pool || this.use.isInUse(other)) continue;
        for (const use of other.counters) if (use.counter === counter) used += use.amount;
      }
      return used + amount <= (device.pool.counters.get(counter) ?? 0n);
    });
  }

  private isCommon(slot: Slot, device: Device): boolean {
    return slot.claim.common.every((constraint) => {
      if (!concerns(constraint, slot.request)) return true;
      const own = attributeOf(device, constraint.attribute);
      if (own === undefined) return false;
      return this.taken.every((other, at) => {
        const { claim, request } = this.slotOfTaken[at] as Slot;
        if (claim !== slot.claim || !concerns(constraint, request)) return true;
        return JSON.stringify(attributeOf(other.device, constraint.attribute)) === JSON.stringify(own);
      });
    });
  }
}

function concerns({ requests }: CommonAttribute, { name }: DeviceRequest): boolean {
  return requests.size === 0 || requests.has(name);
}
