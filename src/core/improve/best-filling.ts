// The filling of one node that is worth most: a knapsack with several resources. Kinds of pods are tried by worth for the
// room they take, each as often as fits and then less often; branches that cannot beat what is known are abandoned. How
// much a resource counts as room is worked out per offer so that the bound is tight. Exact for nodes that hold few pods, a
// good try for large ones; bounded by steps, never by time.
//
// Promises: a filling keeps room, counts and host rules; `atMost` is never below the worth of any filling.

import { KindOrder, type KindsLeft } from './kind-order.ts';
import { NodeLoad } from './node-load.ts';
import type { Kind, Offer } from './pile.ts';
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
/** Kinds that fit and are compared before one is added: those worth most for their room come first. */
const mostCompared = 300;
const mostComparedOfMany = 96;

export class FillingSearch {
  /** Steps taken so far: the unit its work is counted in. */
  steps = 0;
  /** Looks at a kind of pods so far: what time goes into where there are many kinds. */
  looks = 0;
  private readonly columns: number;
  private readonly mostCompared: number;
  private readonly load: NodeLoad;
  private readonly weights = new Map<Offer, Float64Array>();
  // Scratch space, used by one search at a time.
  private readonly kinds: KindOrder;
  private readonly order: Int32Array;
  private readonly roomWeights: RoomWeights;
  /** What the branch that is being tried has of each kind. */
  private readonly tried: Int32Array;
  private bestKinds: number[] = [];
  private bestCounts: number[] = [];
  private best = 0;
  private cut = 0;
  private stepsLeft = 0;
  private left: ArrayLike<number> = [];
  private worth: ArrayLike<number> = [];

  constructor(kinds: readonly Kind[], columns: number) {
    this.columns = columns;
    this.load = new NodeLoad(kinds, columns);
    this.roomWeights = new RoomWeights(columns);
    this.kinds = new KindOrder(kinds.length, columns, this.load.needs);
    this.order = this.kinds.order;
    this.tried = new Int32Array(kinds.length);
    this.mostCompared = kinds.length > mostCompared ? mostComparedOfMany : mostCompared;
  }

  /**
   * `left`: how many pods of each kind there are; `worth`: what one of each is worth. Undefined if it is certain that no
   * filling is worth more than `above`. `remembered`: for a caller whose worths stay and whose pods only become fewer.
   */
  find(
    offer: Offer,
    left: ArrayLike<number>,
    worth: ArrayLike<number>,
    above: number,
    mostSteps: number,
    remembered?: KindsLeft,
  ): Found | undefined {
    this.left = left;
    this.worth = worth;
    this.looks += this.kinds.gather(offer, left, worth, remembered);
    if (this.tighten(offer, above) <= above) return undefined;
    this.kinds.sort(worth);
    const root = this.fractional(0, 1);
    if (root <= above) return undefined;
    this.load.rest.set(offer.room);
    this.best = 0;
    this.bestKinds = [];
    this.bestCounts = [];
    this.cut = 0;
    this.stepsLeft = mostSteps;
    this.fillAndExchange();
    if (this.best * (1 + dust) < root) this.search(0, 0, 1);
    this.steps += mostSteps - this.stepsLeft;
    const { bestKinds, bestCounts } = this;
    const sorted = [...bestKinds.keys()].sort((a, b) => (bestKinds[a] as number) - (bestKinds[b] as number));
    const atMost = this.stepsLeft > 0 ? this.best * (1 + dust) : Math.min(root, Math.max(this.best, this.cut));
    return {
      worth: this.best,
      atMost,
      kinds: sorted.map((at) => bestKinds[at] as number),
      counts: sorted.map((at) => bestCounts[at] as number),
    };
  }

