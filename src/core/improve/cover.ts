// The cheapest way to cover a demand with fractions of packages, and what each thing demanded is worth then: a linear
// programme and its dual, by the revised simplex method. Packages can be added at any time; the cover goes on from where
// it is, which is what makes looking for better packages cheap.
//
// Promises: the cover always meets the demand; its price is the worth of the demand; no package that was offered sells
// for less than its contents are worth once `improve` finds nothing more.

export interface Package {
  readonly price: number;
  /** Which things it contains, each once, and how many of each. */
  readonly kinds: readonly number[];
  readonly counts: readonly number[];
}

/** Smaller than any gain worth having, larger than the dust of division. */
const tiny = 1e-9;

/** A package that beats its price by less than this part is left where it is: exchanges for dust never end. */
const leastGain = 1e-5;

/** After so many exchanges worths have changed enough to look again at all packages. */
const triedAtOnce = 8;

/**
 * Each thing is demanded by an uneven trifle more. Where many packages would be used up at the same moment, exchanges
 * otherwise go round in circles without changing anything.
 */
const perturbation = 1e-6;

/** Giving away what was covered too much of costs nothing. */
const surplus = -1;

export class Cover<P extends Package> {
  /** The worth of one of each thing; of things no one wants, nothing. */
  readonly worth: Float64Array;
  readonly packages: P[];
  /** Exchanges made so far: the unit its work is counted in. */
  pivots = 0;
  /** Things wanted, and per thing its position among them or -1. */
  private readonly things: Int32Array;
  private readonly positions: Int32Array;
  private readonly size: number;
  /** The inverse of the matrix of basic packages, row by row. */
  private readonly inverse: Float64Array;
  private readonly amounts: Float64Array;
  /** Per basic position the package, or `surplus`. */
  private readonly basic: Int32Array;
  private readonly isBasic: boolean[];
  private readonly direction: Float64Array;

  /** `alone` has, for each thing wanted, a package with it and nothing else: enough to cover everything somehow. */
  constructor(demand: ArrayLike<number>, alone: readonly P[]) {
    this.things = Int32Array.from(alone, ({ kinds }) => kinds[0] as number);
    this.positions = new Int32Array(demand.length).fill(-1);
    const size = alone.length;
    this.size = size;
    this.packages = [...alone];
    this.isBasic = alone.map(() => true);
    this.inverse = new Float64Array(size * size);
    this.amounts = new Float64Array(size);
    this.worth = new Float64Array(demand.length);
    this.direction = new Float64Array(size);
    this.basic = Int32Array.from({ length: size }, (_, at) => at);
    for (let at = 0; at < size; at++) {
      const { price, counts } = alone[at] as P;
      const count = counts[0] as number;
      const thing = this.things[at] as number;
      this.positions[thing] = at;
      this.inverse[at * size + at] = 1 / count;
      this.amounts[at] = ((demand[thing] as number) * (1 + perturbation * (1 + ((at * 0.618034) % 1)))) / count;
      this.worth[thing] = price / count;
    }
  }

  get price(): number {
    let sum = 0;
    for (let at = 0; at < this.size; at++) {
      const own = this.basic[at] as number;
      if (own !== surplus) sum += (this.packages[own] as P).price * (this.amounts[at] as number);
    }
    return sum;
  }

  /** What its contents are worth now. */
  worthOf({ kinds, counts }: Package): number {
    let value = 0;
    for (let at = 0; at < kinds.length; at++) {
      value += (counts[at] as number) * (this.worth[kinds[at] as number] as number);
    }
    return value;
  }

  /** Makes the package known; it is used if that makes the cover cheaper. */
  offer(added: P): void {
    this.packages.push(added);
    this.isBasic.push(false);
    this.tryPackage(this.packages.length - 1);
  }

  /** Uses known packages better, those that gain most first, for at most so many exchanges. */
  improve(mostPivots: number): void {
    const until = this.pivots + mostPivots;
    this.refreshWorth();
    for (let again = true; again && this.pivots < until; ) {
      again = false;
      for (let at = 0; at < this.size; at++) {
        if ((this.worth[this.things[at] as number] as number) < -tiny && this.trySurplus(at)) again = true;
      }
      for (const index of this.mostGaining()) {
        if (this.pivots < until && this.tryPackage(index)) again = true;
      }
    }
  }

