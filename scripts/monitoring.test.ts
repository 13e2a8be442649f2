// Every metric and label that rules and dashboards name is one that the process has; every alert leads to a known failure.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { alerts, dashboards, rulesYaml } from './monitoring.ts';

const known = new Map<string, Set<string>>();
for (const line of readFileSync('docs/reference/metrics.md', 'utf8').split('\n')) {
  const [, name, , labels = ''] = line.split('|').map((cell) => cell.trim());
  const metric = /^`(\w+)`$/.exec(name ?? '')?.[1];
  if (metric !== undefined) known.set(metric, new Set(labels.split(',').map((label) => label.trim())));
}
const failures = readFileSync('docs/reference/failures.md', 'utf8');
const expressions = [
  ...alerts.map(({ name, expr }) => [name, expr] as const),
  ...Object.values(dashboards).flatMap(({ panels }) =>
    panels.flatMap(({ title, exprs }) => exprs.map(([expr]) => [title, expr] as const)),
  ),
];

/** Names that are not functions or words of PromQL: metrics, with the labels in their braces. */
function metricsIn(expr: string): { name: string; labels: string[] }[] {
  return [...expr.matchAll(/\b([a-z][a-z0-9]*_[a-z0-9_]+)\b(?:\{([^}]*)\})?/g)]
    .filter(([, name]) => name !== 'histogram_quantile' && !groupingLabels(expr).includes(name ?? ''))
    .map(([, name = '', inner = '']) => ({
      name: name.replace(/_bucket$/, ''),
      labels: [...inner.matchAll(/(\w+)\s*[=!]~?/g)].map(([, label = '']) => label),
    }));
}

const groupingLabels = (expr: string): string[] =>
  [...expr.matchAll(/\bby\s*\(([^)]*)\)/g)].flatMap(([, inner = '']) => inner.split(',').map((each) => each.trim()));

test('there is something to check', () => {
  expect(known.size).toBeGreaterThan(50);
  expect(expressions.length).toBeGreaterThan(20);
});

test.each(expressions)('%s: %s', (_, expr) => {
  const metrics = metricsIn(expr);
  expect(metrics.length).toBeGreaterThan(0);
  for (const { name, labels } of metrics) {
    expect([...known.keys()]).toContain(name);
    for (const label of labels) expect([name, ...(known.get(name) ?? [])]).toContain(label);
  }
  const all = new Set(['le', ...metrics.flatMap(({ name }) => [...(known.get(name) ?? [])])]);
  for (const label of groupingLabels(expr)) expect([...all]).toContain(label);
  expect(expr.split('(').length).toBe(expr.split(')').length);
});

test.each(alerts.map(({ name, runbook }) => [name, runbook]))('%s leads to %s', (_, runbook) => {
  expect(failures).toContain(`### \`${runbook}\``);
});

test('the rules link to the anchor of each alert, which the page has', () => {
  const links = [...rulesYaml().matchAll(/runbook: docs\/reference\/failures\.md#(\S+)/g)].map(([, anchor]) => anchor);
  expect(links).toHaveLength(alerts.length);
  for (const anchor of links) expect(failures).toContain(`<a id="${anchor}"></a>`);
});
