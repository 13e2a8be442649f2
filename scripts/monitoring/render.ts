// What `monitoring/` holds: Prometheus rules, Grafana dashboards and a mixin of both, written from one list each. A test parses every
// expression and holds it against docs/reference/metrics.md, and every alert against the catalogue of failures.
import { stringify } from 'yaml';
import { pageOf } from '../../src/failures/index.ts';
import { withMatchers } from '../promql.ts';
import { alerts } from './alerts.ts';
import { dashboards } from './panels.ts';

export function rulesYaml(): string {
  const rules = alerts.map(({ name, severity, expr, for: after, summary, runbook }) => ({
    alert: name,
    expr,
    for: after,
    labels: { severity },
    annotations: { summary, failure: runbook, runbook: pageOf(runbook) },
  }));
  return `# Written by \`npm run generate\` from scripts/monitoring.\n${stringify({ groups: [{ name: 'kerf', rules }] }, { lineWidth: 0 })}`;
}

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
      fieldConfig: {
        defaults: {
          unit: panel.unit,
          min: 0,
          ...(panel.line !== undefined && { links: [inKerf(`${panel.page}${panel.line}`)] }),
        },
        overrides: [],
      },
      targets: panel.exprs.map(([expr, legendFormat], index) => ({
        refId: String.fromCharCode(65 + index),
        datasource,
        expr: chosenIn(expr, hasPool),
        legendFormat,
      })),
      links: [inKerf(panel.page)],
    })),
  };
  return `${JSON.stringify(board, undefined, 2)}\n`;
}

const inKerf = (page: string): object => ({ title: 'In Kerf', url: `\${kerf}/#/${page}`, targetBlank: true });

/** For users of monitoring mixins: the same rules and dashboards under the names that mixins have. */
export function mixinLibsonnet(): string {
  const boards = Object.keys(dashboards).map((name) => `    'kerf-${name}.json': (import 'dashboards/${name}.json'),`);
  return [
    '// Written by `npm run generate` from scripts/monitoring.',
    '{',
    "  prometheusAlerts+:: std.parseYaml(importstr 'rules.yaml'),",
    '  grafanaDashboards+:: {',
    ...boards,
    '  },',
    '}',
    '',
  ].join('\n');
}
