// The filling of one node that is worth most: a knapsack with several resources. Kinds of pods are tried by worth for the
// room they take, each as often as fits and then less often; branches that cannot beat what is known are abandoned. How
// much a resource counts as room is worked out per offer so that the bound is tight. Exact for nodes that hold few pods, a
// good try for large ones; bounded by steps, never by time.
//
// Promises: a filling keeps room, counts and host rules; `atMost` is never below the worth of any filling.

import type { HostRules, Kind, Offer } from './pile.ts';
import { RoomWeights } from './room-weights.ts';

export interface Found {
  readonly worth: number;
  /** No filling of the offer is worth more. */
  readonly atMost: number;
  readonly kinds: readonly number[];
  readonly counts: readonly number[];
}

/** A gain smaller than this part is none. */
const dust = 1e-9;

/** What a resource counts at least: one that counts for nothing would never count again. */
const leastWeight = 1e-6;

/** Passes of taking out each kind of a filling and filling again. */
const mostPasses = 4;
const fewPods = 20;
const fewKinds = 200;

export class FillingSearch {
  /** Steps taken so far: the unit its work is counted in. */
  steps = 0;
  private readonly columns: number;
  private readonly needs: Float64Array;
  private readonly hosts: readonly (HostRules | undefined)[];
  private readonly hasHostRules: boolean;
  private readonly weights = new Map<Offer, Float64Array>();
  // Scratch space, used by one search at a time.
  private readonly density: Float64Array;
  private readonly part: Float64Array;
  private readonly order: Int32Array;
  private ordered = 0;
  private readonly roomWeights: RoomWeights;
  private readonly rest: Float64Array;
  private readonly takes: Int32Array;
  private readonly bestTakes: Int32Array;
  private readonly counted: Int32Array;
  private readonly most: Float64Array;
  private best = 0;
  private cut = 0;
  private stepsLeft = 0;
  private left: ArrayLike<number> = [];
  private worth: ArrayLike<number> = [];

  constructor(kinds: readonly Kind[], columns: number) {
    this.columns = columns;
    this.needs = new Float64Array(kinds.length * columns);
    kinds.forEach(({ need }, kind) => this.needs.set(need, kind * columns));
    this.roomWeights = new RoomWeights(columns);
    this.hosts = kinds.map(({ host }) => host);
    this.hasHostRules = kinds.some(({ host }) => host !== undefined);
    this.density = new Float64Array(kinds.length);
    this.part = new Float64Array(kinds.length);
    this.order = new Int32Array(kinds.length);
    this.takes = new Int32Array(kinds.length);
    this.bestTakes = new Int32Array(kinds.length);
    this.rest = new Float64Array(columns);
    let rules = 0;
    for (const host of this.hosts) {
      for (const { rule } of host?.owns ?? []) rules = Math.max(rules, rule + 1);
      for (const rule of host?.countedIn ?? []) rules = Math.max(rules, rule + 1);
    }
    this.counted = new Int32Array(rules);
    this.most = new Float64Array(rules).fill(Number.POSITIVE_INFINITY);
  }

  /**
   * `left`: how many pods of each kind there are; `worth`: what one of each is worth. Undefined if it is certain that no
   * filling is worth more than `above`.
   */
  find(
    offer: Offer,
    left: ArrayLike<number>,
    worth: ArrayLike<number>,
    above: number,
    mostSteps: number,
  ): Found | undefined {
    this.left = left;
    this.worth = worth;
    if (this.tighten(offer, above) <= above) return undefined;
    this.sort();
    const root = this.fractional(0, 1);
    if (root <= above) return undefined;
    this.rest.set(offer.room);
    this.best = 0;
    this.cut = 0;
    this.stepsLeft = mostSteps;
    for (let at = 0; at < this.ordered; at++) {
      const kind = this.order[at] as number;
      this.takes[kind] = 0;
      this.bestTakes[kind] = 0;
    }
    this.fillAndExchange();
    if (this.best * (1 + dust) < root) this.search(0, 0, 1);
    this.steps += mostSteps - this.stepsLeft;
    const kinds: number[] = [];
    const counts: number[] = [];
    for (const kind of this.order.subarray(0, this.ordered).sort()) {
      if ((this.bestTakes[kind] as number) === 0) continue;
      kinds.push(kind);
      counts.push(this.bestTakes[kind] as number);
    }
    const atMost = this.stepsLeft > 0 ? this.best * (1 + dust) : Math.min(root, Math.max(this.best, this.cut));
    return { worth: this.best, atMost, kinds, counts };
  }

