// The metrics users' dashboards are built on: name, type and labels of each, as documented for Karpenter 1.15.
import { describe, expect, test } from 'vitest';
import { awsWellKnownLabels, wellKnownLabels } from '../src/api/index.ts';
import { definedMetrics } from './process-reference.ts';

const nodeLabels = [
  'node_name',
  'phase',
  'managed',
  ...[...wellKnownLabels, ...awsWellKnownLabels].map((key) => (key.split('/').at(-1) ?? key).replaceAll('-', '_')),
];
const ofNode = [...nodeLabels, 'resource_type'];
const decision = ['decision', 'reason', 'consolidation_type'];
const named = ['name', 'namespace'];
const cause = ['reason', 'nodepool', 'capacity_type', 'consolidation_policy', 'termination_mode'];

const table: Record<string, [type: string, ...labels: string[]]> = {
  nodeclaims_created_total: ['counter', 'reason', 'nodepool', 'min_values_relaxed'],
  nodeclaims_terminated_total: ['counter', 'nodepool', 'capacity_type', 'zone'],
  nodeclaims_disrupted_total: ['counter', ...cause],
  pods_disruption_initiated_total: ['counter', ...cause],
  nodeclaims_unhealthy_disrupted_total: [
    'counter',
    'condition',
    'nodepool',
    'capacity_type',
    'image_id',
    'termination_mode',
  ],
  nodeclaims_termination_duration_seconds: ['histogram', 'nodepool'],
  nodeclaims_instance_termination_duration_seconds: ['histogram', 'nodepool'],
  nodes_created_total: ['counter', 'nodepool', 'zone'],
  nodes_terminated_total: ['counter', 'nodepool', 'zone'],
  nodes_drained_total: ['counter', 'nodepool'],
  nodes_termination_duration_seconds: ['summary', 'nodepool'],
  nodes_lifetime_duration_seconds: ['histogram', 'nodepool'],
  nodes_reboots_total: ['counter', 'result'],
  nodes_reboot_duration_seconds: ['histogram', 'result'],
  nodes_reboot_recovery_duration_seconds: ['histogram'],
  nodes_allocatable: ['gauge', ...ofNode],
  nodes_total_pod_requests: ['gauge', ...ofNode],
  nodes_total_pod_limits: ['gauge', ...ofNode],
  nodes_total_daemon_requests: ['gauge', ...ofNode],
  nodes_total_daemon_limits: ['gauge', ...ofNode],
  nodes_system_overhead: ['gauge', ...ofNode],
  nodes_current_lifetime_seconds: ['gauge', ...nodeLabels],
  cluster_utilization_percent: ['gauge', 'resource_type'],
  nodepools_limit: ['gauge', 'resource_type', 'nodepool'],
  nodepools_usage: ['gauge', 'resource_type', 'nodepool'],
  nodepools_cost_total: ['gauge', 'nodepool'],
  nodepools_cost_tracker_errors_total: ['counter', 'nodepool'],
  nodepools_allowed_disruptions: ['gauge', 'nodepool', 'reason'],
  nodepools_nodes_consuming_budgets: ['gauge', 'nodepool', 'reason'],
  pods_state: [
    'gauge',
    ...named,
    'owner',
    'node',
    'scheduled',
    'nodepool',
    'zone',
    'arch',
    'capacity_type',
    'instance_type',
    'phase',
    'ready',
    'managed',
  ],
  pods_startup_duration_seconds: ['summary'],
  pods_unstarted_time_seconds: ['gauge', ...named],
  pods_unbound_time_seconds: ['gauge', ...named, 'dynamic_resources'],
  pods_bound_duration_seconds: ['histogram', 'dynamic_resources'],
  pods_provisioning_bound_duration_seconds: ['histogram', 'dynamic_resources'],
  pods_provisioning_startup_duration_seconds: ['histogram'],
  pods_provisioning_unbound_time_seconds: ['gauge', ...named, 'dynamic_resources'],
  pods_provisioning_unstarted_time_seconds: ['gauge', ...named],
  pods_provisioning_scheduling_undecided_time_seconds: ['gauge', ...named],
  pods_scheduling_decision_duration_seconds: ['histogram'],
  pods_eviction_requests_total: ['counter', 'code'],
  pods_drained_total: ['counter', 'reason'],
  scheduler_scheduling_duration_seconds: ['histogram', 'controller'],
  scheduler_queue_depth: ['gauge', 'controller', 'scheduling_id'],
  scheduler_unfinished_work_seconds: ['gauge', 'controller', 'scheduling_id'],
  scheduler_ignored_pods_count: ['gauge'],
  scheduler_unschedulable_pods_count: ['gauge', 'controller'],
  scheduler_pending_pods_by_effective_zone_count: ['gauge', 'controller', 'zone'],
  cluster_state_node_count: ['gauge'],
  cluster_state_synced: ['gauge'],
  cluster_state_unsynced_time_seconds: ['gauge'],
  voluntary_disruption_decision_evaluation_duration_seconds: ['histogram', 'reason', 'consolidation_type'],
  voluntary_disruption_decisions_total: ['counter', ...decision],
  voluntary_disruption_decisions_by_nodepool_total: ['counter', 'nodepool', ...decision],
  voluntary_disruption_eligible_nodes: ['gauge', 'reason'],
  voluntary_disruption_consolidation_timeouts_total: ['counter', 'consolidation_type'],
  voluntary_disruption_failed_validations_total: ['counter', 'consolidation_type'],
  voluntary_disruption_queue_failures_total: ['counter', ...decision],
  voluntary_disruption_terminate_first_decisions_total: ['counter', 'nodepool', 'reason', 'terminate_first_reason'],
  pod_deletion_cost_nodes_with_pending_annotation_writes: ['gauge', 'nodepool'],
  pod_deletion_cost_pod_annotation_writes_total: ['counter', 'result'],
  consolidation_score: ['histogram', 'decision', 'nodepool', 'policy'],
  consolidation_moves_total: ['counter', 'decision', 'nodepool', 'policy'],
  cloudprovider_duration_seconds: ['histogram', 'controller', 'method', 'provider'],
  cloudprovider_errors_total: ['counter', 'controller', 'method', 'provider', 'error', 'nodepool'],
  cloudprovider_instance_type_cpu_cores: ['gauge', 'instance_type'],
  cloudprovider_instance_type_memory_bytes: ['gauge', 'instance_type'],
  cloudprovider_instance_type_offering_available: ['gauge', 'instance_type', 'capacity_type', 'zone'],
  cloudprovider_instance_type_offering_price_estimate: ['gauge', 'instance_type', 'capacity_type', 'zone'],
  cloudprovider_instance_launch_failures_total: ['counter', 'zone', 'zone_id', 'capacity_type', 'reason'],
  cloudprovider_instance_termination_failures_total: ['counter', 'zone', 'zone_id'],
  cloudprovider_batcher_batch_size: ['histogram', 'batcher'],
  cloudprovider_batcher_batch_time_seconds: ['histogram', 'batcher'],
  interruption_received_messages_total: ['counter', 'message_type'],
  interruption_deleted_messages_total: ['counter'],
  interruption_message_queue_duration_seconds: ['histogram'],
  interruption_instance_status_unhealthy_total: ['counter', 'category'],
  ec2nodeclasses_userdata_bytes: ['gauge', 'nodeclass'],
};

