// metrics.nodepool: a pool's limits and what it uses of them.
import { parseQuantity, quantityIn } from '../../base/index.ts';
import { done } from '../../runtime/index.ts';
import { type Controller, type ControllerContext, ownKey } from '../context.ts';
import { nodePools } from '../own-resources.ts';
import { metricResource } from './metric-resource.ts';

export function poolMetricsController({ cluster, metrics, isManaged }: ControllerContext): Controller {
  const labels = ['resource_type', 'nodepool'];
  const limit = metrics.gauge({ name: 'karpenter_nodepools_limit', help: 'Limits of a NodePool.', labels });
  const usage = metrics.gauge({ name: 'karpenter_nodepools_usage', help: 'What a NodePool uses.', labels });
  const amount = (name: string, quantity: string | number): number => {
    const parsed = parseQuantity(quantity);
    return name === 'cpu' ? quantityIn('milli', parsed) / 1000 : quantityIn('units', parsed);
  };
  return {
    name: 'metrics.nodepool',
    sources: [ownKey(nodePools)],
    reconcile: (nodepool) => {
      const pool = cluster.nodePools.get(nodepool);
      limit.remove({ nodepool });
      usage.remove({ nodepool });
      if (pool !== undefined && isManaged(pool.spec.template.spec.nodeClassRef)) {
        const reported = (
          quantities: Readonly<Record<string, string | number>> | undefined,
          gauge: typeof limit,
        ): void => {
          for (const [name, quantity] of Object.entries(quantities ?? {})) {
            gauge.set(amount(name, quantity), { resource_type: metricResource(name), nodepool });
          }
        };
        reported(pool.spec.limits, limit);
        reported(pool.status?.resources, usage);
      }
      return Promise.resolve(done);
    },
  };
}
