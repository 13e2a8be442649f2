// Every expression is PromQL by Prometheus' own grammar; every metric and label that it names is one that the process has; every
// alert leads to a known failure.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { prometheusMetrics } from '../../src/telemetry/index.ts';
import { readExpression, withMatchers } from '../promql.ts';
import { alerts } from './alerts.ts';
import { dashboards } from './panels.ts';
import { chosenIn, dashboardJson, mixinLibsonnet, rulesYaml } from './render.ts';

const known = new Map<string, Set<string>>();
for (const line of readFileSync('docs/reference/metrics.md', 'utf8').split('\n')) {
  const [, name, , labels = ''] = line.split('|').map((cell) => cell.trim());
  const metric = /^`(\w+)`$/.exec(name ?? '')?.[1];
  if (metric !== undefined) known.set(metric, new Set(labels.split(',').map((label) => label.trim())));
}
const ofProcess = await prometheusMetrics({ processMetrics: true }).render();
for (const [, name = ''] of ofProcess.matchAll(/^# TYPE (\S+) /gm)) known.set(name, new Set());
const hasPool = (metric: string): boolean => known.get(metric.replace(/_bucket$/, ''))?.has('nodepool') === true;
const failures = readFileSync('docs/reference/failures.md', 'utf8');
const expressions = [
  ...alerts.map(({ name, expr }) => [name, expr] as const),
  ...Object.values(dashboards).flatMap(({ panels }) =>
    panels.flatMap(({ title, exprs }) => exprs.map(([expr]) => [title, expr] as const)),
  ),
];

test('there is something to check', () => {
  expect(known.size).toBeGreaterThan(50);
  expect(expressions.length).toBeGreaterThan(20);
});

/** Of a scrape, and of the process itself, whose metrics the client library brings. */
const targetLabels = ['pod', 'instance', 'job', 'cluster'];

test.each(expressions)('%s: %s', (_, expr) => {
  const { selectors, groupingLabels } = readExpression(expr);
  expect(selectors.length).toBeGreaterThan(0);
  const all = new Set(['le', ...targetLabels]);
  for (const { metric, labels } of selectors) {
    const name = metric.replace(/_bucket$/, '');
    const own = known.get(name);
    expect([name, own]).not.toEqual([name, undefined]);
    for (const label of labels) expect([name, ...(own ?? []), ...targetLabels]).toContain(label);
    for (const label of own ?? []) all.add(label);
  }
  for (const label of groupingLabels) expect([...all]).toContain(label);
});

test('an expression that is not PromQL, or names what is not there, would be noticed', () => {
  expect(() => readExpression('sum(kerf_node_verdicts')).toThrow('not PromQL');
  expect(() => readExpression('sum by (code (kerf_node_verdicts)')).toThrow('not PromQL');
  expect(readExpression('rate(a_total{b="1"}[5m]) / on(c) group_left(d) e').selectors).toMatchObject([
    { metric: 'a_total', labels: ['b'] },
    { metric: 'e', labels: [] },
  ]);
});

test('what is chosen above a dashboard reaches every selector', () => {
  expect(withMatchers('sum(a) / rate(b{c="d"}[5m]) + e{}', () => ['job=~"$job"'])).toBe(
    'sum(a{job=~"$job"}) / rate(b{job=~"$job", c="d"}[5m]) + e{job=~"$job"}',
  );
  for (const [, expr] of expressions) {
    const { selectors } = readExpression(chosenIn(expr, hasPool));
    for (const { metric, labels } of selectors) {
      expect(labels).toEqual(expect.arrayContaining(['cluster', 'job']));
      expect([metric, labels.includes('nodepool')]).toEqual([metric, hasPool(metric)]);
    }
  }
});

test('every panel of a dashboard is read, and the mixin names every dashboard', () => {
  for (const name of Object.keys(dashboards)) {
    const board = JSON.parse(dashboardJson(name, hasPool)) as { panels: { targets: { expr: string }[] }[] };
    for (const { expr } of board.panels.flatMap(({ targets }) => targets)) readExpression(expr);
    expect(mixinLibsonnet()).toContain(`dashboards/${name}.json`);
  }
});

test('every panel leads to a page of the dashboard, and a line with the label that it is about', () => {
  for (const name of Object.keys(dashboards)) {
    const board = JSON.parse(dashboardJson(name, hasPool)) as {
      panels: {
        title: string;
        links: { url: string }[];
        targets: { legendFormat: string }[];
        fieldConfig: { defaults: { links?: { url: string }[] } };
      }[];
    };
    for (const { title, links, targets, fieldConfig } of board.panels) {
      expect([title, links[0]?.url]).toEqual([title, expect.stringMatching(/^\$\{kerf\}\/#\/[a-z-]+$/)]);
      const label = /labels\.(\w+)\}/.exec(fieldConfig.defaults.links?.[0]?.url ?? '')?.[1];
      const legend = targets[0]?.legendFormat;
      expect([title, legend]).toEqual([title, label === undefined ? legend : `{{${label}}}`]);
    }
  }
});

test.each(alerts.map(({ name, runbook }) => [name, runbook]))('%s leads to %s', (_, runbook) => {
  expect(failures).toContain(`### \`${runbook}\``);
});

test('the rules link to the anchor of each alert, which the page has', () => {
  const links = [...rulesYaml().matchAll(/runbook: docs\/reference\/failures\.md#(\S+)/g)].map(([, anchor]) => anchor);
  expect(links).toHaveLength(alerts.length);
  for (const anchor of links) expect(failures).toContain(`<a id="${anchor}"></a>`);
});
