// What `monitoring/` holds: Prometheus rules and Grafana dashboards, made from one list each. A test holds every expression
// against docs/reference/metrics.md, and every alert against the catalogue of failures.
import { stringify } from 'yaml';
import { type FailureId, pageOf } from '../src/failures/index.ts';

export interface Alert {
  name: string;
  severity: 'page' | 'warning' | 'info';
  expr: string;
  for: string;
  summary: string;
  /** Id in docs/reference/failures.md. */
  runbook: FailureId;
}

const seconds = (type: string): string =>
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
    name: 'KerfNodesDoNotJoin',
    severity: 'page',
    expr: `max by (karpenter_sh_nodepool) (${seconds('Registered')}) > 600`,
    for: '1m',
    summary: 'Instances were launched and their nodes have not joined within 10 minutes.',
    runbook: 'registration/undiagnosed-timeout',
  },
  {
    name: 'KerfNodesNotInitialised',
    severity: 'warning',
    expr: `max by (karpenter_sh_nodepool) (${seconds('Initialized')}) > 1200`,
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
    runbook: 'scheduling/launch-rejected-by-provider',
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
];

export function rulesYaml(): string {
  const rules = alerts.map(({ name, severity, expr, for: after, summary, runbook }) => ({
    alert: name,
    expr,
    for: after,
    labels: { severity },
    annotations: { summary, failure: runbook, runbook: pageOf(runbook) },
  }));
  return `# Written by \`npm run generate\` from scripts/monitoring.ts.\n${stringify({ groups: [{ name: 'kerf', rules }] }, { lineWidth: 0 })}`;
}

export interface Panel {
  title: string;
  unit: string;
  exprs: readonly [string, string][];
}

export const dashboards: Readonly<Record<string, { title: string; panels: readonly Panel[] }>> = {
  overview: {
    title: 'Kerf / Overview',
    panels: [
      { title: 'Cost per hour', unit: 'currencyUSD', exprs: [['sum(karpenter_nodepools_cost_total)', 'cost']] },
      { title: 'Nodes by verdict', unit: 'short', exprs: [['sum by (verdict) (kerf_node_verdicts)', '{{verdict}}']] },
      { title: 'Pods that wait', unit: 'short', exprs: [['sum by (code) (kerf_pods_waiting)', '{{code}}']] },
      {
        title: 'Dollars by what keeps a node',
        unit: 'currencyUSD',
        exprs: [['sum by (code) (kerf_node_verdicts_cost_per_hour)', '{{code}}']],
      },
      {
        title: 'Decisions per hour',
        unit: 'short',
        exprs: [['sum by (what) (increase(kerf_decisions_total[1h]))', '{{what}}']],
      },
      { title: 'Longest wait for a node', unit: 's', exprs: [['max(karpenter_pods_unbound_time_seconds)', 'longest']] },
    ],
  },
  launching: {
    title: 'Kerf / Waiting and launching',
    panels: [
      {
        title: 'Pods that wait, by pool',
        unit: 'short',
        exprs: [['sum by (nodepool, code) (kerf_pods_waiting)', '{{nodepool}} {{code}}']],
      },
      {
        title: 'Planning time, p99',
        unit: 's',
        exprs: [
          [
            'histogram_quantile(0.99, sum by (le) (rate(karpenter_scheduler_scheduling_duration_seconds_bucket[5m])))',
            'p99',
          ],
        ],
      },
      {
        title: 'NodeClaims created',
        unit: 'short',
        exprs: [['sum by (nodepool) (increase(karpenter_nodeclaims_created_total[15m]))', '{{nodepool}}']],
      },
      {
        title: 'Failed launches',
        unit: 'short',
        exprs: [
          [
            'sum by (zone, reason) (increase(karpenter_cloudprovider_instance_launch_failures_total[15m]))',
            '{{zone}} {{reason}}',
          ],
        ],
      },
    ],
  },
  disruption: {
    title: 'Kerf / Disruption',
    panels: [
      { title: 'Verdicts', unit: 'short', exprs: [['sum by (code) (kerf_node_verdicts)', '{{code}}']] },
      {
        title: 'Budgets: allowed and out',
        unit: 'short',
        exprs: [
          ['sum by (nodepool, reason) (karpenter_nodepools_allowed_disruptions)', 'allowed {{nodepool}} {{reason}}'],
          ['sum by (nodepool, reason) (karpenter_nodepools_nodes_consuming_budgets)', 'out {{nodepool}} {{reason}}'],
        ],
      },
      {
        title: 'Taken down',
        unit: 'short',
        exprs: [['sum by (reason) (increase(karpenter_nodeclaims_disrupted_total[1h]))', '{{reason}}']],
      },
      {
        title: 'In circles',
        unit: 'short',
        exprs: [['sum by (nodepool) (increase(kerf_disruption_replacement_loops_total[6h]))', '{{nodepool}}']],
      },
    ],
  },
  cost: {
    title: 'Kerf / Cost',
    panels: [
      {
        title: 'Cost by pool',
        unit: 'currencyUSD',
        exprs: [['sum by (nodepool) (karpenter_nodepools_cost_total)', '{{nodepool}}']],
      },
      {
        title: 'What freeing kept nodes would save, at most',
        unit: 'currencyUSD',
        exprs: [['sum by (code) (kerf_node_verdicts_savings_per_hour{verdict="keep"})', '{{code}}']],
      },
    ],
  },
};

export function dashboardJson(name: string): string {
  const { title, panels } = dashboards[name] as (typeof dashboards)[string];
  const datasource = { type: 'prometheus', uid: '${datasource}' };
  const board = {
    title,
    uid: `kerf-${name}`,
    tags: ['kerf'],
    timezone: 'browser',
    schemaVersion: 39,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: { list: [{ name: 'datasource', type: 'datasource', query: 'prometheus' }] },
    panels: panels.map((panel, at) => ({
      id: at + 1,
      type: 'timeseries',
      title: panel.title,
      datasource,
      gridPos: { x: (at % 2) * 12, y: Math.floor(at / 2) * 8, w: 12, h: 8 },
      fieldConfig: { defaults: { unit: panel.unit, min: 0 }, overrides: [] },
      targets: panel.exprs.map(([expr, legendFormat], index) => ({
        refId: String.fromCharCode(65 + index),
        datasource,
        expr,
        legendFormat,
      })),
    })),
  };
  return `${JSON.stringify(board, undefined, 2)}\n`;
}
