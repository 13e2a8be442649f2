// Pool limits while planning. A type larger than what is left may not be launched; since it is not known which type a new
// node will get, the largest of its candidates is charged, resource by resource, and each new node is one of `nodes`.
//
// Where that leaves pods without a place, nodes give up their largest types, step by step down to the size of the
// cheapest, until the pods fit or nothing can be given up: the plan uses the limit, and no choice of types exceeds it.
//
// Limits can also be counted afterwards: nodes are packed as if each were the only one, and `fit` says whether the pool may
// have them all.

import { type Bitset, hasBit, membersOf } from '../../base/index.ts';
import type { InstanceType } from '../pools/instance-types.ts';
import { unmetMinValues } from '../pools/min-values.ts';
import type { Template } from '../pools/templates.ts';
import { at } from '../resources/resource-table.ts';
import { type NewNode, rowsWithRoom, typesOfRows, usedFits } from './new-node.ts';

interface PoolLimit {
  readonly column: number;
  left: number;
  readonly atFirst: number;
  /** Capacity of the limited resource by row. */
  readonly capacity: Float64Array;
  readonly most: number;
  /** Rows, the largest first. */
  readonly descending: Int32Array;
}

interface LimitedPool {
  readonly limits: readonly PoolLimit[];
  /** Infinite without a limit on nodes. */
  nodes: number;
}

/** How much larger than its cheapest type a node may be, at each step of giving up types. */
const slack = [4, 2, 1];

export class PoolLimits {
  private readonly pools: (LimitedPool | undefined)[];
  private readonly rows: (Bitset | undefined)[];
  /** By new node: what was charged for it, in the order of the pool's limits. */
  private readonly charges: number[][] = [];
  private step = 0;
  /** Nodes that are started now do without their largest types at once. */
  private isGivingUp = false;
  /** As it was before. */
  private givenUp: { newNode: NewNode; rows: Bitset; charges: number[] }[] = [];

  /** What new nodes were charged with kept a type from others. */
  isShort = false;
  private readonly countsAfterwards: boolean;

  constructor(templates: readonly Template[], { countsAfterwards = false } = {}) {
    this.countsAfterwards = countsAfterwards;
    this.pools = templates.map(limitedPool);
    this.rows = templates.map(() => undefined);
  }

  /** The rows a new node of the template may use; undefined if its number of nodes is used up. */
  rowsWithin(template: Template): Bitset | undefined {
    const pool = this.pools[template.index];
    if (pool === undefined) return template.viable;
    const { limits, nodes } = pool;
    if (nodes === 0) return undefined;
    if (nodes > 0 && limits.every(({ left, most }) => most <= left)) return template.viable;
    let rows = this.rows[template.index];
    if (rows === undefined) {
      rows = new Uint32Array(template.viable.length);
      for (const row of nodes < 0 ? [] : membersOf(template.viable)) {
        const fits = limits.every(({ left, capacity }) => (capacity[row] as number) <= left);
        if (fits) rows[row >>> 5] = (rows[row >>> 5] as number) | (1 << (row & 31));
        else this.isShort ||= limits.every(({ atFirst, capacity }) => (capacity[row] as number) <= atFirst);
      }
      this.rows[template.index] = rows;
    }
    return rows;
  }

  /**
   * By resource column what is left, for the template's limits that leave less than its largest type. For people: nodes of
   * this plan count as the cheapest type they may become, which is what they are most likely to take.
   */
  scarce(template: Template, newNodes: readonly NewNode[]): { column: number; left: number }[] {
    const limits = this.pools[template.index]?.limits ?? [];
    const own = newNodes.filter(
      (newNode) => newNode.template === template && this.charges[newNode.index] !== undefined,
    );
    const cheapest = own.map((newNode) =>
      cheapestOf(newNode, rowsWithRoom(newNode, newNode.rows, template.rows.matching(newNode.set), undefined)),
    );
    return limits.flatMap(({ column, left, most, capacity }, index) => {
      if (most <= left) return [];
      const unused = own.map((newNode, at) => {
        const charge = this.charges[newNode.index]?.[index] ?? 0;
        return charge - (capacity[cheapest[at] ?? -1] ?? charge);
      });
      return [{ column, left: unused.reduce((sum, each) => sum + each, left) }];
    });
  }

