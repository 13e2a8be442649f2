// `kerf preflight` on files and on the embedded cluster: go or no go, and why.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { nodePoolHash } from '../../src/api/index.ts';
import { runKerf } from './run-kerf.ts';

const kerf = resolve(import.meta.dirname, '../../bin/kerf');
const folder = mkdtempSync(join(tmpdir(), 'kerf-preflight-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Report {
  verdict: string;
  phase: string;
  time: string;
  running: { program: string; version?: string };
  counts: Record<string, number>;
  findings: { level: string; about: string; text: string; fix?: string }[];
  drift: { nodeClaim: string; reason: string; isKnown: boolean; fields: string[] }[];
  settings: { name: string; becomes: string }[];
  gates: string[];
  since?: Record<string, string[]>;
}

const nodeClassRef = { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' };
const template = { metadata: { labels: { team: 'a' } }, spec: { nodeClassRef, requirements: [], expireAfter: '720h' } };
const stamps = (hash: string) => ({ 'karpenter.sh/nodepool-hash': hash, 'karpenter.sh/nodepool-hash-version': 'v3' });
const ownHash = nodePoolHash(template);
const pool = (hash = ownHash) => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodePool',
  metadata: { name: 'default', annotations: stamps(hash) },
  spec: { template },
});
const claim = (name: string, hash = ownHash, more: object = {}) => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodeClaim',
  metadata: {
    name,
    uid: name,
    labels: { 'karpenter.sh/nodepool': 'default', team: 'a' },
    annotations: stamps(hash),
    ...more,
  },
  spec: { nodeClassRef, requirements: [], expireAfter: '720h' },
  status: {
    providerID: `kwok://${name}`,
    conditions: [
      { type: 'Registered', status: 'True', reason: 'Registered', lastTransitionTime: '2026-01-01T00:00:00Z' },
    ],
  },
});
const deployment = (image: string, container: object = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'karpenter', namespace: 'kube-system', labels: { 'app.kubernetes.io/name': 'karpenter' } },
  spec: {
    template: { spec: { serviceAccountName: 'karpenter', containers: [{ name: 'controller', image, ...container }] } },
  },
});
const karpenter = (version: string, container: object = {}) =>
  deployment(`public.ecr.aws/karpenter/controller:${version}@sha256:abc`, container);

async function preflight(
  objects: object[],
  ...args: string[]
): Promise<{ code: number | null; report: Report; err: string }> {
  const { code, out, err } = await runKerf(['preflight', '-f', '-', '-o', 'json', ...args], {
    stdin: JSON.stringify(objects),
  });
  return { code, report: (out === '' ? {} : JSON.parse(out)) as Report, err };
}

