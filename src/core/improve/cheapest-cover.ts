// The cheapest way to cover a demand with fractions of packages, and what each thing demanded is worth then: a linear
// programme and its dual. A package that sells for less than the worth of its contents would make the whole cheaper.
//
// Solved by the simplex method on the dual: one variable per thing demanded, one constraint per package, and the origin
// is feasible, so no first phase is needed.

export interface Package {
  readonly price: number;
  /** How much of each thing demanded it contains. */
  readonly contents: readonly number[];
}

export interface Cover {
  /** The worth of one of each thing demanded. */
  readonly worth: readonly number[];
  /** How many of each package, in fractions. */
  readonly amounts: readonly number[];
}

/** Far more pivots than are ever needed; stops cycling on degenerate input. */
const mostPivots = 2000;

/** Smaller than any gain worth having, larger than the dust of division. */
const tiny = 1e-9;

export function cheapestCover(demand: readonly number[], packages: readonly Package[]): Cover {
  const size = demand.length;
  const rows = packages.map(({ contents, price }) => Float64Array.from([...contents, price]));
  const objective = Float64Array.from([...demand, 0]);
  // Which variable stands in which column and row: 0 … size-1 are worths, the rest slacks of packages.
  const inColumn = Array.from({ length: size }, (_, at) => at);
  const inRow = packages.map((_, row) => size + row);
  for (let pivot = 0; pivot < mostPivots; pivot++) {
    const entering = mostPromising(objective, size);
    if (entering < 0) break;
    const leaving = tightest(rows, entering, size);
    // Nothing limits this worth: no package contains the thing.
    if (leaving < 0) break;
    exchange(rows, objective, leaving, entering);
    const variable = inRow[leaving] as number;
    inRow[leaving] = inColumn[entering] as number;
    inColumn[entering] = variable;
  }
  const worth = demand.map(() => 0);
  inRow.forEach((variable, row) => {
    if (variable < size) worth[variable] = (rows[row] as Float64Array)[size] as number;
  });
  const amounts = packages.map(() => 0);
  inColumn.forEach((variable, at) => {
    if (variable >= size) amounts[variable - size] = Math.max(0, -(objective[at] as number));
  });
  return { worth, amounts };
}

function mostPromising(objective: Float64Array, size: number): number {
  let best = -1;
  for (let at = 0; at < size; at++) {
    const gain = objective[at] as number;
    if (gain > tiny && (best < 0 || gain > (objective[best] as number))) best = at;
  }
  return best;
}

function tightest(rows: readonly Float64Array[], entering: number, size: number): number {
  let best = -1;
  let least = Number.POSITIVE_INFINITY;
  for (let row = 0; row < rows.length; row++) {
    const own = rows[row] as Float64Array;
    const weight = own[entering] as number;
    if (weight <= tiny) continue;
    const ratio = (own[size] as number) / weight;
    if (ratio < least) {
      least = ratio;
      best = row;
    }
  }
  return best;
}

/** The entering variable becomes basic in the leaving row; the one that was there takes its column. */
function exchange(rows: readonly Float64Array[], objective: Float64Array, leaving: number, entering: number): void {
  const own = rows[leaving] as Float64Array;
  const weight = own[entering] as number;
  for (let at = 0; at < own.length; at++) own[at] = (own[at] as number) / weight;
  own[entering] = 1 / weight;
  const eliminate = (row: Float64Array): void => {
    const factor = row[entering] as number;
    if (factor === 0) return;
    for (let at = 0; at < row.length; at++) {
      if (at !== entering) row[at] = (row[at] as number) - factor * (own[at] as number);
    }
    row[entering] = -factor / weight;
  };
  for (const row of rows) if (row !== own) eliminate(row);
  eliminate(objective);
}
