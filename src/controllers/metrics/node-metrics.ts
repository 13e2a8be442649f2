// metrics.node: what every node has, holds and leaves unused, every five seconds. Only nodes that changed are computed
// again, so that thousands of quiet nodes cost nothing.
import { wellKnownLabels } from '../../api/index.ts';
import { parseTime } from '../../base/index.ts';
import type { Labels, Node, Pod } from '../../ports/index.ts';
import { isOwnedByDaemonSet, type Machine, PodAmounts } from '../../state/index.ts';
import { again, type Controller, type ControllerContext } from '../context.ts';
import { metricResource } from './metric-resource.ts';

const everyMs = 5_000;

type Totals = Map<string, number>;
type Amounts = ReadonlyMap<string, number>;

interface Report {
  node: Node;
  podsVersion: number;
  labels: Labels;
  bornMs: number;
  totals: Readonly<Record<keyof typeof helpOf, Amounts>>;
}

/** The gauges with a series for each resource of a node. */
const helpOf = {
  allocatable: 'What pods can use of a node.',
  total_pod_requests: 'What the pods on a node ask for, without daemons.',
  total_pod_limits: 'What the pods on a node may use, without daemons.',
  total_daemon_requests: 'What the daemons on a node ask for.',
  total_daemon_limits: 'What the daemons on a node may use.',
  system_overhead: 'Capacity of a node that pods cannot use.',
};

export function nodeMetricsController(context: ControllerContext): Controller {
  const { cluster, cloud, clock, metrics } = context;
  const keys = [...new Set([...wellKnownLabels, ...cloud.facts.wellKnownLabels])];
  const labelNames = keys.map((key): [string, string] => [key, metricLabel(key)]);
  const nodeLabels = ['node_name', 'phase', 'managed', ...new Set(labelNames.map(([, name]) => name))];
  const reported = new Map<string, Report>();
  for (const [name, help] of Object.entries(helpOf) as [keyof typeof helpOf, string][])
    metrics.gauge({
      name: `karpenter_nodes_${name}`,
      help,
      labels: [...nodeLabels, 'resource_type'],
      *series() {
        for (const { labels, totals } of reported.values())
          for (const [resource, amount] of totals[name])
            yield [{ ...labels, resource_type: metricResource(resource) }, inUnits(resource, amount)];
      },
    });
  metrics.gauge({
    name: 'karpenter_nodes_current_lifetime_seconds',
    help: 'How old a node is.',
    labels: nodeLabels,
    agesBy: clock,
    *series() {
      for (const { labels, bornMs } of reported.values()) yield [labels, bornMs];
    },
  });
  const utilization = metrics.gauge({
    name: 'karpenter_cluster_utilization_percent',
    help: 'What pods ask for, of what they could use.',
    labels: ['resource_type'],
  });
  const amounts = new PodAmounts();

  const labelsOf = (machine: Machine, node: Node): Labels => {
    const labels: Labels = {
      node_name: node.metadata.name ?? '',
      phase: node.status?.phase ?? '',
      managed: String(machine.claim !== undefined),
    };
    for (const [key, name] of labelNames) labels[name] = node.metadata.labels?.[key] ?? '';
    return labels;
  };

  const report = (machine: Machine, node: Node, pods: Iterable<Pod>): Report => {
    const name = node.metadata.name ?? '';
    const sums = {
      total_pod_requests: new Map(),
      total_pod_limits: new Map(),
      total_daemon_requests: new Map(),
      total_daemon_limits: new Map(),
    } satisfies Record<string, Totals>;
    for (const pod of pods) {
      const isDaemon = isOwnedByDaemonSet(pod);
      addTo(isDaemon ? sums.total_daemon_requests : sums.total_pod_requests, amounts.requestsOf(pod));
      addTo(isDaemon ? sums.total_daemon_limits : sums.total_pod_limits, amounts.limitsOf(pod));
    }
    const allocatable = amounts.amountsOf(node.status?.allocatable);
    const overhead: Totals = new Map();
    for (const [resource, amount] of amounts.amountsOf(node.status?.capacity))
      overhead.set(resource, amount - (allocatable.get(resource) ?? 0));
    return {
      node,
      podsVersion: cluster.pods.versionOf(name),
      labels: labelsOf(machine, node),
      bornMs: parseTime(node.metadata.creationTimestamp ?? '') ?? clock.now(),
      totals: { ...sums, allocatable, system_overhead: overhead },
    };
  };

  return {
    name: 'metrics.node',
    sources: [],
    startKeys: ['all'],
    reconcile: async () => {
      const seen = new Set<string>();
      for (const machine of cluster.machines.all()) {
        const { node } = machine;
        const name = node?.metadata.name;
        if (node === undefined || name === undefined) continue;
        seen.add(name);
        const known = reported.get(name);
        if (known?.node !== node || known.podsVersion !== cluster.pods.versionOf(name))
          reported.set(name, report(machine, node, cluster.pods.on(name)));
        await clock.breathe?.();
      }
      for (const name of reported.keys()) if (!seen.has(name)) reported.delete(name);
      const [requested, allocatable]: [Totals, Totals] = [new Map(), new Map()];
      for (const { totals } of reported.values()) {
        addTo(requested, totals.total_pod_requests);
        addTo(requested, totals.total_daemon_requests);
        addTo(allocatable, totals.allocatable);
      }
      for (const [resource, amount] of allocatable) {
        if (amount > 0)
          utilization.set((100 * (requested.get(resource) ?? 0)) / amount, { resource_type: metricResource(resource) });
      }
      return again(everyMs);
    },
  };
}

/** The last part of a label key, as a metric label: `topology.kubernetes.io/zone` is `zone`. */
function metricLabel(key: string): string {
  return (key.split('/').at(-1) ?? key).replaceAll(/[^a-zA-Z0-9]+/g, '_').toLowerCase();
}

/** Tables count cpu in thousandths; people read cores. */
function inUnits(resource: string, amount: number): number {
  return resource === 'cpu' ? amount / 1000 : amount;
}

function addTo(target: Totals, more: Amounts): void {
  for (const [name, amount] of more) target.set(name, (target.get(name) ?? 0) + amount);
}
