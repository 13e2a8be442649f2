// The metrics of reboots, under the names dashboards know.
import type { Metrics } from '../../ports/index.ts';

export type RebootResult = 'succeeded' | 'provider_error' | 'recovery_timeout' | 'invalid_request';

/** Seconds: from quick virtual machines to the longest that is waited for. */
const buckets = [10, 20, 40, 80, 160, 320, 640, 1280];

export function rebootMetrics(metrics: Metrics) {
  return {
    reboots: metrics.counter({
      name: 'karpenter_nodes_reboots_total',
      help: 'Reboots of nodes, by how they ended.',
      labels: ['result'],
    }),
    duration: metrics.histogram({
      name: 'karpenter_nodes_reboot_duration_seconds',
      help: 'From the request of a reboot to its end.',
      labels: ['result'],
      buckets,
    }),
    recovery: metrics.histogram({
      name: 'karpenter_nodes_reboot_recovery_duration_seconds',
      help: 'From the request to the provider until the node was back.',
      labels: [],
      buckets,
    }),
  };
}
