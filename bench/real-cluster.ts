// The controllers beside a real control plane: what planning takes when pods come at the pace of a real scheduler, over
// several passes. Needs the components that `npm run control-plane` builds.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { customResourceDefinition, kinds } from '../src/api/index.ts';
import { ControllerProcess } from '../test/end-to-end/harness/controller-process.ts';
import { type ControlPlane, startControlPlane } from '../test/setup/control-plane.ts';
import { Supervisor } from '../test/setup/supervisor.ts';
import type { Bench, Measurement } from './bench.ts';
import { hostnameSpreadPods, withoutServerFields } from './workloads/pods.ts';
import { seeded } from './workloads/random.ts';

const pods = 2_000;
/** Pods that are created at the same time. */
const clients = 16;
const patienceMs = 600_000;
const nodeClassRef = { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' };
const podsPath = '/api/v1/namespaces/default/pods';

async function create(cluster: ControlPlane, path: string, object: object): Promise<void> {
  const { status, body } = await cluster.request('POST', path, object);
  if (status >= 300) throw new Error(`cannot create at ${path}: ${status} ${JSON.stringify(body)}`);
}

/** `done` is asked every second. */
async function until(what: string, done: () => Promise<boolean>): Promise<void> {
  for (const endMs = Date.now() + patienceMs; Date.now() < endMs; await sleep(1_000)) if (await done()) return;
  throw new Error(`not within ${patienceMs / 1000} s: ${what}`);
}

async function createObjects(cluster: ControlPlane): Promise<void> {
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  for (const kind of kinds) await create(cluster, definitions, customResourceDefinition(kind));
  await cluster.kubectl(['wait', 'crd', '--all', '--for=condition=Established', '--timeout=60s']);
  await create(cluster, '/apis/karpenter.kwok.sh/v1alpha1/kwoknodeclasses', {
    apiVersion: 'karpenter.kwok.sh/v1alpha1',
    kind: 'KWOKNodeClass',
    metadata: { name: 'default' },
    spec: {},
  });
  await create(cluster, '/apis/karpenter.sh/v1/nodepools', {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name: 'default' },
    spec: { template: { spec: { nodeClassRef, requirements: [] } }, disruption: { consolidateAfter: 'Never' } },
  });
  const accounts = '/api/v1/namespaces/default/serviceaccounts/default';
  await until('the service account is there', async () => (await cluster.request('GET', accounts)).status === 200);
}

async function scaleUp(cluster: ControlPlane): Promise<void> {
  const waiting = hostnameSpreadPods(pods, seeded(7)).map(withoutServerFields);
  const work = async (): Promise<void> => {
    for (let pod = waiting.pop(); pod !== undefined; pod = waiting.pop()) await create(cluster, podsPath, pod);
  };
  await Promise.all(Array.from({ length: clients }, work));
  await until('every pod is bound', async () => {
    const { body } = await cluster.request('GET', `${podsPath}?fieldSelector=spec.nodeName%3D&limit=1`);
    return (body as { items: unknown[] }).items.length === 0;
  });
}

interface Profile {
  nodes: { id: number; callFrame: { functionName: string }; children?: number[] }[];
  samples: number[];
  /** Microseconds. */
  timeDeltas: number[];
}

/** The time in which the function, or anything it called, was being executed. */
function timeInsideMs({ nodes, samples, timeDeltas }: Profile, functionName: string): number {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const inside = new Set<number>();
  const enter = (id: number): void => {
    inside.add(id);
    for (const child of byId.get(id)?.children ?? []) enter(child);
  };
  for (const { id, callFrame } of nodes) if (callFrame.functionName === functionName) enter(id);
  // A delta is the time since the sample before.
  const during = timeDeltas.filter((_, index) => inside.has(samples[index - 1] ?? -1));
  return during.reduce((sum, delta) => sum + delta, 0) / 1_000;
}

/** Planning is done in slices, with other work in between: a profile tells them apart. */
async function measureSpread(): Promise<Measurement> {
  const cluster = await startControlPlane({ controllerManager: true, scheduler: true });
  const supervisor = new Supervisor('bench');
  const folder = mkdtempSync(join(tmpdir(), 'kerf-bench-'));
  try {
    await createObjects(cluster);
    const controller = await ControllerProcess.start(supervisor, cluster.kubeconfig, {
      flags: { 'disable-leader-election': true },
      env: { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${folder}` },
    });
    await controller.ready();
    await scaleUp(cluster);
    const metrics = await controller.metrics();
    const claims = await cluster.request('GET', '/apis/karpenter.sh/v1/nodeclaims');
    await controller.terminate();
    const [file = ''] = readdirSync(folder);
    const profile = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Profile;
    const duration = 'karpenter_scheduler_scheduling_duration_seconds';
    const passes = metrics.sum(`${duration}_count`, { controller: 'provisioner' });
    const wall = metrics.sum(`${duration}_sum`, { controller: 'provisioner' });
    const cpu = metrics.sum('process_cpu_seconds_total');
    return {
      runsMs: [timeInsideMs(profile, 'planSnapshotInSlices')],
      items: pods,
      nodes: (claims.body as { items: unknown[] }).items.length,
      peakRssMiB: metrics.sum('process_resident_memory_bytes') / 2 ** 20,
      remark: `${passes} passes, ${wall.toFixed(1)} s from begin to end with other work between their slices; ${cpu.toFixed(1)} s of CPU altogether`,
    };
  } finally {
    await supervisor.end();
    await cluster.stop();
    rmSync(folder, { recursive: true });
  }
}

export const realClusterBenches: Bench[] = [
  {
    name: 'real/spread',
    summary: 'what all planning computes for 2,000 pods with hostname spread, on a real control plane',
    quick: false,
    unit: 'pods',
    bar: { maxMs: 1_000 },
    measure: () => measureSpread(),
  },
];
