// NodePool limits: the one place that decides what counts against them and what is left. Planning, launching, static pools
// and the pool's status all ask here.
//
// 1. Every machine of the pool counts with its capacity, and as one of `nodes`.
// 2. A launch under way counts as the largest machine it may become, until it is known what it became.
// 3. Machines that leave do not count in dynamic pools: their room is free for what replaces them. In static pools, where
//    `nodes` caps machines that are exchanged one for one, they count until they are gone.
// 4. A limit is a Kubernetes quantity, `nodes` too: `1k` is a thousand nodes.

import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  quantityIn,
} from '../../base/index.ts';
import type { ResourceTable } from '../resources/resource-table.ts';
import type { ResourceQuantities } from '../snapshot.ts';
import type { RemainingLimits } from './templates.ts';

/** The limit on the number of nodes, beside the resources. */
export const nodeLimit = 'nodes';

interface LimitedPool {
  spec?: { limits?: ResourceQuantities | undefined; replicas?: number | null | undefined } | undefined;
}

/** Whether a machine that leaves still uses the limits of its pool. */
export function countsWhileLeaving({ spec }: LimitedPool): boolean {
  return spec?.replicas !== undefined && spec.replicas !== null;
}

/** What these machines use together: their resources, and each of them one node. Only the `names` asked for, or all. */
export function useOf(machines: Iterable<ResourceQuantities>, names?: Iterable<string>): Record<string, string> {
  const sums = new Map<string, Quantity>();
  for (const name of names ?? []) sums.set(name, zero);
  let nodes = 0;
  for (const machine of machines) {
    // Several machines may be given as one, with how many they are.
    nodes += machine[nodeLimit] === undefined ? 1 : quantityIn('units', read(machine[nodeLimit]));
    for (const name in machine) {
      const sum = sums.get(name);
      if (name === nodeLimit || (names !== undefined && sum === undefined)) continue;
      sums.set(name, addQuantities(sum ?? zero, read(machine[name] as string | number)));
    }
  }
  sums.set(nodeLimit, parseQuantity(nodes));
  return Object.fromEntries([...sums].map(([name, sum]) => [name, formatQuantity(sum)]));
}

export interface ExceededLimit {
  resource: string;
  limit: string | number;
  usage: string;
}

/** The first limit that such a use exceeds. */
export function exceededLimit({ spec }: LimitedPool, inUse: ResourceQuantities): ExceededLimit | undefined {
  for (const [resource, limit] of Object.entries(spec?.limits ?? {})) {
    const usage = parseQuantity(inUse[resource] ?? 0);
    if (compareQuantities(usage, parseQuantity(limit)) > 0) return { resource, limit, usage: formatQuantity(usage) };
  }
  return undefined;
}

/** How many more nodes the pool may have than those in use; infinite without a limit. */
export function nodesLeft({ spec }: LimitedPool, inUse: number): number {
  const limit = spec?.limits?.[nodeLimit];
  return limit === undefined ? Number.POSITIVE_INFINITY : quantityIn('units', parseQuantity(limit)) - inUse;
}

/** What the pool may still grow by, in the planner's columns; undefined without limits. */
export function remainingLimits(
  { spec }: LimitedPool,
  inUse: ResourceQuantities,
  resources: ResourceTable,
): RemainingLimits | undefined {
  const limits = Object.entries(spec?.limits ?? {});
  if (limits.length === 0) return undefined;
  const columns: number[] = [];
  const amounts: number[] = [];
  let nodes: number | undefined;
  for (const [name, limit] of limits) {
    const left = resources.amount(name, limit) - resources.amount(name, inUse[name] ?? 0);
    if (name === nodeLimit) nodes = left;
    else {
      columns.push(resources.column(name));
      amounts.push(left);
    }
  }
  return { columns, amounts, nodes };
}

const zero = parseQuantity(0);

/** Thousands of machines have a few dozen sizes between them. */
const quantities = new Map<string | number, Quantity>();
const mostRemembered = 10_000;

function read(text: string | number): Quantity {
  let quantity = quantities.get(text);
  if (quantity === undefined) {
    quantity = parseQuantity(text);
    if (quantities.size < mostRemembered) quantities.set(text, quantity);
  }
  return quantity;
}
