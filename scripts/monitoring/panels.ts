// The panels of the Grafana dashboards.
import { secondsWithout } from './alerts.ts';

export interface Panel {
  title: string;
  unit: string;
  exprs: readonly [string, string][];
  /** The page of Kerf's own dashboard that says more. */
  page: 'map' | 'waiting' | 'pools' | 'decisions' | 'cost' | 'doctor';
  /** What a click on one line adds to that page's address: the same filter. */
  line?: string;
}

const lineLabel = (name: string): string => `\${__field.labels.${name}}`;
/** What one line is about, in the words of the page that it leads to. */
const byLine = {
  verdict: `?q=verdict%3D${lineLabel('verdict')}`,
  code: `?q=code%3D${lineLabel('code')}`,
  pool: `?q=pool%3D${lineLabel('nodepool')}`,
  what: `?what=${lineLabel('what')}`,
} as const;

export const dashboards: Readonly<Record<string, { title: string; panels: readonly Panel[] }>> = {
  overview: {
    title: 'Kerf / Overview',
    panels: [
      {
        title: 'Cost per hour',
        unit: 'currencyUSD',
        exprs: [['sum(karpenter_nodepools_cost_total)', 'cost']],
        page: 'cost',
      },
      {
        title: 'Nodes by verdict',
        unit: 'short',
        exprs: [['sum by (verdict) (kerf_node_verdicts)', '{{verdict}}']],
        page: 'map',
        line: byLine.verdict,
      },
      {
        title: 'Pods that wait',
        unit: 'short',
        exprs: [['sum by (code) (kerf_pods_waiting)', '{{code}}']],
        page: 'waiting',
      },
      {
        title: 'Dollars by what keeps a node',
        unit: 'currencyUSD',
        exprs: [['sum by (code) (kerf_node_verdicts_cost_per_hour)', '{{code}}']],
        page: 'map',
        line: byLine.code,
      },
      {
        title: 'Decisions per hour',
        unit: 'short',
        exprs: [['sum by (what) (increase(kerf_decisions_total[1h]))', '{{what}}']],
        page: 'decisions',
        line: byLine.what,
      },
      {
        title: 'Longest wait for a node',
        unit: 's',
        exprs: [['max(karpenter_pods_unbound_time_seconds)', 'longest']],
        page: 'waiting',
      },
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
        page: 'waiting',
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
        page: 'decisions',
      },
      {
        title: 'NodeClaims created',
        unit: 'short',
        exprs: [['sum by (nodepool) (increase(karpenter_nodeclaims_created_total[15m]))', '{{nodepool}}']],
        page: 'map',
        line: byLine.pool,
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
        page: 'doctor',
      },
      {
        title: 'Not registered or initialized, longest',
        unit: 's',
        exprs: [[`max by (type) (${secondsWithout('Registered')} or ${secondsWithout('Initialized')})`, '{{type}}']],
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
      {
        title: 'Verdicts',
        unit: 'short',
        exprs: [['sum by (code) (kerf_node_verdicts)', '{{code}}']],
        page: 'map',
        line: byLine.code,
      },
      {
        title: 'Budgets: allowed and out',
        unit: 'short',
        exprs: [
          ['sum by (nodepool, reason) (karpenter_nodepools_allowed_disruptions)', 'allowed {{nodepool}} {{reason}}'],
          ['sum by (nodepool, reason) (karpenter_nodepools_nodes_consuming_budgets)', 'out {{nodepool}} {{reason}}'],
        ],
        page: 'pools',
      },
      {
        title: 'Taken down',
        unit: 'short',
        exprs: [['sum by (reason) (increase(karpenter_nodeclaims_disrupted_total[1h]))', '{{reason}}']],
        page: 'decisions',
      },
      {
        title: 'In circles',
        unit: 'short',
        exprs: [['sum by (nodepool) (increase(kerf_disruption_replacement_loops_total[6h]))', '{{nodepool}}']],
        page: 'map',
        line: byLine.pool,
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
        page: 'map',
        line: byLine.pool,
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
        page: 'doctor',
      },
      {
        title: 'Memory',
        unit: 'bytes',
        exprs: [['max by (pod, instance) (process_resident_memory_bytes)', '{{pod}} {{instance}}']],
        page: 'doctor',
      },
      { title: 'Queues', unit: 'short', exprs: [['sum by (name) (workqueue_depth)', '{{name}}']], page: 'doctor' },
      {
        title: 'Reconcile errors',
        unit: 'short',
        exprs: [['sum by (controller) (increase(controller_runtime_reconcile_errors_total[15m]))', '{{controller}}']],
        page: 'doctor',
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
        page: 'doctor',
      },
      {
        title: 'Leads, and has seen the whole cluster',
        unit: 'short',
        exprs: [
          ['sum(leader_election_master_status)', 'leaders'],
          ['max(karpenter_cluster_state_synced)', 'synced'],
        ],
        page: 'doctor',
      },
    ],
  },
};