  /** Kinds worth something, and their worth for the room they take; the most of any is returned. */
  private arrange({ room, kinds }: Offer, weights: Float64Array): number {
    const { columns, needs, density, part, order, left, worth } = this;
    let ordered = 0;
    let most = 0;
    for (let at = 0; at < kinds.length; at++) {
      const kind = kinds[at] as number;
      const value = worth[kind] as number;
      if (value <= 0 || (left[kind] as number) <= 0) continue;
      let taken = 0;
      const start = kind * columns;
      for (let column = 0; column < columns; column++) {
        const amount = needs[start + column] as number;
        if (amount > 0) taken += ((weights[column] as number) * amount) / (room[column] as number);
      }
      part[kind] = taken;
      const dense = value / taken;
      density[kind] = dense;
      if (dense > most) most = dense;
      order[ordered++] = kind;
    }
    this.ordered = ordered;
    return most;
  }

  private sort(): void {
    const { density } = this;
    this.order.subarray(0, this.ordered).sort((a, b) => (density[b] as number) - (density[a] as number) || a - b);
  }

  /** Fills the node by what is worth most for the room still free, then takes out each kind in turn and fills again. */
  private fillAndExchange(): void {
    const { takes, order, ordered, worth } = this;
    for (let at = 0; at < ordered; at++) takes[order[at] as number] = 0;
    this.keepIfBetter(this.fill(-1));
    this.clear();
    this.keepIfBetter(this.takeWhole());
    this.restoreBest();
    let value = this.best;
    let pods = 0;
    for (let at = 0; at < ordered; at++) pods += takes[order[at] as number] as number;
    // Where there are many, one more or less matters little.
    const passes = pods <= fewPods && ordered <= fewKinds ? mostPasses : 0;
    for (let pass = 0, again = true; again && pass < passes; pass++) {
      again = false;
      for (let at = 0; at < ordered; at++) {
        const kind = order[at] as number;
        const count = takes[kind] as number;
        if (count === 0) continue;
        for (const taken of count > 1 ? [1, count] : [1]) {
          this.put(kind, -taken);
          const without = value - taken * (worth[kind] as number);
          const refilled = without + this.fill(kind);
          if (refilled > this.best * (1 + dust)) {
            value = refilled;
            this.keepIfBetter(value);
            again = true;
            break;
          }
          this.restoreBest();
        }
      }
    }
    this.clear();
  }

  private clear(): void {
    for (let at = 0; at < this.ordered; at++) {
      const kind = this.order[at] as number;
      if ((this.takes[kind] as number) > 0) this.put(kind, -(this.takes[kind] as number));
    }
  }

  /** The whole pods of the filling by parts, and what else fits: close to the best where a node holds many pods. */
  private takeWhole(): number {
    const { basic, amounts } = this.roomWeights;
    let value = 0;
    for (let row = 0; row < basic.length; row++) {
      const kind = basic[row] as number;
      if (kind < 0) continue;
      const count = Math.min(this.howMany(kind), Math.floor((amounts[row] as number) + dust));
      if (count <= 0) continue;
      this.put(kind, count);
      value += count * (this.worth[kind] as number);
    }
    return value + this.fill(-1);
  }