  /** Charges a new node with the most any of its candidate rows has. */
  charge(newNode: NewNode): void {
    const pool = this.pools[newNode.template.index];
    if (pool === undefined || this.countsAfterwards) return;
    this.charges[newNode.index] = pool.limits.map((limit) => {
      const charge = chargeOf(limit, newNode);
      limit.left -= charge;
      return charge;
    });
    pool.nodes -= 1;
    this.rows[newNode.template.index] = undefined;
    if (this.isGivingUp) this.giveUp(newNode, slack[this.step] as number);
  }

  /**
   * Lets nodes of these templates give up large types. False when there is nothing left to give up; otherwise more nodes
   * may fit now, and asking again gives up more.
   */
  giveUpTypes(newNodes: readonly NewNode[], templates: ReadonlySet<Template>): boolean {
    for (; this.step < slack.length; this.step += 1) {
      let gained = false;
      for (const newNode of newNodes) {
        if (templates.has(newNode.template) && this.giveUp(newNode, slack[this.step] as number)) gained = true;
      }
      this.isGivingUp = gained;
      if (gained) return true;
    }
    return false;
  }

  /** After giving up: what was given up stays so if it `helped`, and nodes that came since are asked next time. */
  settle(helped: boolean): void {
    for (const { newNode, rows, charges } of helped ? [] : this.givenUp.reverse()) {
      const pool = this.pools[newNode.template.index] as LimitedPool;
      const now = this.charges[newNode.index] as number[];
      for (const [index, limit] of pool.limits.entries())
        limit.left += (now[index] as number) - (charges[index] as number);
      this.charges[newNode.index] = charges;
      this.rows[newNode.template.index] = undefined;
      newNode.rows = rows;
    }
    this.givenUp = [];
    this.step = 0;
    this.isGivingUp = false;
  }

  private giveUp(newNode: NewNode, times: number): boolean {
    const { template } = newNode;
    const pool = this.pools[template.index];
    const charges = this.charges[newNode.index];
    if (pool === undefined || charges === undefined || pool.nodes <= 0 || newNode.held.size > 0) return false;
    if (this.rowsWithin(template) === template.viable) return false;
    const smaller = withoutLarge(pool, newNode, times);
    if (smaller === undefined) return false;
    const now = pool.limits.map((limit) => largestOf(limit, (row) => hasBit(smaller.rows, row)));
    if (now.every((charge, index) => charge >= (charges[index] as number))) return false;
    for (const [index, limit] of pool.limits.entries())
      limit.left += (charges[index] as number) - (now[index] as number);
    this.givenUp.push({ newNode, rows: newNode.rows, charges });
    this.charges[newNode.index] = now;
    newNode.rows = smaller.rows;
    newNode.witness = smaller.witness;
    this.rows[template.index] = undefined;
    return true;
  }

  /** The rows a node may use if the pool had none of the given ones; undefined if it may have no node then. */
  rowsInstead(template: Template, given: readonly NewNode[]): Bitset | undefined {
    const pool = this.pools[template.index];
    if (pool === undefined) return template.viable;
    if (pool.nodes + given.length <= 0) return undefined;
    const room = this.roomWithout(pool, given);
    if (pool.limits.every(({ most }, index) => most <= (room[index] as number))) return template.viable;
    const rows = new Uint32Array(template.viable.length);
    for (const row of membersOf(template.viable)) {
      const fits = pool.limits.every(({ capacity }, index) => (capacity[row] as number) <= (room[index] as number));
      if (fits) rows[row >>> 5] = (rows[row >>> 5] as number) | (1 << (row & 31));
    }
    return rows;
  }

