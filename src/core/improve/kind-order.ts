// The kinds of pods that one node is filled from, by what they are worth for the room they take. Pods that need the same are
// compared through the one of them that is worth most, so that an offer that cannot be the best is passed over after a
// look at each need instead of each kind.

import type { Offer } from './pile.ts';

/** While pods only become fewer: by offer, the kinds that some were left of when it was last looked at. */
export type KindsLeft = Map<Offer, Int32Array>;

/** Kinds that are gone are forgotten once they are this part of those remembered. */
const manyGone = 0.25;

/** Positions in a key that is sorted by: as many as 52 bits leave beside those of a density. */
const positions = 2 ** 21;

export class KindOrder {
  /** The kinds that may be taken; by worth for room once sorted. */
  readonly order: Int32Array;
  ordered = 0;
  /** By kind: worth for the room it takes, and the part of the node one pod takes. */
  readonly density: Float64Array;
  readonly part: Float64Array;
  /** By place in the order: where the kinds end that need the same and are worth the same as the one there. */
  readonly alikeUntil: Int32Array;
  /** By kind: the number of what it needs. */
  private readonly needOf: Int32Array;
  private readonly columns: number;
  private readonly needs: Float64Array;
  /** For each need met, the kind that is worth most; and by need where it stands, if it was met this time. */
  private readonly first: Int32Array;
  private firsts = 0;
  /** Pods that need the same are all worth the same. */
  private isEven = true;
  private readonly standsAt: Int32Array;
  private readonly taken: Float64Array;
  private readonly ends: Int32Array;
  private readonly unsorted: Int32Array;
  private readonly keys: Float64Array;
  private readonly short: Float32Array;
  private readonly bits: Uint32Array;

  /** `needs`: what one pod of each kind takes per column, kind by kind. */
  constructor(kinds: number, columns: number, needs: Float64Array) {
    this.columns = columns;
    this.needs = needs;
    this.order = new Int32Array(kinds);
    this.density = new Float64Array(kinds);
    this.part = new Float64Array(kinds);
    this.alikeUntil = new Int32Array(kinds);
    this.needOf = numbered(kinds, columns, needs);
    this.first = new Int32Array(kinds);
    this.standsAt = new Int32Array(kinds).fill(-1);
    this.taken = new Float64Array(kinds);
    this.ends = new Int32Array(kinds);
    this.unsorted = new Int32Array(kinds);
    this.keys = new Float64Array(kinds);
    this.short = new Float32Array(kinds);
    this.bits = new Uint32Array(this.short.buffer);
  }

  /** Gathers the kinds that are worth something and that some are left of; returns how many were looked at. */
  gather(offer: Offer, left: ArrayLike<number>, worth: ArrayLike<number>, remembered?: KindsLeft): number {
    const { order, needOf, first, standsAt } = this;
    for (let at = 0; at < this.firsts; at++) standsAt[needOf[first[at] as number] as number] = -1;
    const kinds = remembered?.get(offer) ?? offer.kinds;
    let ordered = 0;
    let firsts = 0;
    let isEven = true;
    for (let at = 0; at < kinds.length; at++) {
      const kind = kinds[at] as number;
      const value = worth[kind] as number;
      if (value <= 0 || (left[kind] as number) <= 0) continue;
      order[ordered++] = kind;
      const need = needOf[kind] as number;
      const stands = standsAt[need] as number;
      if (stands < 0) {
        standsAt[need] = firsts;
        first[firsts++] = kind;
      } else if (value !== worth[first[stands] as number]) {
        isEven = false;
        if (value > (worth[first[stands] as number] as number)) first[stands] = kind;
      }
    }
    this.ordered = ordered;
    this.firsts = firsts;
    this.isEven = isEven;
    if (remembered !== undefined && ordered < kinds.length * (1 - manyGone)) {
      remembered.set(offer, order.slice(0, ordered));
    }
    return kinds.length;
  }

  /** Of the kinds gathered, for each need the one worth most. */
  get worthiest(): Int32Array {
    return this.first.subarray(0, this.firsts);
  }