const defined = await definedMetrics();
const day = 24 * 3600;
const lifetimes = [
  ...[15, 30, 45].map((minutes) => minutes * 60),
  ...[1, 2, 4, 6, 8, 10, 12, 16, 20].map((hours) => hours * 3600),
  ...[1, 2, 3, 5, 10, 15, 20, 25, 30].map((days) => days * day),
];

test.each(Object.entries(table))('karpenter_%s has the type and labels of the table', (name, [type, ...labels]) => {
  const metric = defined.get(`karpenter_${name}`);
  expect(metric?.type).toBe(type);
  expect([...(metric?.labels ?? [])].sort()).toEqual([...new Set(labels)].sort());
});

test('no metric is called karpenter_ that the table does not know', () => {
  const known = new Set(Object.keys(table).map((name) => `karpenter_${name}`));
  expect([...defined.keys()].filter((name) => name.startsWith('karpenter_') && !known.has(name))).toEqual([]);
});

test('node lifetimes have buckets from a quarter of an hour to thirty days', () => {
  expect(defined.get('karpenter_nodes_lifetime_duration_seconds')?.buckets).toEqual(lifetimes);
});

describe('conditions and ends of objects', () => {
  const suffixes: Record<string, [type: string, ...labels: string[]]> = {
    status_condition_count: ['gauge', 'name', 'namespace', 'type', 'status', 'reason'],
    status_condition_current_status_seconds: ['gauge', 'name', 'namespace', 'type', 'status', 'reason'],
    status_condition_transition_seconds: ['histogram', 'type', 'status'],
    status_condition_transitions_total: ['counter', 'type', 'status', 'reason'],
    termination_current_time_seconds: ['gauge', 'name', 'namespace'],
    termination_duration_seconds: ['histogram'],
  };
  const more: Record<string, string[]> = {
    operator_nodeclaim: ['karpenter_sh_nodepool', 'karpenter_k8s_aws_ec2nodeclass'],
    operator_node: ['karpenter_sh_nodepool', 'karpenter_sh_initialized', 'karpenter_k8s_aws_ec2nodeclass'],
    operator_nodepool: [],
    operator_ec2nodeclass: [],
    operator_capacitybuffer: [],
    operator: ['group', 'kind'],
  };
  test.each(Object.keys(more))('%s_* have the labels of every kind and their own', (prefix) => {
    for (const [suffix, [type, ...labels]] of Object.entries(suffixes)) {
      const metric = defined.get(`${prefix}_${suffix}`);
      expect(metric?.type).toBe(type);
      expect([...(metric?.labels ?? [])].sort()).toEqual([...labels, ...(more[prefix] ?? [])].sort());
    }
  });
});

test.each([
  ['aws_sdk_go_request_total', 'counter'],
  ['aws_sdk_go_request_retry_count', 'histogram'],
  ['aws_sdk_go_request_duration_seconds', 'histogram'],
  ['aws_sdk_go_request_attempt_total', 'counter'],
  ['aws_sdk_go_request_attempt_duration_seconds', 'histogram'],
])('calls to AWS are reported by service, action and code: %s', (name, type) => {
  expect(defined.get(name)).toMatchObject({ type, labels: ['service', 'action', 'code'] });
});

test.each([
  'controller_runtime_reconcile_total',
  'controller_runtime_reconcile_errors_total',
  'controller_runtime_reconcile_time_seconds',
  'controller_runtime_active_workers',
  'controller_runtime_max_concurrent_reconciles',
  'workqueue_adds_total',
  'workqueue_depth',
  'workqueue_queue_duration_seconds',
  'workqueue_work_duration_seconds',
  'workqueue_retries_total',
  'workqueue_unfinished_work_seconds',
  'workqueue_longest_running_processor_seconds',
  'client_go_request_total',
  'client_go_request_duration_seconds',
  'leader_election_master_status',
])('the loop tells %s', (name) => {
  expect(defined.has(name)).toBe(true);
});
