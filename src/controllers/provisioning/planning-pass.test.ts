import { setImmediate as settle } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { VirtualClock } from '../../base/index.ts';
import type { Plan, PlanOptions } from '../../core/index.ts';
import type { Pod } from '../../ports/index.ts';
import { Cluster } from '../../state/index.ts';
import type { ControllerContext } from '../context.ts';
import { recordedLog, recordedMetrics } from '../testing/records.testing.ts';
import { provisioningMetrics } from './metrics.ts';
import { planningPass } from './planning-pass.ts';

const plan = {
  newNodes: [{ name: 'default-1', nodePool: 'default', pods: ['shop/web'] }],
  existingNodes: [],
  unschedulable: [{ pod: 'shop/huge', reasons: [] }],
} as unknown as Plan;

function setting() {
  const clock = new VirtualClock({ startMs: 60_000, settle: () => settle() });
  const cluster = new Cluster(clock);
  const metrics = recordedMetrics();
  const log = recordedLog();
  for (const name of ['web', 'huge']) cluster.setPod({ metadata: { name, namespace: 'shop' }, spec: {} } as Pod);
  const context = {
    clock,
    cluster,
    metrics,
    random: () => 0.5,
    log,
    plan: async (_: unknown, options: PlanOptions) => {
      await clock.sleep(2_500);
      options.onRelaxed?.('shop/web', ['removing: spec.topologySpreadConstraints={}']);
      options.onZones?.(new Map([['zone-1', 1]]));
      return plan;
    },
  } as unknown as ControllerContext;
  return { clock, cluster, log, metrics, run: () => planningPass(context, provisioningMetrics(metrics), {} as never) };
}

test('a pass that goes on says for how long, and what it left when it is over', async () => {
  const { clock, metrics, run } = setting();
  const passing = run();
  await clock.runFor(2_100);
  expect(metrics.value('karpenter_scheduler_unfinished_work_seconds', { controller: 'provisioner' })).toBe(2);
  await clock.runFor(1_000);
  expect((await passing).plan).toBe(plan);
  expect(metrics.series('karpenter_scheduler_unfinished_work_seconds')).toEqual([]);
  expect(metrics.value('karpenter_scheduler_queue_depth', { controller: 'provisioner' })).toBe(1);
  expect(metrics.value('karpenter_scheduler_pending_pods_by_effective_zone_count', { zone: 'zone-1' })).toBe(1);
});

test('the first decision about a pod is timed from when it was first seen', async () => {
  const { clock, cluster, metrics, run } = setting();
  cluster.pods.decisions.see('shop/web', 59_000);
  for (const _ of [1, 2]) {
    const passing = run();
    await clock.runFor(3_000);
    await passing;
  }
  expect(metrics.value('karpenter_pods_scheduling_decision_duration_seconds')).toBe(3.5);
  expect(cluster.pods.decisions.of('shop/web').placedMs).toBe(62_500);
  expect(cluster.pods.decisions.of('shop/huge')).toEqual({ triedMs: 62_500 });
});

test('preferences that a pod does without are logged, with the pod and what was given up', async () => {
  const { clock, log, run } = setting();
  const passing = run();
  await clock.runFor(3_000);
  await passing;
  expect(log.lines).toContainEqual({
    level: 'debug',
    message: 'relaxing soft constraints for pod since it previously failed to schedule',
    fields: {
      controller: 'provisioner',
      Pod: { name: 'web', namespace: 'shop' },
      reason: 'removing: spec.topologySpreadConstraints={}',
    },
  });
});
