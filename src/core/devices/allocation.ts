// Finding devices for claims on one node: depth first, request by request and device by device, taking back what leads
// nowhere. A device outside the node narrows where the node can be; the search carries that along. Bounded by the number
// of devices looked at, never by time, so that the same question always has the same answer.

import type { RequirementSet, RequirementTable } from '../requirements/requirement-set.ts';
import { consumptionOf } from './consumption.ts';
import { amountOf, attributeOf, type Device, type DevicePool } from './device-pools.ts';
import { narrowedBy, type Place } from './reach.ts';
import {
  type ClaimWork,
  type CommonAttribute,
  type DeviceRequest,
  mostDevicesPerClaim,
} from './resource-claim-requests.ts';
import type { DeviceUse, Taken } from './tally.ts';
import type { TypeDevices } from './type-devices.ts';

export interface Allocation {
  readonly set: RequirementSet;
  readonly taken: readonly Taken[];
}

/** Devices looked at for a pod on a node before the search gives up; thousands of times what real claims need. */
export const mostSteps = 50_000;

export interface Question {
  readonly table: RequirementTable;
  /** In the order of preference. */
  readonly pools: readonly DevicePool[];
  readonly bonds: TypeDevices['bonds'];
  readonly use: DeviceUse;
  readonly place: Place;
  readonly claims: readonly ClaimWork[];
  /** Whether the node can be where devices narrow it to. */
  readonly isWithin: ((set: RequirementSet) => boolean) | undefined;
  /** What is left of the steps; searched types share it. */
  readonly budget: { steps: number };
}

export function allocate(question: Question): Allocation | { readonly error: string } {
  return new Search(question).run();
}

/** What is said when there are devices, but not enough of them or of what they share. */
export function noneFree(claims: readonly ClaimWork[]): string {
  return `no free devices satisfy ${namesOf(claims)}`;
}

function namesOf(claims: readonly ClaimWork[]): string {
  return claims.map(({ key }) => `"${key}"`).join(', ');
}

interface Way {
  readonly claim: ClaimWork;
  readonly request: DeviceRequest;
}

/** Every choice of one alternative per request; the first request's wishes count most. */
function* choices(claims: readonly ClaimWork[]): Generator<Way[]> {
  const lists = claims.flatMap((claim) => claim.requests.map((ways) => ways.map((request) => ({ claim, request }))));
  const at = lists.map(() => 0);
  for (;;) {
    yield lists.map((ways, index) => ways[at[index] as number] as Way);
    let index = lists.length - 1;
    while (index >= 0 && (at[index] as number) + 1 >= (lists[index]?.length ?? 0)) at[index--] = 0;
    if (index < 0) return;
    at[index] = (at[index] as number) + 1;
  }
}

interface Slot {
  readonly claim: ClaimWork;
  readonly request: DeviceRequest;
  /** For "all of them" the one device of this slot. */
  readonly only: Device | undefined;
}

class Search {
  private readonly asked: Question;
  private readonly slots: Slot[] = [];
  private readonly taken: Taken[] = [];
  private readonly slotOfTaken: Slot[] = [];
  /** A selector that failed; then nothing else counts. */
  private failure: string | undefined;

  constructor(asked: Question) {
    this.asked = asked;
  }

  run(): Allocation | { readonly error: string } {
    const { claims, place, budget } = this.asked;
    let why: string | undefined;
    let isFirst = true;
    for (const ways of choices(claims)) {
      // With alternatives, each choice counts: there may be very many of them.
      if (!isFirst && budget.steps-- < 0) break;
      isFirst = false;
      const error = this.prepare(ways);
      if (error !== undefined) {
        why ??= error;
        if (this.failure !== undefined) break;
        continue;
      }
      const set = this.fill(0, -1, place.set);
      if (set !== undefined) return { set, taken: this.taken };
      if (this.failure !== undefined) break;
      why = noneFree(claims);
    }
    if (this.failure !== undefined) return { error: this.failure };
    if (budget.steps >= 0) return { error: why ?? noneFree(claims) };
    return { error: `gave up looking for devices for ${namesOf(claims)} after ${mostSteps} steps` };
  }

