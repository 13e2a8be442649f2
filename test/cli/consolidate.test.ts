import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { raggedFleet } from '../../bench/workloads/fleets.ts';
import { runKerf } from './run-kerf.ts';

let folder: string;
let file: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'kerf-consolidate-'));
  file = join(folder, 'cluster.json');
  const snapshot = raggedFleet({ nodes: 6, podsPerNode: 10, fullness: [0.3, 0.6], seed: 3 });
  const [, node] = snapshot.objects.items;
  (node as { metadata: Record<string, unknown> }).metadata['annotations'] = { 'karpenter.sh/do-not-disrupt': 'true' };
  writeFileSync(file, JSON.stringify(snapshot));
});
afterAll(() => rmSync(folder, { recursive: true }));

test('plan --consolidate says what would go next, what that saves, and why a node stays', async () => {
  const { code, out } = await runKerf(['plan', '--snapshot', file, '--consolidate']);
  expect(code).toBe(0);
  expect(out).toMatch(/^6 nodes, \$/);
  expect(out).toMatch(/\n {2}saves \$[\d.]+\/h \(\$[\d,.]+ a month\)\n/);
  expect(out).toContain('disruption is blocked through the "karpenter.sh/do-not-disrupt" annotation');
  const json = await runKerf(['plan', '--snapshot', file, '--consolidate', '-o', 'json']);
  const plan = JSON.parse(json.out) as { kind: string; next: { savingsPerHour: number }; nodes: unknown[] };
  expect(plan.kind).toBe('ConsolidationPlan');
  expect(plan.nodes).toHaveLength(6);
  const { way } = JSON.parse(json.out) as { way: { commands: unknown[]; pricePerHour: number } };
  expect(way.commands[0]).toEqual(plan.next);
  expect(plan.next.savingsPerHour).toBeGreaterThan(0);
});

test('explain node lists what keeps it and what to change', async () => {
  const { code, out } = await runKerf(['explain', 'node', 'node-00000', '--snapshot', file]);
  expect(code).toBe(0);
  expect(out).toMatch(/\n {2}stays.*; to let it go, in this order:\n {2}1\. /);
  expect(out).toMatch(/\$[\d.]+ a day, [\d.]+ hours old/);
  expect(out).toContain('remove the annotation karpenter.sh/do-not-disrupt from the Node');
});

test('explain nodepool sums its nodes up before it goes through them, and -o json has every figure', async () => {
  const { out } = await runKerf(['explain', 'nodepool', 'default', '--snapshot', file]);
  expect(out).toMatch(/^NodePool default {2}6 nodes, \$/);
  const json = await runKerf(['explain', 'nodepool', 'default', '--snapshot', file, '-o', 'json']);
  const verdicts = JSON.parse(json.out) as { verdict: string; costPerDay: number; ageSeconds: number }[];
  expect(verdicts).toHaveLength(6);
  for (const each of verdicts) expect(each).toMatchObject({ costPerDay: expect.any(Number), ageSeconds: 43_200 });
});

test('explain says what it can explain, and that a name is unknown', async () => {
  const wrong = await runKerf(['explain', 'service', 'x', '--snapshot', file]);
  expect(wrong).toMatchObject({ code: 2 });
  expect(wrong.err).toContain('cannot explain a service: ask about one of pod, node, nodeclaim, nodepool');
  const unknown = await runKerf(['explain', 'nodepool', 'nope', '--snapshot', file]);
  expect(unknown.err).toContain('there is no nodepool nope here; there is default');
});
