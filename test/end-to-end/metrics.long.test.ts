// /metrics after a bit of everything happened: every documented series is there, of its type and with its labels.
import { expect, test } from 'vitest';
import { all } from './harness/api.ts';
import { inValues, ofType } from './harness/manifests.ts';
import type { Sample } from './harness/metrics-page.ts';
import { useWorld } from './harness/world.ts';

const world = useWorld({ flags: { 'disable-leader-election': false } });
const nodeLabels = 'node_name phase managed nodepool zone region instance_type arch os capacity_type windows_build';
const conditionLabels = 'name namespace type status reason';

/** Name without the prefix, type, labels. */
const documented: [string, string, string][] = [
  ['build_info', 'gauge', 'version goversion goarch commit'],
  ['nodeclaims_created_total', 'counter', 'reason nodepool min_values_relaxed'],
  ['nodeclaims_terminated_total', 'counter', 'nodepool capacity_type zone'],
  ['nodeclaims_disrupted_total', 'counter', 'reason nodepool capacity_type consolidation_policy termination_mode'],
  ['nodeclaims_termination_duration_seconds', 'histogram', 'nodepool'],
  ['nodeclaims_instance_termination_duration_seconds', 'histogram', 'nodepool'],
  ['nodes_created_total', 'counter', 'nodepool zone'],
  ['nodes_terminated_total', 'counter', 'nodepool zone'],
  ['nodes_drained_total', 'counter', 'nodepool'],
  ['nodes_termination_duration_seconds', 'summary', 'nodepool'],
  ['nodes_lifetime_duration_seconds', 'histogram', 'nodepool'],
  ['nodes_allocatable', 'gauge', `${nodeLabels} resource_type`],
  ['nodes_total_pod_requests', 'gauge', `${nodeLabels} resource_type`],
  ['nodes_total_pod_limits', 'gauge', `${nodeLabels} resource_type`],
  ['nodes_total_daemon_requests', 'gauge', `${nodeLabels} resource_type`],
  ['nodes_total_daemon_limits', 'gauge', `${nodeLabels} resource_type`],
  ['nodes_system_overhead', 'gauge', `${nodeLabels} resource_type`],
  ['nodes_current_lifetime_seconds', 'gauge', nodeLabels],
  ['cluster_utilization_percent', 'gauge', 'resource_type'],
  ['nodepools_limit', 'gauge', 'resource_type nodepool'],
  ['nodepools_usage', 'gauge', 'resource_type nodepool'],
  ['nodepools_cost_total', 'gauge', 'nodepool'],
  ['nodepools_allowed_disruptions', 'gauge', 'nodepool reason'],
  ['nodepools_nodes_consuming_budgets', 'gauge', 'nodepool reason'],
  [
    'pods_state',
    'gauge',
    'name namespace owner node scheduled nodepool zone arch capacity_type instance_type phase ready managed',
  ],
  ['pods_startup_duration_seconds', 'summary', ''],
  ['pods_unbound_time_seconds', 'gauge', 'name namespace dynamic_resources'],
  ['pods_bound_duration_seconds', 'histogram', 'dynamic_resources'],
  ['pods_provisioning_bound_duration_seconds', 'histogram', 'dynamic_resources'],
  ['pods_provisioning_startup_duration_seconds', 'histogram', ''],
  ['pods_scheduling_decision_duration_seconds', 'histogram', ''],
  ['pods_eviction_requests_total', 'counter', 'code'],
  ['pods_drained_total', 'counter', 'reason'],
  ['scheduler_scheduling_duration_seconds', 'histogram', 'controller'],
  ['scheduler_ignored_pods_count', 'gauge', ''],
  ['scheduler_unschedulable_pods_count', 'gauge', 'controller'],
  ['cluster_state_node_count', 'gauge', ''],
  ['cluster_state_synced', 'gauge', ''],
  ['cluster_state_unsynced_time_seconds', 'gauge', ''],
  ['voluntary_disruption_decision_evaluation_duration_seconds', 'histogram', 'reason consolidation_type'],
  ['voluntary_disruption_decisions_total', 'counter', 'decision reason consolidation_type'],
  ['voluntary_disruption_decisions_by_nodepool_total', 'counter', 'nodepool decision reason consolidation_type'],
  ['voluntary_disruption_eligible_nodes', 'gauge', 'reason'],
  ['cloudprovider_duration_seconds', 'histogram', 'controller method provider'],
];
const unprefixed: [string, string, string][] = [
  ['operator_nodepool_status_condition_count', 'gauge', conditionLabels],
  ['operator_nodepool_status_condition_current_status_seconds', 'gauge', conditionLabels],
  ['operator_nodepool_status_condition_transitions_total', 'counter', 'type status reason'],
  ['operator_nodeclaim_status_condition_transition_seconds', 'histogram', 'type status'],
  ['operator_nodeclaim_termination_duration_seconds', 'histogram', ''],
  ['operator_status_condition_count', 'gauge', `${conditionLabels} group kind`],
  ['controller_runtime_reconcile_total', 'counter', 'controller result'],
  ['workqueue_adds_total', 'counter', 'name'],
  ['client_go_request_total', 'counter', ''],
  ['leader_election_master_status', 'gauge', 'name'],
  ['process_resident_memory_bytes', 'gauge', ''],
  ['process_cpu_seconds_total', 'counter', ''],
];

