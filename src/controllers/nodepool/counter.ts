// nodepool.counter: what a pool's nodes add up to, in its status, every five seconds: those that are launched and stay.
import type { NodePool } from '../../api/index.ts';
import { useOf } from '../../core/index.ts';
import { capacityOf, countedMachines, isLeaving } from '../../state/index.ts';
import { again, type Controller, type ControllerContext } from '../context.ts';
import { nodePools } from '../own-resources.ts';
import { patchStatus } from '../writes.ts';
import { poolController } from './pool-controller.ts';

const everyMs = 5_000;
/** Always shown, so that an empty pool reads as zero and not as unknown. */
const zeros = { cpu: '0', memory: '0', pods: '0', 'ephemeral-storage': '0', nodes: '0' };

export function counterController(context: ControllerContext): Controller {
  const { cluster, kube } = context;
  return poolController('nodepool.counter', context, async (pool) => {
    if (cluster.synced) {
      const launched = countedMachines(cluster, pool).filter((each) => each.claim !== undefined && !isLeaving(each));
      const resources = { ...zeros, ...useOf(launched.map(capacityOf)) };
      const nodes = launched.length;
      const next = { ...pool, status: { ...pool.status, resources, nodes } } as NodePool;
      cluster.setNodePool(await patchStatus(kube, nodePools, pool, next));
    }
    return again(everyMs);
  });
}
