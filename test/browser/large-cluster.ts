// A large cluster behind a dashboard, in a process of its own: `large-cluster.ts NODES PODS_PER_NODE CHANGES_PER_SECOND shadow`.
// Its objects are in memory, in four pools with budgets, PodDisruptionBudgets and pods that must not be disrupted, and pods
// come and go as often as asked for. Sends its address to whoever started it. With `shadow` it plans and judges as a
// controller does, and writes nothing; without, no controller runs.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { raggedFleet } from '../../bench/workloads/fleets.ts';
import { seeded } from '../../bench/workloads/random.ts';
import { annotation, label } from '../../src/api/index.ts';
import { messageOf } from '../../src/base/index.ts';
import { shadowOf } from '../../src/controllers/index.ts';
import type { Cloud, Resource } from '../../src/ports/index.ts';
import { Manager, RealClock } from '../../src/runtime/index.ts';
import {
  assemble,
  growSlowly,
  LiveView,
  parseSettings,
  ShownKube,
  type ShownObject,
  serveDashboard,
  WhatIfs,
} from '../../src/server/index.ts';
import { prometheusMetrics, silentLog } from '../../src/telemetry/index.ts';

const [nodes = 1_000, podsPerNode = 20, changesPerSecond = 0] = process.argv.slice(2, 5).map(Number);
const isShadow = process.argv[5] === 'shadow';
const pools = ['apps', 'batch', 'data', 'web'] as const;
const teams = ['checkout', 'data', 'ingest', 'ml', 'payments', 'search', 'web'] as const;

const nodeClass: Resource = {
  group: 'karpenter.test.sh',
  version: 'v1',
  plural: 'testnodeclasses',
  kind: 'TestNodeClass',
  namespaced: false,
};
const nodeClassRef = { group: nodeClass.group, kind: nodeClass.kind, name: 'default' };

type Item = ShownObject;

const random = seeded(11);
const fleet = raggedFleet({ nodes: Math.max(nodes, 1), podsPerNode });
const memory = new ShownKube();
const pods: Item[] = [];

const numberIn = (name: string): number => Number(/\d+/.exec(name)?.[0] ?? 0);
const poolOf = (node: string): string => pools[Math.min(3, Math.floor(((numberIn(node) * 7) % 19) / 5))] as string;

function withLabels(item: Item, labels: Record<string, string>): Item {
  const own = item.metadata['labels'];
  return { ...item, metadata: { ...item.metadata, labels: { ...own, ...labels } } };
}

for (const item of fleet.objects.items as Item[]) {
  if (item.kind === 'NodePool') {
    for (const name of pools) {
      const spec = structuredClone(item['spec']) as Record<string, object>;
      const budgets =
        name === 'data'
          ? [{ nodes: '0', schedule: '0 8 * * 1-5', duration: '10h' }, { nodes: '5%' }]
          : [{ nodes: '10%' }];
      spec['disruption'] = { consolidateAfter: name === 'web' ? 'Never' : '30s', budgets };
      spec['limits'] = { cpu: String(nodes * 20) };
      memory.set({ ...item, metadata: { ...item.metadata, name, uid: name }, spec });
    }
  } else if (item.kind === 'Pod') {
    const team = teams[numberIn(item.metadata.name) % teams.length] as string;
    const isTouchy = random.next() < 0.004;
    const annotations = isTouchy ? { annotations: { [annotation.doNotDisrupt]: 'true' } } : {};
    const pod = { ...item, metadata: { ...item.metadata, namespace: team, ...annotations } } as Item;
    if (nodes > 0) memory.set(pod);
    pods.push(pod);
  } else if (nodes > 0) {
    const labelled = withLabels(item, { [label.nodePool]: poolOf(item.metadata.name) });
    const spec = item.kind === 'NodeClaim' ? { nodeClassRef, requirements: [] } : item['spec'];
    memory.set({ ...labelled, spec });
  }
}
for (let at = 0; at < (nodes > 0 ? 20 : 0); at++) {
  const app = `app-${String(at * 7).padStart(4, '0')}`;
  memory.set({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: app, namespace: teams[(at * 7) % teams.length] as string, uid: `pdb-${app}` },
    spec: { maxUnavailable: 0, selector: { matchLabels: { app } } },
    status: { disruptionsAllowed: 0, currentHealthy: 9, desiredHealthy: 9, expectedPods: 9 },
  });
}

