// metrics.node: what every node has, holds and leaves unused, every five seconds. Only nodes that changed are computed
// again, so that thousands of quiet nodes cost nothing.
import { wellKnownLabels } from '../../api/index.ts';
import { parseTime } from '../../base/index.ts';
import type { Gauge, Labels, Node, Pod } from '../../ports/index.ts';
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
  /** Requested and allocatable, for the cluster's utilisation. */
  requested: Amounts;
  allocatable: Amounts;
}

export function nodeMetricsController(context: ControllerContext): Controller {
  const { cluster, cloud, clock, metrics } = context;
  const keys = [...new Set([...wellKnownLabels, ...cloud.facts.wellKnownLabels])];
  const labelNames = keys.map((key): [string, string] => [key, metricLabel(key)]);
  const nodeLabels = ['node_name', 'phase', 'managed', ...new Set(labelNames.map(([, name]) => name))];
  const gauge = (name: string, help: string): Gauge =>
    metrics.gauge({ name: `karpenter_nodes_${name}`, help, labels: [...nodeLabels, 'resource_type'] });
  const gauges = {
    allocatable: gauge('allocatable', 'What pods can use of a node.'),
    podRequests: gauge('total_pod_requests', 'What the pods on a node ask for, without daemons.'),
    podLimits: gauge('total_pod_limits', 'What the pods on a node may use, without daemons.'),
    daemonRequests: gauge('total_daemon_requests', 'What the daemons on a node ask for.'),
    daemonLimits: gauge('total_daemon_limits', 'What the daemons on a node may use.'),
    overhead: gauge('system_overhead', 'Capacity of a node that pods cannot use.'),
  };
  const lifetime = metrics.gauge({
    name: 'karpenter_nodes_current_lifetime_seconds',
    help: 'How old a node is.',
    labels: nodeLabels,
    agesBy: clock,
  });
  const utilization = metrics.gauge({
    name: 'karpenter_cluster_utilization_percent',
    help: 'What pods ask for, of what they could use.',
    labels: ['resource_type'],
  });
  const amounts = new PodAmounts();
  const reported = new Map<string, Report>();

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
      podRequests: new Map(),
      podLimits: new Map(),
      daemonRequests: new Map(),
      daemonLimits: new Map(),
    } satisfies Record<string, Totals>;
    for (const pod of pods) {
      const isDaemon = isOwnedByDaemonSet(pod);
      addTo(isDaemon ? sums.daemonRequests : sums.podRequests, amounts.requestsOf(pod));
      addTo(isDaemon ? sums.daemonLimits : sums.podLimits, amounts.limitsOf(pod));
    }
    const allocatable = amounts.amountsOf(node.status?.allocatable);
    const overhead: Totals = new Map();
    for (const [resource, amount] of amounts.amountsOf(node.status?.capacity))
      overhead.set(resource, amount - (allocatable.get(resource) ?? 0));
    const labels = labelsOf(machine, node);
    const all = { ...sums, allocatable, overhead };
    for (const [kind, totals] of Object.entries(all) as [keyof typeof all, Amounts][]) {
      gauges[kind].remove({ node_name: name });
      for (const [resource, amount] of totals)
        gauges[kind].set(inUnits(resource, amount), { ...labels, resource_type: metricResource(resource) });
    }
    const requested: Totals = new Map(sums.podRequests);
    addTo(requested, sums.daemonRequests);
    const bornMs = parseTime(node.metadata.creationTimestamp ?? '') ?? clock.now();
    return {
      node,
      podsVersion: cluster.pods.versionOf(name),
      labels,
      bornMs,
      requested,
      allocatable,
    };
  };

  const forget = (name: string): void => {
    reported.delete(name);
    lifetime.remove({ node_name: name });
    for (const each of Object.values(gauges)) each.remove({ node_name: name });
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
        let known = reported.get(name);
        if (known?.node !== node || known.podsVersion !== cluster.pods.versionOf(name)) {
          if (known !== undefined) lifetime.remove({ node_name: name });
          known = report(machine, node, cluster.pods.on(name));
          reported.set(name, known);
          lifetime.set(known.bornMs, known.labels);
        }
        await clock.breathe?.();
      }
      for (const name of reported.keys()) if (!seen.has(name)) forget(name);
      const [requested, allocatable]: [Totals, Totals] = [new Map(), new Map()];
      for (const each of reported.values()) {
        addTo(requested, each.requested);
        addTo(allocatable, each.allocatable);
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
