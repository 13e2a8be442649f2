// What a sequence of commands would come to, guessed on a sketch: each takes a set of nodes away, their pods go to the
// first room that suits them, and what is left over must fit on one new node that is cheaper than all of them. Commands
// that cannot be are skipped, so that every sequence comes to something. Plain and flat: it is asked tens of thousands of
// times for one decision (bench settle(30)).

import { capacityType } from '../../api/names.ts';
import type { Member } from './fleet.ts';
import type { Target } from './merge-sets.ts';
import type { PodKind, Sketch } from './sketch.ts';

export interface Guess {
  pricePerHour: number;
  evictions: number;
  /** The sets of commands that can be, in order. */
  readonly sets: readonly (readonly Member[])[];
}

export interface GuessOptions {
  /** A sequence has at most so many commands. */
  readonly mostSets: number;
  readonly spotToSpot: boolean;
  /** How many nodes of the pool one command may take. */
  budgetOf(poolName: string | undefined): number;
}

const here = 0;
const gone = 1;
const going = 2;

export class SequenceGuess {
  private readonly sketch: Sketch;
  private readonly options: GuessOptions;
  private readonly kinds: readonly PodKind[];
  private readonly startRoom: Int32Array;
  private readonly startCounts: Uint16Array;
  private readonly groups: number;
  // What one sequence changes; rooms of new nodes come after the existing ones.
  private readonly free: Float64Array;
  private readonly zone: Int32Array;
  private readonly template: Int32Array;
  private readonly state: Uint8Array;
  private readonly counts: Uint16Array;
  private readonly room: Int32Array;
  private rooms = 0;
  private readonly moved: number[] = [];
  private readonly movedTo: number[] = [];
  private readonly left: number[] = [];

  constructor(sketch: Sketch, options: GuessOptions) {
    this.sketch = sketch;
    this.options = options;
    const count = sketch.roomCount + options.mostSets;
    this.groups = sketch.topologyGroups;
    this.kinds = sketch.pods.map(({ kind }) => kind);
    this.startRoom = Int32Array.from(sketch.pods, ({ room }) => room);
    this.free = new Float64Array(count * sketch.width);
    this.zone = new Int32Array(count);
    this.zone.set(sketch.zoneOf);
    this.template = new Int32Array(count);
    this.state = new Uint8Array(count);
    this.startCounts = new Uint16Array(count * this.groups);
    this.counts = this.startCounts;
    for (const { kind, room } of sketch.pods) this.count(kind, room, 1);
    this.counts = this.startCounts.slice();
    this.room = this.startRoom.slice();
  }

  /** `setOf` has a number for each member of the sketch: 0 stays, the others go in order of their numbers. */
  of(setOf: ArrayLike<number>): Guess {
    const { sketch, options } = this;
    this.free.set(sketch.free);
    this.counts.set(this.startCounts);
    this.room.set(this.startRoom);
    this.state.fill(here);
    this.rooms = sketch.roomCount;
    const sets: Member[][] = [];
    const guess = { pricePerHour: sketch.pricePerHour, evictions: 0, sets };
    for (let number = 1; number <= options.mostSets; number++) {
      const members = sketch.members.filter((_, at) => setOf[at] === number);
      if (members.length < 2 || !this.isAffordable(members)) continue;
      const change = this.tryToRemove(members);
      if (change === undefined) continue;
      guess.pricePerHour -= change;
      guess.evictions += this.moved.length + this.left.length;
      sets.push(members);
    }
    return guess;
  }

  private isAffordable(members: readonly Member[]): boolean {
    const taken = new Map<string | undefined, number>();
    for (const { poolName } of members) taken.set(poolName, (taken.get(poolName) ?? 0) + 1);
    for (const [poolName, count] of taken) if (count > this.options.budgetOf(poolName)) return false;
    return true;
  }

  /** What it saves; undefined, with everything as before, if it cannot be. */
  private tryToRemove(members: readonly Member[]): number | undefined {
    for (const { index } of members) this.state[index] = going;
    const price = members.reduce((sum, { price }) => sum + price, 0);
    this.movePods();
    const template = this.templateForLeft();
    const target = template < 0 ? undefined : this.cheapest(template, members, price);
    const isFine = this.left.length === 0 || target !== undefined;
    for (const { index } of members) this.state[index] = isFine ? gone : here;
    if (!isFine) {
      this.moved.forEach((pod, at) => this.put(pod, this.movedTo[at] as number, -1));
      return undefined;
    }
    this.moved.forEach((pod, at) => {
      this.room[pod] = this.movedTo[at] as number;
    });
    if (target !== undefined) this.open(template, target);
    return price - (target?.price ?? 0);
  }

