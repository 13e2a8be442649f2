import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { raggedFleet } from '../../bench/workloads/fleets.ts';
import type { Snapshot } from '../../src/core/index.ts';
import { runKerf } from './run-kerf.ts';

let folder: string;
let file: string;
let withDevices: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'kerf-consolidate-'));
  file = join(folder, 'cluster.json');
  const snapshot = raggedFleet({ nodes: 6, podsPerNode: 10, fullness: [0.3, 0.6], seed: 3 });
  const [, node] = snapshot.objects.items;
  (node as { metadata: Record<string, unknown> }).metadata['annotations'] = { 'karpenter.sh/do-not-disrupt': 'true' };
  writeFileSync(file, JSON.stringify(snapshot));
  withDevices = join(folder, 'devices.json');
  writeFileSync(withDevices, JSON.stringify(everyPodWithDevice(snapshot)));
});
afterAll(() => rmSync(folder, { recursive: true }));

function everyPodWithDevice(snapshot: Snapshot): Snapshot {
  const driver = 'gpu.example.com';
  const apiVersion = 'resource.k8s.io/v1';
  const added: object[] = [{ apiVersion, kind: 'DeviceClass', metadata: { name: 'gpu' }, spec: {} }];
  const devices: object[] = [];
  const exactly = {
    deviceClassName: 'gpu',
    selectors: [{ cel: { expression: `device.attributes["${driver}"].model == "x"` } }],
  };
  const items = snapshot.objects.items.map((item) => {
    if (item.kind !== 'Pod') return item;
    const { name, namespace } = item.metadata;
    devices.push({ name: `gpu-${devices.length}`, attributes: { model: { string: 'x' } } });
    added.push({
      apiVersion,
      kind: 'ResourceClaim',
      metadata: { name, namespace },
      spec: { devices: { requests: [{ name: 'r', exactly }] } },
    });
    const resourceClaims = [{ name: 'c', resourceClaimName: name }];
    return { ...item, spec: { ...(item['spec'] as object), resourceClaims } };
  });
  added.push({
    apiVersion,
    kind: 'ResourceSlice',
    metadata: { name: 'fabric' },
    spec: { driver, pool: { name: 'fabric', generation: 1, resourceSliceCount: 1 }, allNodes: true, devices },
  });
  return {
    ...snapshot,
    settings: { ...snapshot.settings, ignoreDRARequests: false },
    objects: { ...snapshot.objects, items: [...items, ...added] as typeof items },
  };
}

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

test('devices that claims select in CEL and that every node has change no verdict', async () => {
  const verdicts = async (from: string): Promise<unknown> => {
    const { out } = await runKerf(['plan', '--snapshot', from, '--consolidate', '-o', 'json']);
    return (JSON.parse(out) as { nodes: unknown }).nodes;
  };
  expect(await verdicts(withDevices)).toEqual(await verdicts(file));
  const [plain, devices] = await Promise.all(
    [file, withDevices].map((from) => runKerf(['explain', 'nodepool', 'default', '--snapshot', from])),
  );
  expect(devices?.out).toBe(plain?.out);
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
