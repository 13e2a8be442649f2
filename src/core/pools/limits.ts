// What each pool may still grow by: its limits less the capacity of the machines it has, leaving ones not counted.

import { label } from '../../api/names.ts';
import type { NodePool } from '../kube/objects.ts';
import type { Machine } from '../nodes/machines.ts';
import type { ResourceTable } from '../resources/resource-table.ts';
import type { RemainingLimits } from './templates.ts';

/** The limit on the number of nodes, beside the resources. */
const nodeLimit = 'nodes';

export function remainingLimits(
  pool: NodePool,
  machines: readonly Machine[],
  resources: ResourceTable,
): RemainingLimits | undefined {
  const limits = Object.entries(pool.spec?.limits ?? {});
  if (limits.length === 0) return undefined;
  const own = machines.filter((machine) => !machine.leaving && machine.labels[label.nodePool] === pool.metadata.name);
  const columns: number[] = [];
  const amounts: number[] = [];
  let nodes: number | undefined;
  for (const [name, quantity] of limits) {
    const limit = resources.amount(name, quantity);
    if (name === nodeLimit) {
      nodes = limit - own.length;
      continue;
    }
    let used = 0;
    for (const machine of own) {
      const capacity = machine.capacity[name];
      if (capacity !== undefined) used += resources.amount(name, capacity);
    }
    columns.push(resources.column(name));
    amounts.push(limit - used);
  }
  return { columns, amounts, nodes };
}
