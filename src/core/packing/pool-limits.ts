// Pool limits while planning. A type larger than what is left may not be launched; since it is not known which type a new
// node will get, the largest of its candidates is charged, resource by resource. The number of nodes is not charged here:
// types do not list it, and creation checks it again.

import { type Bitset, hasBit, membersOf } from '../../base/index.ts';
import type { InstanceType } from '../pools/instance-types.ts';
import type { Template } from '../pools/templates.ts';
import { at } from '../resources/resource-table.ts';
import { type Claim, usedFits } from './claim.ts';

interface PoolLimit {
  left: number;
  /** Capacity of the limited resource by row. */
  readonly capacity: Float64Array;
  readonly most: number;
  /** Rows, the largest first. */
  readonly descending: Int32Array;
}

export class PoolLimits {
  private readonly limits: (PoolLimit[] | undefined)[];
  private readonly rows: (Bitset | undefined)[];

  constructor(templates: readonly Template[]) {
    this.limits = templates.map(limitsOf);
    this.rows = templates.map(() => undefined);
  }

  /** The rows a new node of the template may use; undefined if its number of nodes is used up. */
  rowsWithin(template: Template): Bitset | undefined {
    const limits = this.limits[template.index];
    if (limits === undefined) return template.viable;
    const nodes = template.limits?.nodes ?? 1;
    if (nodes === 0) return undefined;
    if (nodes > 0 && limits.every(({ left, most }) => most <= left)) return template.viable;
    let rows = this.rows[template.index];
    if (rows === undefined) {
      rows = new Uint32Array(template.viable.length);
      for (const row of nodes < 0 ? [] : membersOf(template.viable)) {
        const fits = limits.every(({ left, capacity }) => (capacity[row] as number) <= left);
        if (fits) rows[row >>> 5] = (rows[row >>> 5] as number) | (1 << (row & 31));
      }
      this.rows[template.index] = rows;
    }
    return rows;
  }

  /** Charges a new node with the most any of its candidate rows has. */
  charge(template: Template, isCandidate: (row: number) => boolean): void {
    const limits = this.limits[template.index];
    if (limits === undefined) return;
    for (const limit of limits) limit.left -= largestOf(limit, isCandidate);
    this.rows[template.index] = undefined;
  }

  /** Whether the pool may have these nodes instead of those, charging each with its largest candidate. */
  wouldAllow(template: Template, given: readonly Claim[], taken: readonly Claim[]): boolean {
    const limits = this.limits[template.index] ?? [];
    return limits.every((limit) => {
      const chargeOf = (claim: Claim): number => {
        const matching = template.rows.matching(claim.set);
        return largestOf(limit, (row) => hasBit(matching, row) && hasBit(claim.rows, row) && usedFits(claim, row));
      };
      const sum = (claims: readonly Claim[]): number => claims.reduce((total, claim) => total + chargeOf(claim), 0);
      return limit.left + sum(given) - sum(taken) >= 0;
    });
  }
}

function largestOf(limit: PoolLimit, isCandidate: (row: number) => boolean): number {
  const largest = limit.descending.find(isCandidate);
  return largest === undefined ? 0 : (limit.capacity[largest] as number);
}

function limitsOf(template: Template): PoolLimit[] | undefined {
  const { limits, rows } = template;
  return limits?.columns.map((column, index) => {
    const capacity = Float64Array.from(rows.typeOf, (type) => at((rows.types[type] as InstanceType).capacity, column));
    const sizeOf = (row: number): number => capacity[row] as number;
    const descending = Int32Array.from(capacity.keys()).sort((left, right) => sizeOf(right) - sizeOf(left));
    return { left: limits.amounts[index] as number, capacity, most: capacity[descending[0] ?? 0] ?? 0, descending };
  });
}