  /** Adds pods of other kinds while some fit, several equal ones at once, fewer the fuller the node is. */
  private fill(except: number): number {
    const { order, ordered, worth, needs, rest, columns } = this;
    let value = 0;
    for (;;) {
      let best = -1;
      let bestScore = 0;
      let bestFits = 0;
      for (let at = 0; at < ordered; at++) {
        const kind = order[at] as number;
        if (kind === except) continue;
        const start = kind * columns;
        let part = 0;
        for (let column = 0; column < columns; column++) {
          const need = needs[start + column] as number;
          if (need > 0) part += need / (rest[column] as number);
        }
        const score = (worth[kind] as number) / part;
        if (!(score > bestScore) || part < 0) continue;
        const fitting = this.howMany(kind);
        if (fitting <= 0) continue;
        best = kind;
        bestScore = score;
        bestFits = fitting;
      }
      this.stepsLeft -= 1;
      if (best < 0) return value;
      const count = Math.max(1, bestFits >> 1);
      this.put(best, count);
      value += count * (worth[best] as number);
    }
  }

  /** Changes what is taken of a kind, in the takes, the room and the host's counts. */
  private put(kind: number, count: number): void {
    const before = this.takes[kind] as number;
    this.takes[kind] = before + count;
    this.change(kind, -count);
    const host = this.hosts[kind];
    if (host === undefined) return;
    for (const rule of host.countedIn) this.counted[rule] = (this.counted[rule] as number) + count;
    for (const { rule } of host.owns) this.most[rule] = this.boundOf(rule);
  }

  /** The least any kind that is on the host allows. */
  private boundOf(rule: number): number {
    let most = Number.POSITIVE_INFINITY;
    for (let at = 0; at < this.ordered; at++) {
      const kind = this.order[at] as number;
      if ((this.takes[kind] as number) === 0) continue;
      for (const own of this.hosts[kind]?.owns ?? []) if (own.rule === rule) most = Math.min(most, own.most);
    }
    return most;
  }

  private keepIfBetter(value: number): void {
    if (value <= this.best * (1 + dust)) return;
    this.best = value;
    for (let at = 0; at < this.ordered; at++) {
      const kind = this.order[at] as number;
      this.bestTakes[kind] = this.takes[kind] as number;
    }
  }

  private restoreBest(): void {
    for (let at = 0; at < this.ordered; at++) {
      const kind = this.order[at] as number;
      const change = (this.bestTakes[kind] as number) - (this.takes[kind] as number);
      if (change < 0) this.put(kind, change);
    }
    for (let at = 0; at < this.ordered; at++) {
      const kind = this.order[at] as number;
      const change = (this.bestTakes[kind] as number) - (this.takes[kind] as number);
      if (change > 0) this.put(kind, change);
    }
  }

  private search(at: number, value: number, partLeft: number): void {
    if (value > this.best * (1 + dust)) {
      this.best = value;
      for (let i = 0; i < this.ordered; i++) {
        const kind = this.order[i] as number;
        this.bestTakes[kind] = i < at ? (this.takes[kind] as number) : 0;
      }
    }
    let next = at;
    // Kinds that do not fit any more are passed over without going deeper.
    let kind = -1;
    let fitting = 0;
    for (; next < this.ordered; next++) {
      kind = this.order[next] as number;
      if (value + this.fractional(next, partLeft) <= this.best * (1 + dust)) return;
      fitting = this.howMany(kind);
      if (fitting > 0) break;
      this.takes[kind] = 0;
    }
    if (next >= this.ordered) return;
    const own = this.worth[kind] as number;
    const part = this.part[kind] as number;
    const following = next + 1 < this.ordered ? (this.density[this.order[next + 1] as number] as number) : 0;
    for (let count = fitting; count >= 0; count--) {
      const rest = partLeft - count * part;
      // With fewer of these the rest is filled with what is worth less for its room.
      if (count < fitting && value + count * own + rest * following <= this.best * (1 + dust)) break;
      if (this.stepsLeft-- <= 0) {
        this.cut = Math.max(this.cut, value + this.fractional(next, partLeft));
        break;
      }
      this.takes[kind] = count;
      this.change(kind, -count);
      const before = this.hasHostRules && count > 0 ? this.board(kind, count) : undefined;
      this.search(next + 1, value + count * own, rest);
      if (before !== undefined) this.leave(kind, count, before);
      this.change(kind, count);
    }
    this.takes[kind] = 0;
  }

