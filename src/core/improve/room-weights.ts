// How much each resource of a node counts when its pods may be cut: the prices of room, in parts of the whole node, that
// bound the worth of every filling most tightly. A linear programme with a row per resource, by the simplex method; there
// are only a few resources, so that each exchange is one look at all kinds.

/** Exchanges; most need about as many as there are resources. */
const mostExchanges = 24;
/** A kind must beat the prices by this part to be exchanged for. */
const leastGain = 1e-7;

export class RoomWeights {
  private readonly columns: number;
  private readonly inverse: Float64Array;
  /** The filling by parts of pods that has most worth: per place how much of which kind, or -1 for free room. */
  readonly amounts: Float64Array;
  readonly basic: Int32Array;
  /** Worth of what is in the basis; room that stays free is worth nothing. */
  private readonly gains: Float64Array;
  private readonly direction: Float64Array;
  readonly prices: Float64Array;

  constructor(columns: number) {
    this.columns = columns;
    this.inverse = new Float64Array(columns * columns);
    this.amounts = new Float64Array(columns);
    this.basic = new Int32Array(columns);
    this.gains = new Float64Array(columns);
    this.direction = new Float64Array(columns);
    this.prices = new Float64Array(columns);
  }

  /** Works out `prices`: `order` has the kinds, `needs` what each takes per column, row by row. */
  find(room: ArrayLike<number>, order: Int32Array, needs: Float64Array, worth: ArrayLike<number>): void {
    const { columns, inverse, amounts, gains, prices } = this;
    inverse.fill(0);
    for (let row = 0; row < columns; row++) inverse[row * columns + row] = 1;
    amounts.fill(1);
    this.basic.fill(-1);
    gains.fill(0);
    prices.fill(0);
    for (let exchange = 0; exchange < mostExchanges; exchange++) {
      let entering = -1;
      let most = 0;
      for (const kind of order) {
        const value = worth[kind] as number;
        let price = 0;
        for (let column = 0, at = kind * columns; column < columns; column++, at++) {
          const need = needs[at] as number;
          if (need > 0) price += ((prices[column] as number) * need) / (room[column] as number);
        }
        const gain = value - price;
        if (gain > most && gain > leastGain * value) {
          most = gain;
          entering = kind;
        }
      }
      if (entering < 0 || !this.exchange(room, needs, entering, worth[entering] as number)) return;
      for (let column = 0; column < columns; column++) {
        let price = 0;
        for (let row = 0; row < columns; row++) {
          price += (gains[row] as number) * (inverse[row * columns + column] as number);
        }
        prices[column] = price;
      }
    }
  }

  private exchange(room: ArrayLike<number>, needs: Float64Array, entering: number, worth: number): boolean {
    const { columns, inverse, amounts, gains, direction } = this;
    let leaving = -1;
    let least = Number.POSITIVE_INFINITY;
    for (let row = 0; row < columns; row++) {
      let step = 0;
      for (let column = 0; column < columns; column++) {
        const need = needs[entering * columns + column] as number;
        if (need > 0) step += ((inverse[row * columns + column] as number) * need) / (room[column] as number);
      }
      direction[row] = step;
      if (step <= 1e-12) continue;
      const ratio = (amounts[row] as number) / step;
      if (ratio < least - 1e-12 || (ratio < least + 1e-12 && step > (direction[leaving] as number))) {
        least = ratio;
        leaving = row;
      }
    }
    if (leaving < 0) return false;
    const pivot = direction[leaving] as number;
    for (let column = 0, at = leaving * columns; column < columns; column++, at++) {
      inverse[at] = (inverse[at] as number) / pivot;
    }
    amounts[leaving] = least;
    for (let row = 0; row < columns; row++) {
      const factor = direction[row] as number;
      if (row === leaving || factor === 0) continue;
      for (let column = 0; column < columns; column++) {
        const at = row * columns + column;
        inverse[at] = (inverse[at] as number) - factor * (inverse[leaving * columns + column] as number);
      }
      amounts[row] = Math.max(0, (amounts[row] as number) - factor * least);
    }
    gains[leaving] = worth;
    this.basic[leaving] = entering;
    return true;
  }
}
