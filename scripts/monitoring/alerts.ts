// The alerts, each with the failure that its runbook is about.
import type { FailureId } from '../../src/failures/index.ts';

export interface Alert {
  name: string;
  severity: 'page' | 'warning' | 'info';
  expr: string;
  for: string;
  summary: string;
  /** Id in docs/reference/failures.md. */
  runbook: FailureId;
}

/** For how long each NodeClaim has been without a condition. */
export const secondsWithout = (type: string): string =>
  `operator_nodeclaim_status_condition_current_status_seconds{type="${type}",status!="True"}`;

export const alerts: readonly Alert[] = [
  {
    name: 'KerfPodsWait',
    severity: 'page',
    expr: 'max(karpenter_pods_unbound_time_seconds) > 900 and on() sum(kerf_pods_waiting) > 0',
    for: '1m',
    summary: 'Pods have waited for a node for more than 15 minutes.',
    runbook: 'scheduling/no-instance-type-fits',
  },
  {
    name: 'KerfPoolLimited',
    severity: 'warning',
    expr: 'sum by (nodepool) (kerf_pods_waiting{code="LimitsExceeded"}) > 0',
    for: '5m',
    summary: 'Pods wait because a NodePool is at its limits.',
    runbook: 'scheduling/pool-limit-reached',
  },
  {
    name: 'KerfNoUsablePool',
    severity: 'page',
    expr: 'sum(kerf_pods_waiting{code="NoNodePools"}) > 0',
    for: '5m',
    summary: 'Pods wait and no NodePool can be used.',
    runbook: 'scheduling/no-usable-nodepool',
  },
  {
    name: 'KerfNodeClassPaused',
    severity: 'page',
    expr: 'max by (name, reason) (operator_ec2nodeclass_status_condition_count{type="LaunchesPaused",status="True"}) > 0',
    for: '2m',
    summary:
      'A check before launches found that no node of a node class could join; its condition LaunchesPaused says why.',
    runbook: 'crd/nodepool-not-ready-because-nodeclass',
  },
  {
    name: 'KerfLaunchesPaused',
    severity: 'page',
    expr: 'max by (name, reason) (operator_nodepool_status_condition_count{type="LaunchesPaused",status="True"}) > 0',
    for: '5m',
    summary: 'Launches of a NodePool fail alike and are paused; its condition LaunchesPaused says why and until when.',
    runbook: 'scheduling/launch-rejected-by-provider',
  },
  {
    name: 'KerfNoReadyPool',
    severity: 'page',
    expr: 'sum(operator_nodepool_status_condition_count{type="Ready",status!="True"}) > 0 unless on() sum(operator_nodepool_status_condition_count{type="Ready",status="True"}) > 0',
    for: '5m',
    summary: 'No NodePool is ready, so no node can be launched.',
    runbook: 'crd/nodepool-not-ready-because-nodeclass',
  },
  {
    name: 'KerfNodesDoNotJoin',
    severity: 'page',
    expr: `max by (karpenter_sh_nodepool) (${secondsWithout('Registered')}) > 600`,
    for: '1m',
    summary: 'Instances were launched and their nodes have not joined within 10 minutes.',
    runbook: 'registration/undiagnosed-timeout',
  },
  {
    name: 'KerfNodesNotInitialised',
    severity: 'warning',
    expr: `max by (karpenter_sh_nodepool) (${secondsWithout('Initialized')}) > 1200`,
    for: '1m',
    summary: 'Nodes have joined and are not initialized after 20 minutes.',
    runbook: 'init/never-initialised-never-removed',
  },
  {
    name: 'KerfSoldOut',
    severity: 'warning',
    expr: 'sum by (zone) (increase(karpenter_cloudprovider_instance_launch_failures_total[10m])) > 20',
    for: '5m',
    summary: 'Many launches fail in a zone.',
    runbook: 'scheduling/zone-locked-no-offering',
  },
  {
    name: 'KerfAwsDenied',
    severity: 'page',
    expr: 'sum by (service, action) (increase(aws_sdk_go_request_total{code=~"UnauthorizedOperation|AccessDenied.*"}[10m])) > 0',
    for: '1m',
    summary: 'AWS refuses a call for lack of permission.',
    runbook: 'iam/controller-permission-missing',
  },
  {
    name: 'KerfDrainStuck',
    severity: 'warning',
    expr: 'max by (name) (operator_nodeclaim_termination_current_time_seconds) > 3600',
    for: '5m',
    summary: 'A node has been on its way out for more than an hour.',
    runbook: 'termination/drain-never-completes',
  },
  {
    name: 'KerfInterruptionsLate',
    severity: 'page',
    expr: 'histogram_quantile(0.99, sum by (le) (rate(karpenter_interruption_message_queue_duration_seconds_bucket[10m]))) > 60',
    for: '10m',
    summary: 'Interruption messages arrive more than a minute late.',
    runbook: 'interruption/events-not-delivered',
  },
  {
    name: 'KerfGoesInCircles',
    severity: 'info',
    expr: 'sum by (nodepool) (increase(kerf_disruption_replacement_loops_total[6h])) > 3',
    for: '15m',
    summary: 'Replacements would go in circles and are held back.',
    runbook: 'disruption/consolidation-thrash',
  },
  {
    name: 'KerfMoneyHeld',
    severity: 'info',
    expr: 'sum(kerf_node_verdicts_savings_per_hour{verdict="keep"}) > 0.2 * sum(kerf_node_verdicts_cost_per_hour)',
    for: '1d',
    summary: 'More than a fifth of the cost is held by something that a person can change.',
    runbook: 'disruption/pdb-blocks',
  },
  {
    name: 'KerfDown',
    severity: 'page',
    expr: 'absent(leader_election_master_status == 1) or max(karpenter_cluster_state_synced) == 0',
    for: '5m',
    summary: 'No replica leads, or the one that does has not seen the whole cluster.',
    runbook: 'startup/controller-starved',
  },
  {
    name: 'KerfStarved',
    severity: 'warning',
    expr: 'max by (pod, instance) (nodejs_eventloop_lag_p99_seconds) > 1',
    for: '10m',
    summary: 'The controller gets too little CPU: its event loop is late by more than a second.',
    runbook: 'startup/controller-starved',
  },
];
