// The metrics of voluntary disruption, under the names dashboards know.
import type { Metrics } from '../../ports/index.ts';
import { provisioningMetrics } from '../provisioning/metrics.ts';

export function disruptionMetrics(metrics: Metrics) {
  const byMethod = ['reason', 'consolidation_type'];
  const timeouts = metrics.counter({
    name: 'karpenter_voluntary_disruption_consolidation_timeouts_total',
    help: 'Searches that ran out of time.',
    labels: ['consolidation_type'],
  });
  // Alerts on this want a zero to rise from.
  for (const consolidation_type of ['multi', 'single']) timeouts.add({ consolidation_type }, 0);
  return {
    timeouts,
    planning: provisioningMetrics(metrics).duration,
    evaluation: metrics.histogram({
      name: 'karpenter_voluntary_disruption_decision_evaluation_duration_seconds',
      help: 'How long a method took to decide.',
      labels: byMethod,
    }),
    decisions: metrics.counter({
      name: 'karpenter_voluntary_disruption_decisions_total',
      help: 'Commands started.',
      labels: ['decision', ...byMethod],
    }),
    decisionsByPool: metrics.counter({
      name: 'karpenter_voluntary_disruption_decisions_by_nodepool_total',
      help: 'Commands started, by NodePool of the nodes.',
      labels: ['nodepool', 'decision', ...byMethod],
    }),
    terminateFirst: metrics.counter({
      name: 'karpenter_voluntary_disruption_terminate_first_decisions_total',
      help: 'Commands that took a node before its replacement came, and why.',
      labels: ['nodepool', 'reason', 'terminate_first_reason'],
    }),
    eligible: metrics.gauge({
      name: 'karpenter_voluntary_disruption_eligible_nodes',
      help: 'Nodes a method may act on.',
      labels: ['reason'],
    }),
    failedValidations: metrics.counter({
      name: 'karpenter_voluntary_disruption_failed_validations_total',
      help: 'Nodes of commands that no longer held after the wait.',
      labels: ['consolidation_type'],
    }),
    queueFailures: metrics.counter({
      name: 'karpenter_voluntary_disruption_queue_failures_total',
      help: 'Replacements of commands that were given up.',
      labels: ['decision', ...byMethod],
    }),
    allowed: metrics.gauge({
      name: 'karpenter_nodepools_allowed_disruptions',
      help: 'Nodes of a NodePool that may be disrupted at once, by reason.',
      labels: ['nodepool', 'reason'],
    }),
    consuming: metrics.gauge({
      name: 'karpenter_nodepools_nodes_consuming_budgets',
      help: 'Nodes of a NodePool that are out already.',
      labels: ['nodepool', 'reason'],
    }),
    score: metrics.histogram({
      name: 'karpenter_consolidation_score',
      help: 'Scores of moves in Balanced NodePools.',
      labels: ['decision', 'nodepool', 'policy'],
      buckets: [0.1, 0.25, 0.33, 0.5, 1, 2, 5, 10],
    }),
    loops: metrics.counter({
      name: 'kerf_disruption_replacement_loops_total',
      help: 'Replacements that were not made because they would have brought back what was replaced within a day.',
      labels: ['nodepool'],
    }),
    moves: metrics.counter({
      name: 'karpenter_consolidation_moves_total',
      help: 'Moves judged, by NodePool.',
      labels: ['decision', 'nodepool', 'policy'],
    }),
  };
}

export type DisruptionMetrics = ReturnType<typeof disruptionMetrics>;
