// The filling of most worth for every size of node at once: a table over all rooms up to a largest one, in whole units of
// what pods ask for. One table answers for every offer that admits the same pods, exactly, however many pods its nodes
// hold; what it costs is its number of rooms times the number of kinds. Each kind is taken as often as it fits: how many
// there are is not looked at, which can only make a filling worth more.
//
// Promise: `most` is never below the worth of any filling of the offer.

import type { Sliced } from '../../base/index.ts';
import type { Kind, Offer } from '../improve/pile.ts';

/** A column whose room can run out: its unit, and how many of them the largest room has. */
interface Axis {
  readonly column: number;
  readonly unit: number;
  readonly units: number;
}

export interface TableShape {
  /** The longest first. */
  readonly axes: readonly Axis[];
  readonly rooms: number;
  /** The kinds it is about. */
  readonly kinds: readonly number[];
}

/** Part of a worth that additions in another order may differ by. */
const dust = 1e-12;

export class RoomTable {
  readonly shape: TableShape;
  private readonly values: Float64Array;
  private readonly strides: Int32Array;
  /** Per kind of the shape what it takes, in units of each axis, and how far that is in the table. */
  private readonly takes: readonly Int32Array[];
  private readonly offsets: readonly number[];
  private worth: ArrayLike<number> = [];

  constructor(shape: TableShape, kinds: readonly Kind[]) {
    this.shape = shape;
    this.values = new Float64Array(shape.rooms);
    const strides = new Int32Array(shape.axes.length);
    let stride = 1;
    shape.axes.forEach(({ units }, axis) => {
      strides[axis] = stride;
      stride *= units + 1;
    });
    this.strides = strides;
    this.takes = shape.kinds.map((kind) => {
      const { need } = kinds[kind] as Kind;
      return Int32Array.from(shape.axes, ({ column, unit }) => Math.round((need[column] as number) / unit));
    });
    this.offsets = this.takes.map((takes) => this.positionOf(takes));
  }

  /** Works out the table for these worths, which must not change while it is asked. */
  *fill(worth: ArrayLike<number>): Sliced<void> {
    this.worth = worth;
    this.values.fill(0);
    for (const at of this.undominated()) {
      this.add(at);
      yield;
    }
  }

  /** What the best filling of the offer is worth. */
  most(offer: Offer): number {
    return this.values[this.positionOf(this.roomOf(offer))] as number;
  }

  /** The best filling, and for each kind the best one with at least one of it; only those worth more than asked for. */
  *fillings(offer: Offer, above: number): Generator<{ kinds: number[]; counts: number[] }> {
    const room = this.roomOf(offer);
    if ((this.values[this.positionOf(room)] as number) > above) yield this.filling(room, []);
    for (let at = 0; at < this.takes.length; at++) {
      const takes = this.takes[at] as Int32Array;
      if (!takes.every((units, axis) => units <= (room[axis] as number))) continue;
      const rest = room.map((units, axis) => units - (takes[axis] as number));
      const worth = (this.values[this.positionOf(rest)] as number) + this.worthAt(at);
      if (worth > above) yield this.filling(rest, [at]);
    }
  }

  /** Takes pods off the room one by one, each such that the rest is worth what the table says. */
  private filling(room: Int32Array, first: readonly number[]): { kinds: number[]; counts: number[] } {
    const taken = this.takes.map(() => 0);
    for (const at of first) taken[at] = 1;
    const rest = Int32Array.from(room);
    for (let position = this.positionOf(rest); (this.values[position] as number) > 0; ) {
      const value = (this.values[position] as number) * (1 - dust);
      const next = this.takes.findIndex(
        (takes, at) =>
          this.worthAt(at) > 0 &&
          takes.every((units, axis) => units <= (rest[axis] as number)) &&
          (this.values[position - (this.offsets[at] as number)] as number) + this.worthAt(at) >= value,
      );
      if (next < 0) break;
      (this.takes[next] as Int32Array).forEach((units, axis) => {
        rest[axis] = (rest[axis] as number) - units;
      });
      position -= this.offsets[next] as number;
      taken[next] = (taken[next] as number) + 1;
    }
    const used = taken.flatMap((count, at) => (count > 0 ? [at] : []));
    return { kinds: used.map((at) => this.shape.kinds[at] as number), counts: used.map((at) => taken[at] as number) };
  }