/** Series of a metric, whatever its type adds to the name. */
const isOf = (name: string, sample: Sample): boolean =>
  [name, `${name}_bucket`, `${name}_count`, `${name}_sum`].includes(sample.name);

test('every documented metric is there, of its type and with its labels', async () => {
  const room = await world.room('metered');
  await room.pool({
    requirements: [inValues('karpenter.sh/capacity-type', 'on-demand'), ofType('c-8x-amd64-linux', 'c-1x-amd64-linux')],
    spec: { disruption: { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] }, limits: { cpu: '100' } },
  });
  await room.daemonSet('agent', {
    container: { resources: { requests: { cpu: '50m' }, limits: { cpu: '60m', memory: '10Mi' } } },
  });
  await room.deployment('web', { replicas: 2, cpu: '3', labels: { tier: 'web' } });
  await room.pod('never', { cpu: '1000' });
  await room.runs('web', 2);
  const [claim] = await room.claims();
  await world.api.remove(all.nodeClaims, claim?.metadata.name ?? '');
  await room.until('another node runs them', async () => {
    expect(await world.api.find(all.nodeClaims, claim?.metadata.name ?? '')).toBeUndefined();
    expect(await room.ready('web')).toHaveLength(2);
  });
  await room.scale('web', 0);
  await room.until('the node goes', async () => expect(await room.nodes()).toEqual([]));
  await room.deployment('again', {
    container: { resources: { requests: { cpu: '3' }, limits: { cpu: '4' } } },
  });
  await room.runs('again', 1);

  const expected = [...documented.map(([name, ...rest]) => [`karpenter_${name}`, ...rest] as const), ...unprefixed];
  await room.until('every metric is there', async () => {
    const page = await world.controller().metrics();
    const problems = expected.flatMap(([name, type, labels]) => {
      const reported = page.types.get(name);
      if (reported !== type) return [`${name}: ${reported ?? 'missing'} instead of ${type}`];
      const [sample] = page.samples.filter((each) => isOf(name, each));
      if (sample === undefined) return [`${name}: no series`];
      const missing = labels.split(' ').filter((label) => label !== '' && sample.labels[label] === undefined);
      return missing.length === 0
        ? []
        : [`${name}: no label ${missing.join(', ')} in ${JSON.stringify(sample.labels)}`];
    });
    expect(problems).toEqual([]);
  });
  const page = await world.controller().metrics();
  const { name: pool } = room;
  expect(page.sum('karpenter_nodepools_limit', { nodepool: pool, resource_type: 'cpu' })).toBe(100);
  await room.until('usage, cost and allocatable follow', async () => {
    const now = await world.controller().metrics();
    expect(now.sum('karpenter_nodepools_usage', { nodepool: pool, resource_type: 'cpu' })).toBe(8);
    expect(now.sum('karpenter_nodepools_cost_total', { nodepool: pool })).toBeCloseTo(0.217, 2);
    expect(now.sum('karpenter_nodes_allocatable', { nodepool: pool, resource_type: 'cpu' })).toBeCloseTo(7.9, 5);
    expect(now.sum('karpenter_nodes_system_overhead', { nodepool: pool, resource_type: 'cpu' })).toBeCloseTo(0.1, 5);
    expect(now.sum('karpenter_nodes_total_pod_requests', { nodepool: pool, resource_type: 'cpu' })).toBe(3);
    expect(now.sum('karpenter_nodes_total_daemon_requests', { nodepool: pool, resource_type: 'cpu' })).toBe(0.05);
    expect(now.sum('karpenter_scheduler_unschedulable_pods_count', { controller: 'provisioner' })).toBe(1);
    expect(now.sum('karpenter_cluster_state_node_count')).toBe(1);
  });
  const buckets = page.samples.filter(({ name }) => name === 'karpenter_scheduler_scheduling_duration_seconds_bucket');
  const bounds = new Set(buckets.map(({ labels }) => labels['le']));
  expect(bounds.size).toBe(46);
  for (const bound of ['0.005', '0.15', '1.25', '25', '450', '600', '+Inf']) expect(bounds).toContain(bound);
});