const cloud: Cloud = {
  name: 'test',
  facts: fleet.provider as Cloud['facts'],
  nodeClasses: [nodeClass],
  create: () => Promise.reject(new Error('nothing is launched here')),
  delete: () => Promise.reject(new Error('nothing is launched here')),
  get: () => Promise.reject(new Error('nothing is launched here')),
  list: async () => [],
  instanceTypes: async () => fleet.instanceTypes?.[0]?.items ?? [],
  driftReason: async () => undefined,
  repairPolicies: () => [],
};
const clock = new RealClock();
const { context, touches, caches, always, leading } = assemble({
  kube: memory.kube(),
  cloud,
  clock,
  log: silentLog,
  metrics: prometheusMetrics(),
  recorder: { publish: () => undefined },
  settings: parseSettings({}, {}).settings,
  random: Math.random,
  onVerdicts: (verdicts) => live.takeVerdicts(verdicts),
  controllers: (given) => (isShadow ? shadowOf(given, []) : { controllers: [], loops: [] }),
});
const live: LiveView = new LiveView({ context, touches, real: clock });
const stop = new AbortController();
const running = new Manager({ clock, caches, always, leading }).run(stop.signal);
while (!context.cluster.synced) await sleep(20);
const server = await serveDashboard({
  context,
  live,
  decisions: undefined,
  info: { mode: 'controller', cluster: 'large', build: 'test', notVisible: () => [] },
  real: clock,
  port: 0,
  whatIfs: new WhatIfs({ context, live, real: clock }),
});
process.send?.({ url: server.url });

/** One pod starts, or ends and comes again on another node. */
function changeOne(at: number): void {
  const pod = pods[at] as Item;
  const other = pods[Math.floor(random.next() * pods.length)] as Item;
  const isRunning = (pod['status'] as { phase: string }).phase === 'Running';
  const nodeName = (other['spec'] as { nodeName: string }).nodeName;
  const now = isRunning
    ? { ...pod, status: { phase: 'Pending' } }
    : { ...pod, spec: { ...(pod['spec'] as object), nodeName }, status: { phase: 'Running' } };
  if (!isRunning) memory.delete(pod);
  memory.set(now);
  pods[at] = now;
}

/** Objects that were listed share more than those that came one by one: all come once before memory is measured. */
async function changeAll(): Promise<void> {
  for (let at = 0; at < pods.length * 2; at++) {
    changeOne(at % pods.length);
    if (at % 200 === 0) await sleep(1);
  }
  process.send?.({ changing: true });
}

/** So often a second, a few at a time. */
async function keepChanging(): Promise<void> {
  if (isShadow) await changeAll();
  const stepMs = 20;
  for (let owed = 0; ; await sleep(stepMs)) {
    for (owed += (changesPerSecond * stepMs) / 1000; owed >= 1; owed--)
      changeOne(Math.floor(random.next() * pods.length));
  }
}
/** What its thread and its memory came to since it was last asked; garbage is collected first where that is possible. */
const delays = monitorEventLoopDelay({ resolution: 5 });
delays.enable();
let resident: number[] = [];
setInterval(() => resident.push(process.memoryUsage.rss()), 250);
process.on('message', () => {
  const [p50Ms = 0, p99Ms = 0] = [50, 99].map((share) => delays.percentile(share) / 1e6 - 5);
  const maxMs = delays.max / 1e6 - 5;
  const rss = resident.reduce((sum, each) => sum + each, 0) / Math.max(1, resident.length);
  const mostRss = Math.max(0, ...resident);
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  const cpu = process.cpuUsage();
  const heap = heapUsed + external;
  process.send?.({ p50Ms, p99Ms, maxMs, rss, mostRss, heap, cpuMs: (cpu.user + cpu.system) / 1000 });
  resident = [];
  // The collection itself is noticed by a timer that comes after it.
  setTimeout(() => delays.reset(), 50);
});
growSlowly({ clock });
if (changesPerSecond > 0) void keepChanging();
process.on('disconnect', () => process.exit(0));
running.catch((error: unknown) => {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exit(1);
});
