// A linear program as plain arrays, by column: minimise cost·x subject to rowLower ≤ Ax ≤ rowUpper, 0 ≤ x ≤ upper. Who
// solves it is someone else's business.

export interface LinearProgram {
  readonly cost: readonly number[];
  readonly upper: readonly number[];
  readonly rowLower: readonly number[];
  readonly rowUpper: readonly number[];
  /** Column j has the entries from starts[j] to starts[j + 1]. */
  readonly starts: readonly number[];
  readonly rows: readonly number[];
  readonly values: readonly number[];
}

export class LinearProgramBuilder {
  private readonly cost: number[] = [];
  private readonly upper: number[] = [];
  private readonly rowLower: number[] = [];
  private readonly rowUpper: number[] = [];
  private readonly starts: number[] = [0];
  private readonly rows: number[] = [];
  private readonly values: number[] = [];

  row(lower: number, upper: number): number {
    this.rowLower.push(lower);
    this.rowUpper.push(upper);
    return this.rowLower.length - 1;
  }

  column(cost: number, upper: number, entries: Iterable<readonly [row: number, value: number]>): void {
    this.cost.push(cost);
    this.upper.push(upper);
    for (const [row, value] of entries) {
      if (value === 0) continue;
      this.rows.push(row);
      this.values.push(value);
    }
    this.starts.push(this.rows.length);
  }

  build(): LinearProgram {
    const { cost, upper, rowLower, rowUpper, starts, rows, values } = this;
    return { cost, upper, rowLower, rowUpper, starts, rows, values };
  }
}
