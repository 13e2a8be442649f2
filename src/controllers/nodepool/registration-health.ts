// nodepool.registrationhealth: forgets how launches went whenever the pool or its node class changed, because what failed
// before may work now; after a restart it starts from the condition an earlier process wrote.

import { conditionReason, conditionType, type NodePool } from '../../api/index.ts';
import { conditionOf } from '../../base/index.ts';
import { done } from '../../runtime/index.ts';
import type { Controller, ControllerContext } from '../context.ts';
import type { RegistrationHealth } from '../nodeclaim/registration-health.ts';
import { nodePools } from '../own-resources.ts';
import { patchStatus } from '../writes.ts';
import { nodeClassOf, nodeClassSources } from './node-class.ts';
import { withPoolCondition } from './pool-conditions.ts';
import { poolController } from './pool-controller.ts';

export function registrationHealthController(context: ControllerContext, health: RegistrationHealth): Controller {
  const { clock, cluster, kube } = context;
  return poolController(
    'nodepool.registrationhealth',
    context,
    async (pool) => {
      const nodeClass = nodeClassOf(context, pool);
      const uid = pool.metadata.uid ?? '';
      if (nodeClass === undefined) return done;
      const condition = conditionOf(pool.status?.conditions, conditionType.nodeRegistrationHealthy);
      const observed = pool.status?.nodeClassObservedGeneration;
      const isCurrent =
        condition !== undefined &&
        condition.observedGeneration === pool.metadata.generation &&
        observed === nodeClass.metadata.generation;
      if (isCurrent) {
        if (condition.status !== 'Unknown') health.prefill(uid, condition.status);
        return done;
      }
      health.clear(uid);
      cluster.launchBackoff.clear(uid);
      const unknown = withPoolCondition(
        pool,
        {
          type: conditionType.nodeRegistrationHealthy,
          status: 'Unknown',
          reason: conditionReason.awaitingReconciliation,
          message: 'object is awaiting reconciliation',
        },
        clock.now(),
      );
      const next = {
        ...unknown,
        status: {
          ...unknown.status,
          // What failed before may work now: tried at once.
          conditions: unknown.status?.conditions?.filter(({ type }) => type !== conditionType.launchesPaused),
          nodeClassObservedGeneration: nodeClass.metadata.generation ?? 1,
        },
      } as NodePool;
      cluster.setNodePool(await patchStatus(kube, nodePools, pool, next));
      return done;
    },
    nodeClassSources(context),
  );
}
