// How many nodes have which verdict, and what they cost: gauges per NodePool.
import { type NodeVerdict, verdictCode } from '../../core/index.ts';
import type { Metrics } from '../../ports/index.ts';

export function countVerdicts(
  { nodes, cost, savings }: ReturnType<typeof verdictGauges>,
  verdicts: readonly NodeVerdict[],
): void {
  const totals = new Map<string, { labels: Record<string, string>; nodes: number; cost: number; savings: number }>();
  for (const verdict of verdicts) {
    if (verdict.nodeClaim === undefined) continue;
    const labels = { nodepool: verdict.nodePool ?? '', verdict: verdict.verdict, code: verdictCode(verdict) };
    const key = JSON.stringify(labels);
    const total = totals.get(key) ?? { labels, nodes: 0, cost: 0, savings: 0 };
    const saved = total.savings + (verdict.savingsIfFreedPerHour ?? verdict.savingsPerHour);
    totals.set(key, { labels, nodes: total.nodes + 1, cost: total.cost + verdict.pricePerHour, savings: saved });
  }
  nodes.reset();
  cost.reset();
  savings.reset();
  for (const total of totals.values()) {
    nodes.set(total.nodes, total.labels);
    cost.set(total.cost, total.labels);
    savings.set(total.savings, total.labels);
  }
}

export function verdictGauges(metrics: Metrics) {
  const labels = ['nodepool', 'verdict', 'code'];
  return {
    nodes: metrics.gauge({
      name: 'kerf_node_verdicts',
      help: 'Nodes by what disruption would do with them now: remove, replace or keep, and what keeps them first.',
      labels,
    }),
    cost: metrics.gauge({
      name: 'kerf_node_verdicts_cost_per_hour',
      help: 'What those nodes cost per hour, in USD.',
      labels,
    }),
    savings: metrics.gauge({
      name: 'kerf_node_verdicts_savings_per_hour',
      help: 'What their going would save per hour, in USD: of nodes that stay, if nothing that a person can change kept them.',
      labels,
    }),
  };
}
