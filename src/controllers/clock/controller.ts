// clock: whether the clock of this machine agrees with the API server's. While it does not, nothing is taken away for its
// age, and pools say so: an event and the condition ClockTrusted, which is there only then. The metric always tells.

import { conditionType, type NodePool } from '../../api/index.ts';
import { conditionOf } from '../../base/index.ts';
import { isKubeError } from '../../ports/index.ts';
import { again, type Controller, type ControllerContext } from '../context.ts';
import { aboutPool } from '../event-subjects.ts';
import { removePoolCondition, writePoolCondition } from '../nodepool/pool-conditions.ts';

const name = 'clock';
const everyMs = 5_000;

export function clockController(context: ControllerContext): Controller {
  const { cluster, isManaged, log, recorder, time } = context;
  const ahead = context.metrics.gauge({
    name: 'kerf_clock_ahead_seconds',
    help: "How far the clock of this machine is ahead of the API server's; below zero it is behind.",
  });
  let wasAhead = false;

  const tell = async (pool: NodePool, problem: string | undefined): Promise<void> => {
    if (problem === undefined) return removePoolCondition(context, pool, conditionType.clockTrusted);
    recorder.publish({
      subject: aboutPool(pool),
      type: 'Warning',
      reason: 'ClockSkew',
      message: problem,
      dedupeValues: [pool.metadata.uid ?? pool.metadata.name ?? ''],
    });
    // Its seconds change with every look; the condition is written once.
    if (conditionOf(pool.status?.conditions, conditionType.clockTrusted) !== undefined) return;
    const change = {
      type: conditionType.clockTrusted,
      status: 'False',
      reason: 'ClockSkew',
      message: problem,
    } as const;
    await writePoolCondition(context, pool, change);
  };

  return {
    name,
    sources: [],
    startKeys: ['clock'],
    concurrency: 1,
    async reconcile() {
      const problem = time.problem();
      ahead.set((time.aheadMs() ?? 0) / 1000);
      if (problem !== undefined && !wasAhead) log.error('the clock cannot be trusted', problem, { controller: name });
      if (problem === undefined && wasAhead) log.info('the clock can be trusted again', { controller: name });
      wasAhead = problem !== undefined;
      const pools = cluster.nodePools.list().filter(({ spec }) => isManaged(spec.template.spec.nodeClassRef));
      for (const pool of pools) {
        try {
          await tell(pool, problem);
        } catch (error) {
          // Another writer was first, or the pool is gone: the next look is soon.
          if (!isKubeError(error, 'Conflict') && !isKubeError(error, 'NotFound')) throw error;
        }
      }
      return again(everyMs);
    },
  };
}
