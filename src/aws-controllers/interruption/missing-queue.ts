// interruption.missingqueue: without a queue no one hears that spot capacity is taken back, and pods on it end without
// a drain. Nothing is wrong yet, so every NodePool that allows spot says it, now and then.
import { aboutPool, type Controller, type ControllerContext, nodePools, ownKey } from '../../controllers/index.ts';
import { pointerTo } from '../../failures/index.ts';
import { done } from '../../runtime/index.ts';
import { isSpotPool } from '../spot-pools.ts';

const againMs = 24 * 3_600_000;

export function missingQueueController(context: ControllerContext): Controller {
  const { cluster, recorder } = context;
  return {
    name: 'interruption.missingqueue',
    sources: [ownKey(nodePools)],
    concurrency: 1,
    async reconcile(key) {
      const pool = cluster.nodePools.get(key);
      if (pool === undefined || !isSpotPool(context, pool)) return done;
      recorder.publish({
        subject: aboutPool(pool),
        type: 'Normal',
        reason: 'NoInterruptionQueue',
        message: `Spot is allowed but no interruption queue is set: nodes that EC2 takes back are not drained; set --interruption-queue (kerf iam queue prints the queue and its rules) (${pointerTo('interruption/queue-not-configured')})`,
        dedupeMs: againMs,
      });
      return done;
    },
  };
}