  /** Each to the first room that takes it; the others are left over. */
  private movePods(): void {
    this.moved.length = 0;
    this.movedTo.length = 0;
    this.left.length = 0;
    for (let pod = 0; pod < this.room.length; pod++) {
      if (this.state[this.room[pod] as number] !== going) continue;
      const room = this.roomFor(pod);
      if (room < 0) this.left.push(pod);
      else {
        this.put(pod, room, 1);
        this.moved.push(pod);
        this.movedTo.push(room);
      }
    }
  }

  private roomFor(pod: number): number {
    const kind = this.kinds[pod] as PodKind;
    const home = kind.staysInZone ? (this.zone[this.room[pod] as number] as number) : -1;
    // Looking ahead, what is new is filled up before what may go.
    for (let room = this.sketch.roomCount; room < this.rooms; room++) {
      const suits =
        kind.suits[this.template[room] as number] && (kind.zones & (1 << (this.zone[room] as number))) !== 0;
      if (suits && this.takes(kind, room, home)) return room;
    }
    for (const room of kind.rooms) if (this.takes(kind, room, home)) return room;
    return -1;
  }

  private takes({ need, bounds }: PodKind, room: number, home: number): boolean {
    if (this.state[room] !== here || (home >= 0 && this.zone[room] !== home)) return false;
    const { width } = this.sketch;
    for (let column = 0, at = room * width; column < width; column++, at++) {
      if ((need[column] as number) > (this.free[at] as number)) return false;
    }
    for (const { group, most } of bounds) {
      if ((this.counts[room * this.groups + group] as number) > most) return false;
    }
    return true;
  }

  private put(pod: number, room: number, sign: 1 | -1): void {
    const kind = this.kinds[pod] as PodKind;
    const { width } = this.sketch;
    for (let column = 0, at = room * width; column < width; column++, at++) {
      this.free[at] = (this.free[at] as number) - sign * (kind.need[column] as number);
    }
    this.count(kind, room, sign);
  }

  private count(kind: PodKind, room: number, sign: 1 | -1): void {
    for (const group of kind.counted) {
      const at = room * this.groups + group;
      this.counts[at] = (this.counts[at] as number) + sign;
    }
  }

  /** The first template that suits all that is left over; -1 if none does. */
  private templateForLeft(): number {
    if (this.left.length === 0 || this.zonesForLeft() === 0 || this.crowds()) return -1;
    const kinds = this.left.map((pod) => this.kinds[pod] as PodKind);
    // The planner begins a node for the first pod; if another does not suit it, there would be two.
    const first = kinds[0]?.suits.indexOf(true) ?? -1;
    return first >= 0 && kinds.every((kind) => kind.suits[first]) ? first : -1;
  }

  private zonesForLeft(): number {
    let zones = -1;
    for (const pod of this.left) {
      const kind = this.kinds[pod] as PodKind;
      zones &= kind.zones;
      if (kind.staysInZone) zones &= 1 << (this.zone[this.room[pod] as number] as number);
    }
    return zones;
  }

  /** Some of what is left over may not share a host. */
  private crowds(): boolean {
    const room = this.rooms;
    this.counts.fill(0, room * this.groups, (room + 1) * this.groups);
    let isCrowded = false;
    for (const pod of this.left) {
      const kind = this.kinds[pod] as PodKind;
      isCrowded ||= kind.bounds.some(({ group, most }) => (this.counts[room * this.groups + group] as number) > most);
      this.count(kind, room, 1);
    }
    return isCrowded;
  }

  private cheapest(template: number, members: readonly Member[], bound: number): Target | undefined {
    const areSpot = members.every((member) => member.capacityType === capacityType.spot);
    if (areSpot && !this.options.spotToSpot) return undefined;
    const total = new Float64Array(this.sketch.width);
    for (const pod of this.left) {
      (this.kinds[pod] as PodKind).need.forEach((amount, column) => {
        total[column] = (total[column] as number) + amount;
      });
    }
    for (const target of this.sketch.targets[template] ?? []) {
      if (target.price >= bound) return undefined;
      if (!total.every((amount, column) => amount <= (target.room[column] as number))) continue;
      // Several never become one like the cheapest of them.
      const isOneOfThem = members.some(
        (each) => each.instanceType === target.instanceType && each.price <= target.price,
      );
      return isOneOfThem ? undefined : target;
    }
    return undefined;
  }

  private open(template: number, { room: amounts }: Target): void {
    const room = this.rooms;
    const { width } = this.sketch;
    const zones = this.zonesForLeft();
    this.rooms += 1;
    this.template[room] = template;
    this.zone[room] = 31 - Math.clz32(zones & -zones);
    this.free.set(amounts, room * width);
    this.counts.fill(0, room * this.groups, (room + 1) * this.groups);
    for (const pod of this.left) {
      this.put(pod, room, 1);
      this.room[pod] = room;
    }
  }
}
