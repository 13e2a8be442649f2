// The metrics of provisioning, under the names dashboards know.
import type { Metrics } from '../../ports/index.ts';

export function provisioningMetrics(metrics: Metrics) {
  return {
    created: metrics.counter({
      name: 'karpenter_nodeclaims_created_total',
      help: 'NodeClaims created, by reason and NodePool.',
      labels: ['reason', 'nodepool', 'min_values_relaxed'],
    }),
    duration: metrics.histogram({
      name: 'karpenter_scheduler_scheduling_duration_seconds',
      help: 'How long a planning pass took.',
      labels: ['controller'],
    }),
    queueDepth: metrics.gauge({
      name: 'karpenter_scheduler_queue_depth',
      help: 'Pods still to be placed in the current pass.',
      labels: ['controller', 'scheduling_id'],
    }),
    unfinished: metrics.gauge({
      name: 'karpenter_scheduler_unfinished_work_seconds',
      help: 'How long the current pass has been going on.',
      labels: ['controller', 'scheduling_id'],
    }),
    byZone: metrics.gauge({
      name: 'karpenter_scheduler_pending_pods_by_effective_zone_count',
      help: 'Waiting pods by the one zone they can go to, or flexible, or none.',
      labels: ['controller', 'zone'],
    }),
    decision: metrics.histogram({
      name: 'karpenter_pods_scheduling_decision_duration_seconds',
      help: 'From when a waiting pod was first seen until it was first planned for.',
    }),
    ignored: metrics.gauge({
      name: 'karpenter_scheduler_ignored_pods_count',
      help: 'Pods left out of the last pass because they are invalid or opted out.',
    }),
    unschedulable: metrics.gauge({
      name: 'karpenter_scheduler_unschedulable_pods_count',
      help: 'Pods that got no place in the last pass.',
      labels: ['controller'],
    }),
    waiting: metrics.gauge({
      name: 'kerf_pods_waiting',
      help: 'Pods that got no place in the last pass, by the code of the first reason and the NodePool it is about.',
      labels: ['code', 'nodepool'],
    }),
  };
}

export type ProvisioningMetrics = ReturnType<typeof provisioningMetrics>;