describe('before the switch', () => {
  test('a cluster whose hashes are those that Kerf computes is a go', async () => {
    const env = [
      { name: 'BATCH_MAX_DURATION', value: '20s' },
      { name: 'FEATURE_GATES', value: 'SpotToSpotConsolidation=true' },
    ];
    const { code, report } = await preflight([pool(), claim('a'), claim('b'), karpenter('1.14.1', { env })]);
    expect(report.findings).toEqual([]);
    expect({ code, verdict: report.verdict, phase: report.phase }).toEqual({ code: 0, verdict: 'go', phase: 'before' });
    expect(report.running).toMatchObject({ program: 'karpenter', version: '1.14.1' });
    expect(report.drift).toEqual([]);
    expect(report.settings).toContainEqual(
      expect.objectContaining({ name: 'BATCH_MAX_DURATION', becomes: '--batch-max-duration, the same' }),
    );
    expect(report.gates).toContain('SpotToSpotConsolidation');
  });

  test('every node that would drift is named with its reason; those that have drifted already do not count', async () => {
    const drifted = claim('old', '1');
    const condition = {
      type: 'Drifted',
      status: 'True',
      reason: 'NodePoolDrifted',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    drifted.status.conditions.push(condition);
    const { code, report } = await preflight([pool('77'), claim('a', '77'), claim('b'), drifted, karpenter('1.9.0')]);
    expect(code).toBe(1);
    expect(report.drift).toMatchObject([
      { nodeClaim: 'a', reason: 'NodePoolDrifted', isKnown: false },
      { nodeClaim: 'old', isKnown: true },
    ]);
  });

  test('labels that no longer meet the requirements are drift, with the field', async () => {
    const requirement = { key: 'topology.kubernetes.io/zone', operator: 'In', values: ['z2'] };
    const narrow = pool();
    const spec = { ...template.spec, requirements: [requirement] };
    const wanted = { ...narrow, spec: { template: { ...template, spec } } };
    const { report } = await preflight([wanted, claim('a'), karpenter('1.14.1')]);
    expect(report.drift).toEqual([
      {
        nodeClaim: 'a',
        nodePool: 'default',
        reason: 'RequirementsDrifted',
        isKnown: false,
        fields: ['requirement topology.kubernetes.io/zone: was none, now In z2'],
      },
    ]);
  });

  test('a version without the v1 API, unknown flags and malformed settings stop it; a newer version is only said', async () => {
    const old = await preflight([pool(), karpenter('v0.37.0')]);
    expect(old.code).toBe(1);
    expect(old.report.findings[0]?.text).toContain('an API older than v1');
    const container = { args: ['--batch-max-durations=9s'], env: [{ name: 'LOG_LEVEL', value: 'loud' }] };
    const { report } = await preflight([pool(), karpenter('1.14.1', container)]);
    expect(report.findings.filter(({ level }) => level === 'stop').map(({ about }) => about)).toEqual([
      '--batch-max-durations',
      'settings',
    ]);
    expect(report.findings[0]?.fix).toContain('batch-max-duration');
    const newer = await preflight([pool(), karpenter('1.99.0')]);
    expect(newer.code).toBe(0);
    expect(newer.report.findings[0]).toMatchObject({ level: 'look' });
  });

  test('fields that Kerf does not know, and definitions with old versions stored, are named', async () => {
    const odd = { ...pool(), spec: { template, surprise: 1 } };
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'nodepools.karpenter.sh' },
      status: { storedVersions: ['v1beta1', 'v1'] },
    };
    const { code, report } = await preflight([odd, definition, karpenter('1.14.1')]);
    expect(code).toBe(1);
    expect(report.findings.map(({ level, text }) => [level, text.slice(0, 40)])).toEqual([
      ['look', 'spec.surprise is a field that Kerf does '],
      ['stop', 'objects may still be stored as v1beta1: '],
    ]);
  });

  test('a values file: what becomes of each value, what has no effect, what the chart refuses', async () => {
    const file = join(folder, 'values.yaml');
    writeFileSync(
      file,
      'settings:\n  clusterName: prod\n  batchMaxDuration: 20s\n  featureGates: {nodeRepair: true}\n  batchIdleDurations: 1s\nwebhook: {enabled: false}\nnodeSelector: {a: b}\ncontroller: {image: {tag: 1.14.1}}\n',
    );
    const { code, report } = await preflight([pool(), karpenter('1.14.1')], '--values', file);
    expect(code).toBe(1);
    expect(report.settings.map(({ name, becomes }) => `${name}: ${becomes}`)).toEqual([
      'settings.clusterName: CLUSTER_NAME, the same',
      'settings.batchMaxDuration: BATCH_MAX_DURATION, the same',
    ]);
    expect(report.gates).toContain('NodeRepair');
    expect(report.findings.map(({ level, about }) => `${level} ${about}`)).toEqual([
      'stop settings.batchIdleDurations',
      'look webhook',
      'look controller.image',
    ]);
  });

  test('text says the verdict first, and nothing at all to judge is an error', async () => {
    const run = (objects: object[]) => runKerf(['preflight', '-f', '-'], { stdin: JSON.stringify(objects) });
    const { out } = await run([pool(), claim('a'), karpenter('1.14.1')]);
    expect(out).toMatch(
      /^Go: no node drifts because of the switch\.\nKarpenter 1\.14\.1 \(Deployment kube-system\/karpenter\) is in charge\. 1 NodePool, 1 NodeClaim\.\n/,
    );
    expect((await run([pool('77'), claim('a', '77'), karpenter('1.14.1')])).out).toMatch(
      /^No go: 1 node would be replaced\.\n/,
    );
    const nothing = await run([{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } }]);
    expect([nothing.code, nothing.err]).toEqual([2, expect.stringContaining('nothing to take over')]);
  });
});

test('after the switch it says what became of the claims', async () => {
  const before = join(folder, 'before.json');
  const first = await preflight([pool(), claim('a'), claim('b'), claim('c'), karpenter('1.14.1')]);
  writeFileSync(before, JSON.stringify(first.report));
  const lease = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'karpenter-leader-election', namespace: 'kube-system', annotations: { 'kerf/holder': 'me' } },
    spec: { holderIdentity: 'me', acquireTime: '2026-01-01T00:00:00.000000Z' },
  };
  const kerfs = [lease, deployment('registry.example.com/kerf:0.1.0')];
  const fine = await preflight([pool(), claim('a'), claim('b'), claim('new'), ...kerfs], '--before', before);
  expect(fine.report).toMatchObject({ verdict: 'go', phase: 'after', running: { program: 'kerf' } });
  expect(fine.report.since).toMatchObject({ gone: ['c'], added: ['new'], rewritten: [], newlyDrifted: [] });
  const rewritten = claim('a', ownHash, { labels: { 'karpenter.sh/nodepool': 'default', team: 'a', more: 'x' } });
  const bad = await preflight([pool(), rewritten, claim('b'), claim('c'), ...kerfs], '--before', before);
  expect([bad.code, bad.report.since?.['rewritten']]).toEqual([1, ['a']]);
});

describe('on the embedded cluster', () => {
  const kubeconfig = join(folder, 'kubeconfig');
  const patience = { timeout: 50_000, interval: 200 };
  let cluster: ChildProcess;
  beforeAll(async () => {
    cluster = spawn(process.execPath, [kerf, 'up', '--port', '0', '--dashboard-port', '0', '--kubeconfig', kubeconfig]);
    let out = '';
    cluster.stdout?.setEncoding('utf8').on('data', (text: string) => void (out += text));
    await vi.waitFor(() => expect(out).toContain('listens on'), patience);
  }, 60_000);
  afterAll(() => cluster.kill('SIGKILL'));

  test('a cluster that Kerf runs already has been switched, and nothing drifts', async () => {
    await vi.waitFor(async () => {
      const { code, out } = await runKerf(['preflight', '-o', 'json'], { env: { KUBECONFIG: kubeconfig } });
      const { verdict, phase, drift, findings } = JSON.parse(out) as Report;
      expect({ code, verdict, phase, drift, findings }).toEqual({
        code: 0,
        verdict: 'go',
        phase: 'after',
        drift: [],
        findings: [],
      });
    }, patience);
  });
});