  private worthAt(at: number): number {
    return this.worth[this.shape.kinds[at] as number] as number;
  }

  private roomOf({ room }: Offer): Int32Array {
    return Int32Array.from(this.shape.axes, ({ column, unit, units }) =>
      Math.min(units, Math.floor((room[column] as number) / unit)),
    );
  }

  private positionOf(room: Int32Array): number {
    let at = 0;
    for (let axis = 0; axis < room.length; axis++) at += (room[axis] as number) * (this.strides[axis] as number);
    return at;
  }

  /** Kinds that no other one beats: as much worth for no more room. */
  private undominated(): number[] {
    const order = this.takes
      .map((_, at) => at)
      .filter((at) => this.worthAt(at) > 0)
      .sort((left, right) => this.worthAt(right) - this.worthAt(left) || left - right);
    const kept: number[] = [];
    for (const at of order) {
      const own = this.takes[at] as Int32Array;
      const isBeaten = kept.some((other) =>
        (this.takes[other] as Int32Array).every((units, axis) => units <= (own[axis] as number)),
      );
      if (!isBeaten) kept.push(at);
    }
    return kept;
  }

  /** Every room that holds one more of the kind may be worth more for it; smaller rooms come first. */
  private add(own: number): void {
    const { values } = this;
    const { axes, rooms } = this.shape;
    const takes = this.takes[own] as Int32Array;
    const offset = this.offsets[own] as number;
    const worth = this.worthAt(own);
    const length = (axes[0] as Axis).units + 1;
    const position = new Int32Array(axes.length);
    for (let start = 0; start < rooms; start += length) {
      let fits = true;
      for (let axis = 1; axis < axes.length; axis++) fits &&= (position[axis] as number) >= (takes[axis] as number);
      if (fits) {
        const end = start + length;
        for (let at = start + (takes[0] as number); at < end; at++) {
          const value = (values[at - offset] as number) + worth;
          if (value > (values[at] as number)) values[at] = value;
        }
      }
      for (let axis = 1; axis < axes.length; axis++) {
        position[axis] = (position[axis] as number) + 1;
        if ((position[axis] as number) <= (axes[axis] as Axis).units) break;
        position[axis] = 0;
      }
    }
  }
}

/** The table for these kinds and offers; undefined if it would have more rooms than that. */
export function shapeFor(
  kinds: readonly Kind[],
  own: readonly number[],
  offers: readonly Offer[],
  mostRooms: number,
): TableShape | undefined {
  const needs = own.map((kind) => (kinds[kind] as Kind).need);
  const axes: Axis[] = [];
  for (let column = 0; column < (needs[0]?.length ?? 0); column++) {
    const unit = needs.reduce((common, need) => commonDivisor(common, need[column] as number), 0);
    if (unit <= 0) continue;
    const used = offers.map(({ room }) => usable(needs, room, column));
    // Where something else always runs out first, the column says nothing.
    if (offers.every(({ room }, at) => (used[at] as number) < (room[column] as number))) continue;
    // Division leaves dust, and a room counted too small would say too little.
    axes.push({ column, unit, units: Math.floor((Math.max(...used) / unit) * (1 + 1e-9)) });
  }
  axes.sort((left, right) => right.units - left.units || left.column - right.column);
  const rooms = axes.reduce((product, { units }) => product * (units + 1), 1);
  return rooms > mostRooms || axes.length === 0 ? undefined : { axes, rooms, kinds: own };
}

/** The most that pods can use of a column before another runs out; at most what is there. */
function usable(needs: readonly Float64Array[], room: Float64Array, column: number): number {
  let least = room[column] as number;
  for (let other = 0; other < room.length; other++) {
    if (other === column) continue;
    let share = 0;
    for (const need of needs) {
      if ((need[column] as number) > 0) share = Math.max(share, (need[column] as number) / (need[other] as number));
    }
    if (Number.isFinite(share)) least = Math.min(least, share * (room[other] as number));
  }
  return least;
}

function commonDivisor(left: number, right: number): number {
  let [larger, smaller] = [left, right];
  while (smaller > 0) [larger, smaller] = [smaller, larger % smaller];
  return larger;
}