  /** Many small changes leave dust; worked out anew it is gone. */
  private refreshWorth(): void {
    const { size, inverse, worth, things } = this;
    const fresh = new Float64Array(size);
    for (let row = 0; row < size; row++) {
      const own = this.basic[row] as number;
      const price = own === surplus ? 0 : (this.packages[own] as P).price;
      if (price === 0) continue;
      for (let at = 0, from = row * size; at < size; at++, from++) {
        fresh[at] = (fresh[at] as number) + price * (inverse[from] as number);
      }
    }
    for (let at = 0; at < size; at++) worth[things[at] as number] = fresh[at] as number;
  }

  /** Packages that sell below the worth of their contents, by how much of their price. */
  private mostGaining(): number[] {
    const gains: { index: number; gain: number }[] = [];
    for (let index = 0; index < this.packages.length; index++) {
      if (this.isBasic[index]) continue;
      const own = this.packages[index] as P;
      const gain = this.worthOf(own) / own.price - 1;
      if (gain > leastGain) gains.push({ index, gain });
    }
    gains.sort((left, right) => right.gain - left.gain || left.index - right.index);
    return gains.slice(0, triedAtOnce).map(({ index }) => index);
  }

  /** The packages in use with their amounts, by position. */
  *used(): Generator<{ readonly taken: P; readonly amount: number }> {
    for (let at = 0; at < this.size; at++) {
      const own = this.basic[at] as number;
      const amount = this.amounts[at] as number;
      if (own !== surplus && amount > tiny) yield { taken: this.packages[own] as P, amount };
    }
  }

  private tryPackage(index: number): boolean {
    const own = this.packages[index] as P;
    const gain = this.worthOf(own) - own.price;
    if (gain <= leastGain * own.price) return false;
    const { size, inverse, direction, positions } = this;
    const { kinds, counts } = own;
    direction.fill(0);
    for (let at = 0; at < kinds.length; at++) {
      const position = positions[kinds[at] as number] as number;
      if (position < 0) continue;
      const count = counts[at] as number;
      for (let row = 0, from = position; row < size; row++, from += size) {
        direction[row] = (direction[row] as number) + count * (inverse[from] as number);
      }
    }
    return this.exchange(index, gain);
  }

  private trySurplus(position: number): boolean {
    const { size, inverse, direction } = this;
    for (let row = 0; row < size; row++) direction[row] = -(inverse[row * size + position] as number);
    return this.exchange(surplus, -(this.worth[this.things[position] as number] as number));
  }

  /** The entering package, whose direction is worked out, takes the place of the one that is used up first. */
  private exchange(entering: number, gain: number): boolean {
    const { size, inverse, direction, amounts, worth } = this;
    let leaving = -1;
    let least = Number.POSITIVE_INFINITY;
    for (let row = 0; row < size; row++) {
      const step = direction[row] as number;
      if (step <= 1e-6) continue;
      const ratio = (amounts[row] as number) / step;
      // Of equal ones the largest step: it divides with the least dust.
      if (ratio < least - 1e-12 || (ratio < least + 1e-12 && step > (direction[leaving] as number))) {
        least = ratio;
        leaving = row;
      }
    }
    if (leaving < 0) return false;
    this.pivots += 1;
    const pivot = direction[leaving] as number;
    const from = leaving * size;
    for (let at = 0; at < size; at++) inverse[from + at] = (inverse[from + at] as number) / pivot;
    const amount = Math.max(0, (amounts[leaving] as number) / pivot);
    for (let row = 0; row < size; row++) {
      const factor = direction[row] as number;
      if (row === leaving || factor === 0) continue;
      const start = row * size;
      for (let at = 0; at < size; at++) {
        const value = inverse[from + at] as number;
        if (value !== 0) inverse[start + at] = (inverse[start + at] as number) - factor * value;
      }
      amounts[row] = Math.max(0, (amounts[row] as number) - factor * amount);
    }
    amounts[leaving] = amount;
    // What is gained per unit is taken off the worth of what the leaving package was paid for.
    for (let at = 0; at < size; at++) {
      const thing = this.things[at] as number;
      worth[thing] = (worth[thing] as number) - gain * (inverse[from + at] as number);
    }
    const before = this.basic[leaving] as number;
    if (before !== surplus) this.isBasic[before] = false;
    this.basic[leaving] = entering;
    if (entering !== surplus) this.isBasic[entering] = true;
    return true;
  }
}