  /** The slots of these requests, one choice of alternatives. */
  private prepare(ways: readonly Way[]): string | undefined {
    this.slots.length = 0;
    const wanted = new Map<ClaimWork, number>();
    for (const { claim, request } of ways) {
      const before = this.slots.length;
      const error = this.addSlots(claim, request);
      if (error !== undefined) return error;
      wanted.set(claim, (wanted.get(claim) ?? 0) + this.slots.length - before);
    }
    for (const [claim, count] of wanted) {
      if (count > mostDevicesPerClaim)
        return `resourceclaim "${claim.key}" asks for ${count} devices; ${mostDevicesPerClaim} is the most`;
    }
    return undefined;
  }

  private addSlots(claim: ClaimWork, request: DeviceRequest): string | undefined {
    if (request.count !== undefined) {
      for (let at = 0; at < request.count; at++) this.slots.push({ claim, request, only: undefined });
      return undefined;
    }
    const all: Device[] = [];
    const { table, place, pools } = this.asked;
    for (const pool of pools) {
      const own = pool.devices.filter((device) => narrowedBy(table, device.reach, place) !== undefined);
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
      if (this.failure !== undefined || this.asked.budget.steps-- < 0) return undefined;
      const narrowed = this.narrowed(device, set);
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

  /** Where the node can be with the device; undefined if it cannot have it. */
  private narrowed({ reach }: Device, set: RequirementSet): RequirementSet | undefined {
    const { table, place, isWithin } = this.asked;
    const narrowed = narrowedBy(table, reach, { nodeName: place.nodeName, set });
    if (narrowed === undefined || narrowed === set || isWithin === undefined) return narrowed;
    return isWithin(narrowed) ? narrowed : undefined;
  }

  private *devices(): Generator<Device> {
    for (const pool of this.asked.pools) if (pool.complete && !pool.invalid) yield* pool.devices;
  }

  private suitsRequest(request: DeviceRequest, device: Device): boolean {
    const answer = request.selects(device);
    if (typeof answer === 'boolean') return answer;
    this.failure ??= answer.error;
    return false;
  }

  /** How much of its capacity the request would take, or undefined if the device cannot give it now. */
  private available(device: Device, request: DeviceRequest): ReadonlyMap<string, bigint> | undefined {
    if (!device.taints.every(request.tolerates)) return undefined;
    const mine = this.taken.filter((own) => own.device === device);
    if (!device.shared && (mine.length > 0 || this.asked.use.isTaken(device))) return undefined;
    const wanted = consumptionOf(device, request.capacity);
    if (wanted === undefined) return undefined;
    if (device.shared) {
      for (const [name, amount] of wanted) {
        const others = mine.reduce((sum, own) => sum + (own.consumed?.get(name) ?? 0n), 0n);
        if (amount + others + this.asked.use.consumedOf(device, name) > amountOf(device.capacity[name]?.value ?? 0))
          return undefined;
      }
    }
    return this.hasCounters(device, mine.length > 0 || this.asked.use.isInUse(device)) ? wanted : undefined;
  }

  private hasCounters(device: Device, counted: boolean): boolean {
    if (counted) return true;
    return device.counters.every(({ counter, amount }) => {
      let used = this.asked.use.countedOf(device.pool, counter);
      for (const other of new Set(this.taken.map((own) => own.device))) {
        if (other.pool !== device.pool || this.asked.use.isInUse(other)) continue;
        for (const use of other.counters) if (use.counter === counter) used += use.amount;
      }
      return used + amount <= (device.pool.counters.get(counter) ?? 0n);
    });
  }

  private isCommon(slot: Slot, device: Device): boolean {
    return slot.claim.common.every((constraint) => {
      if (!concerns(constraint, slot.request)) return true;
      const own = this.valueOf(device, constraint);
      if (own === undefined) return false;
      return this.taken.every((other, at) => {
        const { claim, request } = this.slotOfTaken[at] as Slot;
        if (claim !== slot.claim || !concerns(constraint, request)) return true;
        return (this.valueOf(other.device, constraint) === own) !== constraint.isDistinct;
      });
    });
  }

  /** The attribute's value in words, or which devices it will be equal with: never the same as a value. */
  private valueOf(device: Device, { attribute, isDistinct }: CommonAttribute): string | undefined {
    const value = attributeOf(device, attribute);
    if (value !== undefined) return JSON.stringify(value);
    // What devices will have in common is known, but not what they will not.
    if (isDistinct) return undefined;
    return this.asked.bonds.get(attribute)?.get(device.id)?.toString();
  }
}

/** A constraint names requests, or single alternatives of them. */
function concerns({ requests }: CommonAttribute, { name, of }: DeviceRequest): boolean {
  return requests.size === 0 || requests.has(name) || requests.has(of);
}