  /** The most that any kind is worth for its room, where resources count by `weights`. */
  most({ room }: Offer, weights: Float64Array, worth: ArrayLike<number>): number {
    const { columns, needs, first, taken } = this;
    let most = 0;
    for (let at = 0; at < this.firsts; at++) {
      const kind = first[at] as number;
      let sum = 0;
      for (let column = 0, from = kind * columns; column < columns; column++, from++) {
        const amount = needs[from] as number;
        if (amount > 0) sum += ((weights[column] as number) * amount) / (room[column] as number);
      }
      taken[at] = sum;
      const dense = (worth[kind] as number) / sum;
      if (dense > most) most = dense;
    }
    return most;
  }

  /** Sorts by worth for room, as resources counted when `most` was asked last; of equal ones the first kind comes first. */
  sort(worth: ArrayLike<number>): void {
    const { order, ordered, density, part, needOf, standsAt, taken, first } = this;
    for (let at = 0; at < ordered; at++) {
      const kind = order[at] as number;
      const room = taken[standsAt[needOf[kind] as number] as number] as number;
      part[kind] = room;
      density[kind] = (worth[kind] as number) / room;
    }
    if (this.isEven && this.firsts * 2 < ordered) {
      this.sortList(first, this.firsts);
      this.putLikeAfterFirst();
    } else this.sortList(order, ordered);
    this.findAlike(worth);
  }

  /** The first `count` of a list of ascending kinds. */
  private sortList(list: Int32Array, count: number): void {
    const { density, keys, short, bits, unsorted } = this;
    for (let at = 0; at < count; at++) {
      const kind = list[at] as number;
      unsorted[at] = kind;
      short[at] = density[kind] as number;
      keys[at] = (0x7fffffff - (bits[at] as number)) * positions + at;
    }
    keys.subarray(0, count).sort();
    for (let at = 0; at < count; at++) {
      const key = keys[at] as number;
      const kind = unsorted[key - Math.floor(key / positions) * positions] as number;
      // Keys have fewer digits than densities: neighbours may have to change places.
      let to = at;
      for (; to > 0; to--) {
        const before = list[to - 1] as number;
        const more = (density[kind] as number) - (density[before] as number);
        if (more < 0 || (more === 0 && kind > before)) break;
        list[to] = before;
      }
      list[to] = kind;
    }
  }

  /** Orders kinds as the first of their need are ordered. */
  private putLikeAfterFirst(): void {
    const { order, ordered, needOf, first, firsts, standsAt, ends, unsorted } = this;
    for (let at = 0; at < firsts; at++) {
      standsAt[needOf[first[at] as number] as number] = at;
      ends[at] = 0;
    }
    for (let at = 0; at < ordered; at++) {
      const kind = order[at] as number;
      unsorted[at] = kind;
      const stands = standsAt[needOf[kind] as number] as number;
      ends[stands] = (ends[stands] as number) + 1;
    }
    let start = 0;
    for (let at = 0; at < firsts; at++) {
      const count = ends[at] as number;
      ends[at] = start;
      start += count;
    }
    for (let at = 0; at < ordered; at++) {
      const kind = unsorted[at] as number;
      const stands = standsAt[needOf[kind] as number] as number;
      order[ends[stands] as number] = kind;
      ends[stands] = (ends[stands] as number) + 1;
    }
  }

  private findAlike(worth: ArrayLike<number>): void {
    const { order, ordered, needOf, alikeUntil } = this;
    let until = ordered;
    for (let at = ordered - 1; at >= 0; at--) {
      alikeUntil[at] = until;
      const [kind, before] = [order[at] as number, order[at - 1] as number];
      if (needOf[kind] !== needOf[before] || worth[kind] !== worth[before]) until = at;
    }
  }
}

/** Equal needs get equal numbers. */
function numbered(kinds: number, columns: number, needs: Float64Array): Int32Array {
  const numbers = new Map<string, number>();
  return Int32Array.from({ length: kinds }, (_, kind) => {
    const name = needs.subarray(kind * columns, (kind + 1) * columns).join();
    const known = numbers.get(name) ?? numbers.size;
    numbers.set(name, known);
    return known;
  });
}