  /**
   * These nodes instead of the given ones, charging each with its largest candidate: as they are, or without their largest
   * types where the pool could not have them all otherwise; undefined if not even so.
   */
  fit(template: Template, given: readonly NewNode[], taken: readonly NewNode[]): readonly NewNode[] | undefined {
    const pool = this.pools[template.index];
    if (pool === undefined || taken.length === 0) return taken;
    if (taken.length > given.length && pool.nodes + given.length < taken.length) return undefined;
    const room = this.roomWithout(pool, given);
    const areWithin = (newNodes: readonly NewNode[]): boolean =>
      pool.limits.every((limit, index) => {
        const sum = newNodes.reduce((total, each) => total + chargeOf(limit, each), 0);
        return sum <= (room[index] as number);
      });
    if (areWithin(taken)) return taken;
    for (const times of slack) {
      // What holds a reservation is launched from it: its types are not a choice.
      const smaller = taken.map((newNode) =>
        newNode.held.size > 0 ? newNode : { ...newNode, ...withoutLarge(pool, newNode, times) },
      );
      if (areWithin(smaller)) return smaller;
    }
    return undefined;
  }

  /** By limit: what would be left without the given nodes. */
  private roomWithout({ limits }: LimitedPool, given: readonly NewNode[]): number[] {
    return limits.map(({ left }, index) =>
      given.reduce((sum, { index: own }) => sum + (this.charges[own]?.[index] ?? 0), left),
    );
  }
}

/** What is left of a node's rows without those much larger than its cheapest; undefined where it needs them. */
function withoutLarge(
  pool: LimitedPool,
  newNode: NewNode,
  times: number,
): Pick<NewNode, 'rows' | 'witness'> | undefined {
  const { template } = newNode;
  const open = rowsWithRoom(newNode, newNode.rows, template.rows.matching(newNode.set), undefined);
  const cheapest = cheapestOf(newNode, open);
  if (cheapest < 0) return undefined;
  const isSmall = (row: number): boolean =>
    pool.limits.every(({ capacity }) => (capacity[row] as number) <= (capacity[cheapest] as number) * times);
  const rows = new Uint32Array(newNode.rows.length);
  for (const row of membersOf(open))
    if (isSmall(row)) rows[row >>> 5] = (rows[row >>> 5] as number) | (1 << (row & 31));
  if (newNode.set.hasMinValues && unmetMinValues(newNode.set, typesOfRows(template, rows)).size > 0) return undefined;
  return { rows, witness: cheapest };
}

function chargeOf(limit: PoolLimit, newNode: NewNode): number {
  const matching = newNode.template.rows.matching(newNode.set);
  return largestOf(limit, (row) => hasBit(matching, row) && hasBit(newNode.rows, row) && usedFits(newNode, row));
}

function largestOf(limit: PoolLimit, isCandidate: (row: number) => boolean): number {
  const largest = limit.descending.find(isCandidate);
  return largest === undefined ? 0 : (limit.capacity[largest] as number);
}

function cheapestOf({ template, set }: NewNode, rows: Bitset): number {
  const prices = template.rows.cheapest(set);
  let best = -1;
  for (const row of membersOf(rows)) {
    const price = prices[row]?.price;
    if (price !== undefined && (best < 0 || price < (prices[best]?.price ?? 0))) best = row;
  }
  return best;
}

function limitedPool({ limits, rows }: Template): LimitedPool | undefined {
  if (limits === undefined) return undefined;
  return {
    nodes: limits.nodes ?? Number.POSITIVE_INFINITY,
    limits: limits.columns.map((column, index) => {
      const capacity = Float64Array.from(rows.typeOf, (type) =>
        at((rows.types[type] as InstanceType).capacity, column),
      );
      const sizeOf = (row: number): number => capacity[row] as number;
      const descending = Int32Array.from(capacity.keys()).sort((left, right) => sizeOf(right) - sizeOf(left));
      return {
        column,
        left: limits.amounts[index] as number,
        atFirst: limits.amounts[index] as number,
        capacity,
        most: capacity[descending[0] ?? 0] ?? 0,
        descending,
      };
    }),
  };
}
