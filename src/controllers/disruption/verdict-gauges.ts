// How many nodes have which verdict, and what they cost: gauges per NodePool; and where the money of the cluster is.
import { type ClusterMoney, type NodeVerdict, verdictCode } from '../../core/index.ts';
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

export function countMoney({ cost, gap }: ReturnType<typeof moneyGauges>, money: ClusterMoney): void {
  cost.set(money.costPerHour, { kind: 'current' });
  cost.set(money.reachablePerHour, { kind: 'reachable' });
  cost.set(money.boundPerHour, { kind: 'bound' });
  gap.reset();
  for (const { cause, perHour } of money.causes) gap.set(perHour, { cause });
}

export function moneyGauges(metrics: Metrics) {
  return {
    cost: metrics.gauge({
      name: 'kerf_cluster_cost_per_hour',
      help: 'USD per hour for all managed nodes: now (current), where Kerf would come to by itself (reachable), and the least that runs the same pods (bound).',
      labels: ['kind'],
    }),
    gap: metrics.gauge({
      name: 'kerf_cluster_cost_gap_per_hour',
      help: 'What stands between the current cost and the bound, in USD per hour by cause; the causes add up to the difference.',
      labels: ['cause'],
    }),
  };
}
