// Metrics of NodeClaims and their Nodes, under the names dashboards know.
import { durationMs, label, type NodeClaim } from '../../api/index.ts';
import type { Metrics } from '../../ports/index.ts';

const day = 86_400;
const hour = 3_600;
const lifetimes = [
  ...[15, 30, 45].map((minutes) => minutes * 60),
  ...[1, 2, 4, 6, 8, 10, 12, 16, 20].map((hours) => hours * hour),
  ...[1, 2, 3, 5, 10, 15, 20, 25, 30].map((days) => days * day),
];

/** Seconds, from one: machines take minutes to go. */
const powersOfTwo = (count: number): number[] => Array.from({ length: count }, (_, index) => 2 ** index);

const byCause = ['reason', 'nodepool', 'capacity_type', 'consolidation_policy', 'termination_mode'];

/** Values of labels: `WhenEmpty` is `when_empty`. */
export const snakeCase = (text: string): string => text.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '_').toLowerCase();

/** How a claim's pods go: as long as they need, until a deadline, or at once. */
export function terminationMode({ spec }: NodeClaim): 'graceful' | 'eventual' | 'forceful' {
  const graceMs = durationMs(spec.terminationGracePeriod);
  if (graceMs === undefined || !Number.isFinite(graceMs)) return 'graceful';
  return graceMs <= 0 ? 'forceful' : 'eventual';
}

export function claimMetrics(metrics: Metrics) {
  const disrupted = metrics.counter({
    name: 'karpenter_nodeclaims_disrupted_total',
    help: 'NodeClaims taken down, by cause.',
    labels: byCause,
  });
  const podsMoved = metrics.counter({
    name: 'karpenter_pods_disruption_initiated_total',
    help: 'Pods that had to leave because their NodeClaim was taken down, by cause; pods of DaemonSets do not count.',
    labels: byCause,
  });
  const of = (claim: NodeClaim | undefined, key: string): string => claim?.metadata.labels?.[key] ?? '';
  return {
    nodepoolOf: (claim: NodeClaim | undefined): string => of(claim, label.nodePool),
    /**
     * Causes of our own controllers: empty, underutilized, drifted, expired, …; a provider has more. `policy` is that of
     * the pool where consolidation decided, `pods` how many have to move where that is known.
     */
    countDisrupted: (claim: NodeClaim, reason: string, { policy = '', pods = 0 } = {}): void => {
      const labels = {
        reason,
        nodepool: of(claim, label.nodePool),
        capacity_type: of(claim, label.capacityType),
        consolidation_policy: policy,
        termination_mode: terminationMode(claim),
      };
      disrupted.add(labels);
      podsMoved.add(labels, pods);
    },
    claimsTerminated: metrics.counter({
      name: 'karpenter_nodeclaims_terminated_total',
      help: 'NodeClaims that are gone.',
      labels: ['nodepool', 'capacity_type', 'zone'],
    }),
    claimTermination: metrics.histogram({
      name: 'karpenter_nodeclaims_termination_duration_seconds',
      help: 'From the deletion of a NodeClaim until it was gone.',
      labels: ['nodepool'],
      buckets: powersOfTwo(12),
    }),
    instanceTermination: metrics.histogram({
      name: 'karpenter_nodeclaims_instance_termination_duration_seconds',
      help: 'From the deletion of a NodeClaim until its instance was gone.',
      labels: ['nodepool'],
      buckets: powersOfTwo(11),
    }),
    unhealthyDisrupted: metrics.counter({
      name: 'karpenter_nodeclaims_unhealthy_disrupted_total',
      help: 'NodeClaims taken down because their node was unhealthy.',
      labels: ['condition', 'nodepool', 'capacity_type', 'image_id', 'termination_mode'],
    }),
    nodesCreated: metrics.counter({
      name: 'karpenter_nodes_created_total',
      help: 'Nodes that registered.',
      labels: ['nodepool', 'zone'],
    }),
    nodesTerminated: metrics.counter({
      name: 'karpenter_nodes_terminated_total',
      help: 'Nodes that are gone.',
      labels: ['nodepool', 'zone'],
    }),
    nodesDrained: metrics.counter({
      name: 'karpenter_nodes_drained_total',
      help: 'Nodes whose pods were all moved.',
      labels: ['nodepool'],
    }),
    nodeTermination: metrics.summary({
      name: 'karpenter_nodes_termination_duration_seconds',
      help: 'From the deletion of a Node until it was gone.',
      labels: ['nodepool'],
    }),
    nodeLifetime: metrics.histogram({
      name: 'karpenter_nodes_lifetime_duration_seconds',
      help: 'How old Nodes were when they went.',
      labels: ['nodepool'],
      buckets: lifetimes,
    }),
    labelsOf: (claim: NodeClaim | undefined): { nodepool: string; capacity_type: string; zone: string } => ({
      nodepool: of(claim, label.nodePool),
      capacity_type: of(claim, label.capacityType),
      zone: of(claim, label.zone),
    }),
  };
}

export type ClaimMetrics = ReturnType<typeof claimMetrics>;
