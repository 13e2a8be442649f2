// nodepool.readiness: whether the pool's node class exists, stays, and is ready.

import { type ConditionChange, conditionReason, conditionType } from '../../api/index.ts';
import { conditionOf } from '../../base/index.ts';
import { done } from '../../runtime/index.ts';
import type { Controller, ControllerContext } from '../context.ts';
import { type NodeClass, nodeClassOf, nodeClassSources } from './node-class.ts';
import { writePoolCondition } from './pool-conditions.ts';
import { poolController } from './pool-controller.ts';

export function readinessController(context: ControllerContext): Controller {
  return poolController(
    'nodepool.readiness',
    context,
    async (pool) => {
      const readiness = readinessOf(nodeClassOf(context, pool));
      await writePoolCondition(context, pool, { type: conditionType.nodeClassReady, ...readiness });
      return done;
    },
    nodeClassSources(context),
  );
}

function readinessOf(nodeClass: NodeClass | undefined): Omit<ConditionChange, 'type'> {
  const notReady = (reason: string, message: string): Omit<ConditionChange, 'type'> => ({
    status: 'False',
    reason,
    message,
  });
  if (nodeClass === undefined) return notReady(conditionReason.nodeClassNotFound, 'NodeClass not found on cluster');
  if (nodeClass.metadata.deletionTimestamp !== undefined)
    return notReady(conditionReason.nodeClassTerminating, 'NodeClass is Terminating');
  // Says more than that the class is not ready.
  const paused = conditionOf(nodeClass.status?.conditions, conditionType.launchesPaused);
  if (paused?.status === 'True') return notReady(paused.reason || 'NodeClassNotReady', paused.message ?? '');
  const ready = conditionOf(nodeClass.status?.conditions, conditionType.ready);
  if (ready?.status === 'True') return { status: 'True' };
  // A node class may leave its reason empty; a pool's condition may not.
  if (ready?.status === 'False') return notReady(ready.reason || 'NodeClassNotReady', ready.message ?? '');
  return notReady(conditionReason.nodeClassReadinessUnknown, 'Node Class Readiness Unknown');
}
