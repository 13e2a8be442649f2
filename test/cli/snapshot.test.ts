// `kerf snapshot` and `kerf plan --context` against a Kubernetes API over HTTP: the embedded cluster's.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { customResourceDefinition, kinds } from '../../src/api/index.ts';
import type { KubeObject, Resource } from '../../src/ports/index.ts';
import { resources } from '../../src/ports/index.ts';
import { RealClock } from '../../src/runtime/index.ts';
import { createCluster, SimKube, serveApi } from '../../src/sim/index.ts';
import { runKerf } from './run-kerf.ts';

let folder: string;
let kubeconfig: string;
const stops: (() => Promise<void>)[] = [];

const resource = (group: string, version: string, plural: string, kind: string): Resource => ({
  group,
  version,
  plural,
  kind,
  namespaced: false,
});

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kerf-snapshot-'));
  const cluster = await createCluster({ clock: new RealClock() });
  const server = await serveApi(cluster.machinery);
  stops.push(server.close, () => cluster.stop());
  kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      'current-context': 'sim',
      contexts: [{ name: 'sim', context: { cluster: 'sim', user: 'sim' } }],
      clusters: [{ name: 'sim', cluster: { server: server.url } }],
      users: [{ name: 'sim', user: {} }],
    }),
  );
  const kube = new SimKube(cluster.machinery);
  const definitions = resource('apiextensions.k8s.io', 'v1', 'customresourcedefinitions', 'CustomResourceDefinition');
  for (const kind of kinds.filter(({ group }) => group === 'karpenter.sh')) {
    await kube.create(definitions, customResourceDefinition(kind));
  }
  const nodePools = resource('karpenter.sh', 'v1', 'nodepools', 'NodePool');
  const pool: KubeObject & Record<string, unknown> = {
    metadata: { name: 'default' },
    spec: {
      template: {
        spec: {
          nodeClassRef: { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' },
          requirements: [{ key: 'kubernetes.io/os', operator: 'In', values: ['linux'] }],
        },
      },
    },
  };
  await kube.create(nodePools, pool);
  const ready = {
    type: 'Ready',
    status: 'True',
    reason: 'Ready',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
  const status = { type: 'merge' as const, body: { status: { conditions: [ready] } } };
  await kube.patch(nodePools, { name: 'default' }, status, { subresource: 'status' });
  for (const name of ['one', 'two']) {
    await kube.create(resources.pods, {
      metadata: { name, namespace: 'default' },
      spec: { containers: [{ name: 'main', image: 'secret.example/app', resources: { requests: { cpu: '1' } } }] },
    });
    const body = { status: { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }] } };
    await kube.patch(
      resources.pods,
      { name, namespace: 'default' },
      { type: 'merge', body },
      { subresource: 'status' },
    );
  }
});
afterAll(async () => {
  for (const stop of stops) await stop();
  rmSync(folder, { recursive: true });
});

interface PlanDocument {
  pods: number;
  newNodes: { pods: string[] }[];
}

test('a snapshot of a live cluster plans like the cluster itself', async () => {
  const out = join(folder, 'cluster.json');
  const taken = await runKerf(['snapshot', '--kubeconfig', kubeconfig, '--out', out]);
  expect(taken).toMatchObject({ code: 0, out: '' });
  expect(readFileSync(out, 'utf8')).not.toContain('managedFields');
  const fromFile = await runKerf(['plan', '--snapshot', out, '-o', 'json']);
  const live = await runKerf(['plan', '--context', 'sim', '--kubeconfig', kubeconfig, '-o', 'json']);
  expect(live.code).toBe(0);
  expect(live.err).toMatch(/^note: no Lease says what a controller was set to: assumed the default settings; .*\n$/);
  const plan = JSON.parse(live.out) as PlanDocument;
  expect(plan.pods).toBe(2);
  expect(plan.newNodes.flatMap(({ pods }) => pods).sort()).toEqual(['default/one', 'default/two']);
  expect({ ...(JSON.parse(fromFile.out) as PlanDocument), solveMs: 0 }).toEqual({ ...plan, solveMs: 0 });
});

test('a redacted snapshot keeps the plan and loses the names', async () => {
  const { code, out } = await runKerf(['snapshot', '--kubeconfig', kubeconfig, '--redact', '-o', 'yaml']);
  expect(code).toBe(0);
  expect(out).not.toContain('secret.example');
  const planned = await runKerf(['plan', '--snapshot', '-', '-o', 'json'], { stdin: out });
  expect((JSON.parse(planned.out) as PlanDocument).pods).toBe(2);
});

test('a workload on top of the live cluster is planned beside what waits there', async () => {
  const stdin = JSON.stringify({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: { replicas: 3, template: { spec: { containers: [{ name: 'main' }] } } },
  });
  const { out } = await runKerf(['plan', '--context', '--kubeconfig', kubeconfig, '-f', '-', '-o', 'json'], { stdin });
  expect((JSON.parse(out) as PlanDocument).pods).toBe(5);
});

test('a context that does not exist is exit code 2 and says so', async () => {
  const { code, out, err } = await runKerf(['snapshot', '--kubeconfig', kubeconfig, '--context', 'prod']);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toMatch(/prod/);
});