  /** Fills the node by what is worth most for the room still free, then takes out each kind in turn and fills again. */
  private fillAndExchange(): void {
    const { load, worth } = this;
    const { takes } = load;
    this.keepIfBetter(this.fill(-1));
    load.clear();
    this.keepIfBetter(this.takeWhole());
    this.restoreBest();
    let value = this.best;
    // Where there are many, one more or less matters little.
    const passes = load.pods <= fewPods && this.kinds.ordered <= fewKinds ? mostPasses : 0;
    for (let pass = 0, again = true; again && pass < passes; pass++) {
      again = false;
      for (const kind of this.bestKinds.slice()) {
        const count = takes[kind] as number;
        if (count === 0) continue;
        for (const taken of count > 1 ? [1, count] : [1]) {
          load.put(kind, -taken);
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
    load.clear();
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
      this.load.put(kind, count);
      value += count * (this.worth[kind] as number);
    }
    return value + this.fill(-1);
  }

  /** Adds pods of other kinds while some fit, several equal ones at once, fewer the fuller the node is. */
  private fill(except: number): number {
    const { order, worth, columns } = this;
    const { ordered, alikeUntil } = this.kinds;
    const { needs, rest } = this.load;
    let value = 0;
    for (;;) {
      let best = -1;
      let bestScore = 0;
      let bestFits = 0;
      let compared = 0;
      let looks = 0;
      for (let at = 0; at < ordered && compared < this.mostCompared; ) {
        let until = alikeUntil[at] as number;
        const start = (order[at] as number) * columns;
        let part = 0;
        looks += 1;
        for (let column = 0; column < columns; column++) {
          const need = needs[start + column] as number;
          if (need > 0) part += need / (rest[column] as number);
        }
        // Of each resource at most the whole rest is taken by what fits.
        const fitsAtAll = part <= columns && part >= 0;
        const score = (worth[order[at] as number] as number) / part;
        if (fitsAtAll) {
          until = Math.min(until, at + this.mostCompared - compared);
          compared += until - at;
        }
        if (!fitsAtAll || !(score > bestScore)) {
          at = until;
          continue;
        }
        for (; at < until; at++) {
          const kind = order[at] as number;
          if (kind === except) continue;
          looks += 1;
          const fitting = this.howMany(kind);
          if (fitting <= 0) continue;
          best = kind;
          bestScore = score;
          bestFits = fitting;
          break;
        }
        at = until;
      }
      this.looks += looks;
      this.stepsLeft -= 1;
      if (best < 0) return value;
      const count = Math.max(1, bestFits >> 1);
      this.load.put(best, count);
      value += count * (worth[best] as number);
    }
  }

  private howMany(kind: number): number {
    return this.load.howMany(kind, this.left[kind] as number);
  }

  private keepIfBetter(value: number): void {
    if (value <= this.best * (1 + dust)) return;
    this.best = value;
    this.bestKinds = [...this.load.present];
    this.bestCounts = this.bestKinds.map((kind) => this.load.takes[kind] as number);
  }

  private restoreBest(): void {
    this.load.clear();
    this.bestKinds.forEach((kind, at) => this.load.put(kind, this.bestCounts[at] as number));
  }

  private search(at: number, value: number, partLeft: number): void {
    const { load, tried } = this;
    const { ordered, density, part: parts, alikeUntil } = this.kinds;
    if (value > this.best * (1 + dust)) {
      this.best = value;
      this.bestKinds = [...this.order.subarray(0, at)].filter((kind) => (tried[kind] as number) > 0);
      this.bestCounts = this.bestKinds.map((kind) => tried[kind] as number);
    }
    let next = at;
    // Kinds that do not fit any more are passed over without going deeper.
    let kind = -1;
    let fitting = 0;
    for (; next < ordered; next++) {
      kind = this.order[next] as number;
      if (value + this.fractional(next, partLeft) <= this.best * (1 + dust)) return;
      fitting = this.howMany(kind);
      if (fitting > 0) break;
      if (!load.hasRoomFor(kind)) next = (alikeUntil[next] as number) - 1;
    }
    if (next >= ordered) return;
    const own = this.worth[kind] as number;
    const part = parts[kind] as number;
    const following = next + 1 < ordered ? (density[this.order[next + 1] as number] as number) : 0;
    for (let count = fitting; count >= 0; count--) {
      const rest = partLeft - count * part;
      // With fewer of these the rest is filled with what is worth less for its room.
      if (count < fitting && value + count * own + rest * following <= this.best * (1 + dust)) break;
      if (this.stepsLeft-- <= 0) {
        this.cut = Math.max(this.cut, value + this.fractional(next, partLeft));
        break;
      }
      tried[kind] = count;
      load.change(kind, -count);
      const before = load.hasHostRules && count > 0 ? load.board(kind, count) : undefined;
      this.search(next + 1, value + count * own, rest);
      if (before !== undefined) load.leave(kind, count, before);
      load.change(kind, count);
    }
    tried[kind] = 0;
  }

  /** What the rest could be worth if pods could be cut: no filling of it is worth more. */
  private fractional(from: number, partLeft: number): number {
    const { ordered, density, part } = this.kinds;
    let value = 0;
    let rest = partLeft;
    for (let at = from; at < ordered && rest > 0; at++) {
      const kind = this.order[at] as number;
      const all = (part[kind] as number) * (this.left[kind] as number);
      if (all >= rest) return value + rest * (density[kind] as number);
      value += (this.worth[kind] as number) * (this.left[kind] as number);
      rest -= all;
    }
    return value;
  }

  /**
   * Lets resources count so that the worth of a filling is bounded as tightly as one number for all resources can. Returns
   * the bound; where the way they counted last time bounds tightly enough, that is kept.
   */
  private tighten(offer: Offer, above: number): number {
    const { columns, kinds, worth } = this;
    let weights = this.weights.get(offer);
    if (weights === undefined) {
      weights = new Float64Array(columns).fill(1 / columns);
      this.weights.set(offer, weights);
    }
    const known = kinds.most(offer, weights, worth);
    if (known <= above) return known;
    this.roomWeights.find(offer.room, kinds.worthiest, this.load.needs, worth);
    const { prices } = this.roomWeights;
    const before = Float64Array.from(weights);
    weights.set(sharesOf(prices));
    const found = kinds.most(offer, weights, worth);
    if (found <= known) return found;
    weights.set(before);
    return kinds.most(offer, weights, worth);
  }
}

/** In parts of one, so that what fits a node takes at most one of it. */
function sharesOf(prices: Float64Array): Float64Array {
  const whole = prices.reduce((sum, price) => sum + Math.max(0, price), 0);
  const weights = prices.map((price) => Math.max(leastWeight, price / whole));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}