  /** What the rest could be worth if pods could be cut: no filling of it is worth more. */
  private fractional(from: number, partLeft: number): number {
    let value = 0;
    let rest = partLeft;
    for (let at = from; at < this.ordered && rest > 0; at++) {
      const kind = this.order[at] as number;
      const all = (this.part[kind] as number) * (this.left[kind] as number);
      if (all >= rest) return value + rest * (this.density[kind] as number);
      value += (this.worth[kind] as number) * (this.left[kind] as number);
      rest -= all;
    }
    return value;
  }

  private change(kind: number, count: number): void {
    const { columns, needs, rest } = this;
    const start = kind * columns;
    for (let column = 0; column < columns; column++) {
      rest[column] = (rest[column] as number) + count * (needs[start + column] as number);
    }
  }

  private howMany(kind: number): number {
    const { columns, needs, rest } = this;
    let most = (this.left[kind] as number) - (this.takes[kind] as number);
    const start = kind * columns;
    for (let column = 0; column < columns; column++) {
      const need = needs[start + column] as number;
      if (need > 0) most = Math.min(most, Math.floor((rest[column] as number) / need));
    }
    const host = this.hosts[kind];
    return host === undefined || most <= 0 ? most : Math.min(most, this.howManyOnHost(host));
  }

  private howManyOnHost({ owns, countedIn }: HostRules): number {
    let most = Number.POSITIVE_INFINITY;
    for (const rule of countedIn) {
      const bound = this.most[rule] as number;
      if (bound !== Number.POSITIVE_INFINITY) most = Math.min(most, bound - (this.counted[rule] as number));
    }
    for (const { rule, most: bound } of owns) {
      const free = bound - (this.counted[rule] as number);
      if (countedIn.includes(rule)) most = Math.min(most, free);
      else if (free < 0) most = 0;
    }
    return Math.max(0, most);
  }

  /** Pods come onto the host; what the bounds were before, for taking them off again. */
  private board(kind: number, count: number): readonly number[] | undefined {
    const host = this.hosts[kind];
    if (host === undefined) return undefined;
    for (const rule of host.countedIn) this.counted[rule] = (this.counted[rule] as number) + count;
    return host.owns.map(({ rule, most }) => {
      const before = this.most[rule] as number;
      this.most[rule] = Math.min(before, most);
      return before;
    });
  }

  private leave(kind: number, count: number, before: readonly number[]): void {
    const { owns, countedIn } = this.hosts[kind] as HostRules;
    for (const rule of countedIn) this.counted[rule] = (this.counted[rule] as number) - count;
    owns.forEach(({ rule }, at) => {
      this.most[rule] = before[at] as number;
    });
  }

  /**
   * Lets resources count so that the worth of a filling is bounded as tightly as one number for all resources can. Returns
   * the bound; where the way they counted last time bounds tightly enough, that is kept.
   */
  private tighten(offer: Offer, above: number): number {
    const { columns } = this;
    let weights = this.weights.get(offer);
    if (weights === undefined) {
      weights = new Float64Array(columns).fill(1 / columns);
      this.weights.set(offer, weights);
    }
    const known = this.arrange(offer, weights);
    if (known <= above) return known;
    this.roomWeights.find(offer.room, this.order.subarray(0, this.ordered), this.needs, this.worth);
    const { prices } = this.roomWeights;
    const before = Float64Array.from(weights);
    weights.set(sharesOf(prices));
    const found = this.arrange(offer, weights);
    if (found <= known) return found;
    weights.set(before);
    return this.arrange(offer, weights);
  }
}

/** In parts of one, so that what fits a node takes at most one of it. */
function sharesOf(prices: Float64Array): Float64Array {
  const whole = prices.reduce((sum, price) => sum + Math.max(0, price), 0);
  const weights = prices.map((price) => Math.max(leastWeight, price / whole));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}
