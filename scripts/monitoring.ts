// What `monitoring/` holds: Prometheus rules, Grafana dashboards and a mixin of both, made from one list each. A test parses every
// expression and holds it against docs/reference/metrics.md, and every alert against the catalogue of failures.
import { stringify } from 'yaml';
import { type FailureId, pageOf } from '../src/failures/index.ts';
import { withMatchers } from './promql.ts';

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
  /** The page of Kerf's own dashboard that says more. */
  page?: 'map' | 'waiting' | 'pools' | 'decisions' | 'cost';
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
      {
        title: 'Utilisation by requests',
        unit: 'percent',
        exprs: [['max by (resource_type) (karpenter_cluster_utilization_percent)', '{{resource_type}}']],
        page: 'map',
      },
      {
        title: 'Cost, what Kerf reaches by itself, and the least possible',
        unit: 'currencyUSD',
        exprs: [['max by (kind) (kerf_cluster_cost_per_hour)', '{{kind}}']],
        page: 'cost',
      },
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
      {
        title: 'Not registered or initialized, longest',
        unit: 's',
        exprs: [[`max by (type) (${seconds('Registered')} or ${seconds('Initialized')})`, '{{type}}']],
        page: 'waiting',
      },
      {
        title: 'Launches paused',
        unit: 'short',
        exprs: [
          [
            'max by (name, reason) (operator_nodepool_status_condition_count{type="LaunchesPaused",status="True"})',
            '{{name}} {{reason}}',
          ],
        ],
        page: 'pools',
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
      {
        title: 'Evictions by answer',
        unit: 'short',
        exprs: [['sum by (code) (increase(karpenter_pods_eviction_requests_total[15m]))', '{{code}}']],
        page: 'decisions',
      },
      {
        title: 'Time to remove a node, p90',
        unit: 's',
        exprs: [
          [
            'histogram_quantile(0.9, sum by (le, nodepool) (rate(karpenter_nodeclaims_termination_duration_seconds_bucket[1h])))',
            '{{nodepool}}',
          ],
        ],
        page: 'decisions',
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
        page: 'cost',
      },
      {
        title: 'Between the cost and the least possible',
        unit: 'currencyUSD',
        exprs: [['max by (cause) (kerf_cluster_cost_gap_per_hour)', '{{cause}}']],
        page: 'cost',
      },
    ],
  },
  controller: {
    title: 'Kerf / Controller',
    panels: [
      {
        title: 'Event loop lag, p99',
        unit: 's',
        exprs: [['max by (pod, instance) (nodejs_eventloop_lag_p99_seconds)', '{{pod}} {{instance}}']],
      },
      {
        title: 'Memory',
        unit: 'bytes',
        exprs: [['max by (pod, instance) (process_resident_memory_bytes)', '{{pod}} {{instance}}']],
      },
      { title: 'Queues', unit: 'short', exprs: [['sum by (name) (workqueue_depth)', '{{name}}']] },
      {
        title: 'Reconcile errors',
        unit: 'short',
        exprs: [['sum by (controller) (increase(controller_runtime_reconcile_errors_total[15m]))', '{{controller}}']],
      },
      {
        title: 'Calls of AWS that failed',
        unit: 'short',
        exprs: [
          [
            'sum by (service, action, code) (increase(aws_sdk_go_request_total{code!="200"}[15m]))',
            '{{service}} {{action}} {{code}}',
          ],
        ],
      },
      {
        title: 'Leads, and has seen the whole cluster',
        unit: 'short',
        exprs: [
          ['sum(leader_election_master_status)', 'leaders'],
          ['max(karpenter_cluster_state_synced)', 'synced'],
        ],
      },
    ],
  },
};

/** Chosen above every dashboard; all of each by default. */
const variables = [
  { name: 'cluster', query: 'label_values(kerf_node_verdicts, cluster)' },
  { name: 'job', query: 'label_values(kerf_node_verdicts, job)' },
  { name: 'nodepool', query: 'label_values(karpenter_nodepools_cost_total, nodepool)' },
];

/** Whether a metric has a label `nodepool`. */
export type HasPool = (metric: string) => boolean;

/** With what is chosen above the dashboard; the NodePool only where the metric has one. */
export const chosenIn = (expr: string, hasPool: HasPool): string =>
  withMatchers(expr, (metric) =>
    variables.filter(({ name }) => name !== 'nodepool' || hasPool(metric)).map(({ name }) => `${name}=~"$${name}"`),
  );

export function dashboardJson(name: string, hasPool: HasPool): string {
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
    templating: {
      list: [
        { name: 'datasource', type: 'datasource', query: 'prometheus' },
        ...variables.map((variable) => ({
          ...variable,
          type: 'query',
          datasource,
          refresh: 2,
          includeAll: true,
          allValue: '.*',
          multi: true,
          current: { selected: true, text: ['All'], value: ['$__all'] },
        })),
        { name: 'kerf', type: 'textbox', label: 'address of the Kerf dashboard', query: 'http://127.0.0.1:8082' },
      ],
    },
    annotations: {
      list: [
        {
          name: 'decisions',
          datasource,
          enable: true,
          iconColor: 'blue',
          expr: chosenIn(
            'sum by (what) (increase(kerf_decisions_total{what=~"launch|disrupt|interrupt|repair"}[1m])) > 0',
            hasPool,
          ),
          titleFormat: '{{what}}',
          step: '60s',
        },
      ],
    },
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
        expr: chosenIn(expr, hasPool),
        legendFormat,
      })),
      ...(panel.page !== undefined && {
        links: [{ title: 'In Kerf', url: `\${kerf}/#/${panel.page}`, targetBlank: true }],
      }),
    })),
  };
  return `${JSON.stringify(board, undefined, 2)}\n`;
}

/** For users of monitoring mixins: the same rules and dashboards under the names that mixins have. */
export function mixinLibsonnet(): string {
  const boards = Object.keys(dashboards).map((name) => `    'kerf-${name}.json': (import 'dashboards/${name}.json'),`);
  return [
    '// Written by `npm run generate` from scripts/monitoring.ts.',
    '{',
    "  prometheusAlerts+:: std.parseYaml(importstr 'rules.yaml'),",
    '  grafanaDashboards+:: {',
    ...boards,
    '  },',
    '}',
    '',
  ].join('\n');
}
