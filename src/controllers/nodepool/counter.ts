// nodepool.counter: what a pool's nodes add up to, in its status, every five seconds.
import type { NodePool } from '../../api/index.ts';
import { addQuantities, formatQuantity, parseQuantity, type Quantity } from '../../base/index.ts';
import { type Cluster, capacityOf, isLeaving, nodePoolOf } from '../../state/index.ts';
import { again, type Controller, type ControllerContext } from '../context.ts';
import { nodePools } from '../own-resources.ts';
import { patchStatus } from '../writes.ts';
import { poolController } from './pool-controller.ts';

const everyMs = 5_000;
/** Always told, so that an empty pool reads as zero and not as unknown. */
const alwaysTold = ['cpu', 'memory', 'pods', 'ephemeral-storage', 'nodes'];

export interface PoolUsage {
  resources: Record<string, string>;
  nodes: number;
}

/** Capacity of the machines of a pool that are launched and staying. */
export function usageOf(cluster: Cluster, pool: string): PoolUsage {
  const sums = new Map<string, Quantity>(alwaysTold.map((name) => [name, parseQuantity('0')]));
  let nodes = 0;
  for (const machine of cluster.machines.all()) {
    if (machine.claim === undefined || nodePoolOf(machine) !== pool || isLeaving(machine)) continue;
    nodes += 1;
    for (const [name, amount] of Object.entries(capacityOf(machine))) {
      sums.set(name, addQuantities(sums.get(name) ?? parseQuantity('0'), parseQuantity(amount)));
    }
  }
  sums.set('nodes', parseQuantity(nodes));
  return { resources: Object.fromEntries([...sums].map(([name, sum]) => [name, formatQuantity(sum)])), nodes };
}

export function counterController(context: ControllerContext): Controller {
  const { cluster, kube } = context;
  return poolController('nodepool.counter', context, async (pool) => {
    if (cluster.synced) {
      const { resources, nodes } = usageOf(cluster, pool.metadata.name ?? '');
      const next = { ...pool, status: { ...pool.status, resources, nodes } } as NodePool;
      cluster.setNodePool(await patchStatus(kube, nodePools, pool, next));
    }
    return again(everyMs);
  });
}
