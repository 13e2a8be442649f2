// The client and its cache: how many watch events a second, how much memory for 100,000 pods, how long a start takes. The
// pods come from a process of their own (workloads/pod-server.ts), so memory figures are those of the cache.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { KubeClient } from '../src/kube/index.ts';
import { type Pod, resources } from '../src/ports/index.ts';
import { RealClock, Reflector, slimmer } from '../src/runtime/index.ts';
import type { Bench, Measurement } from './bench.ts';

interface PodServer {
  url: string;
  stop(): void;
}

async function startPodServer(count: number): Promise<PodServer> {
  const program = fileURLToPath(new URL('./workloads/pod-server.ts', import.meta.url));
  const child = spawn(process.execPath, [program, String(count)], { stdio: ['pipe', 'pipe', 'inherit'] });
  const port = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (bytes: Buffer) => resolve(bytes.toString().trim()));
    child.once('error', reject);
  });
  return { url: `http://127.0.0.1:${port}`, stop: () => child.stdin.end() };
}

function clientOf(server: string): KubeClient {
  return new KubeClient({
    access: {
      source: 'bench',
      server,
      namespace: 'default',
      tls: { insecure: false },
      credentials: { headers: async () => ({}), certificate: async () => undefined, rejected: () => false },
    },
    clock: new RealClock(),
    userAgent: 'kerf/bench',
    rateLimit: { qps: 0, burst: 0 },
  });
}

async function watchEvents(events: number, runs: number): Promise<Measurement> {
  const server = await startPodServer(1_000);
  const kube = clientOf(server.url);
  const runsMs: number[] = [];
  for (let run = 0; run <= runs; run++) {
    const start = performance.now();
    for await (const event of kube.watch(resources.pods, { resourceVersion: '1', labelSelector: `burst=${events}` })) {
      if (event.type === 'ADDED') throw new Error('not part of a burst');
    }
    if (run > 0) runsMs.push(performance.now() - start);
  }
  await kube.close();
  server.stop();
  return { runsMs, items: events };
}

/** What a planner reads of a pod stays; what only kubelets and people read goes. */
const slimPod = slimmer<Pod>({
  drop: [
    'metadata.generateName',
    'spec.containers.*.env',
    'spec.containers.*.image',
    'spec.containers.*.livenessProbe',
    'spec.containers.*.readinessProbe',
    'spec.containers.*.startupProbe',
    'spec.containers.*.volumeMounts',
    'spec.containers.*.terminationMessagePath',
    'spec.containers.*.terminationMessagePolicy',
    'spec.containers.*.imagePullPolicy',
    'spec.volumes.*.projected',
    'status.containerStatuses',
    'status.initContainerStatuses',
    'status.hostIPs',
    'status.podIPs',
  ],
  share: [
    'metadata.labels',
    'metadata.annotations',
    'spec.containers',
    'spec.tolerations',
    'spec.topologySpreadConstraints',
    'spec.affinity',
    'spec.securityContext',
    'status.conditions',
  ],
});

async function cachePods(count: number, transform?: (pod: Pod) => Pod): Promise<Measurement> {
  const server = await startPodServer(count);
  const kube = clientOf(server.url);
  const start = performance.now();
  const reflector = new Reflector<Pod>({
    kube,
    clock: new RealClock(),
    resource: resources.pods,
    indexers: { node: (pod) => pod.spec?.nodeName },
    ...(transform === undefined ? {} : { transform }),
  });
  const stop = new AbortController();
  const running = reflector.run(stop.signal);
  await reflector.whenSynced();
  const syncMs = performance.now() - start;
  (globalThis as { gc?: () => void }).gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  const mib = (bytes: number): number => Math.round(bytes / 1024 / 1024);
  process.stderr.write(`${reflector.store.size} pods cached: heap ${mib(heapUsed)} MiB, RSS now ${mib(rss)} MiB\n`);
  stop.abort();
  await running;
  await kube.close();
  server.stop();
  return { runsMs: [syncMs], items: count };
}

async function startUp(runs: number): Promise<Measurement> {
  const index = new URL('../src/kube/index.ts', import.meta.url).href;
  const script = `const start = performance.now(); await import(${JSON.stringify(index)}); console.log(performance.now() - start);`;
  const runsMs: number[] = [];
  for (let run = 0; run < runs; run++) {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const text = await new Promise<string>((resolve) =>
      child.stdout.once('data', (bytes: Buffer) => resolve(bytes.toString())),
    );
    runsMs.push(Number(text));
  }
  return { runsMs, items: 1 };
}

export const kubeBenches: Bench[] = [
  {
    name: 'kube-import',
    summary: 'importing the Kubernetes client from source in a fresh process',
    quick: true,
    unit: 'imports',
    measure: ({ runs }) => startUp(runs),
  },
  {
    name: 'kube-watch',
    summary: '20,000 watch events of 7 kB through HTTP and the client',
    quick: true,
    unit: 'events',
    measure: ({ runs }) => watchEvents(20_000, runs),
  },
  {
    name: 'kube-cache-whole',
    summary: '100,000 whole pods listed into a cache with one index',
    quick: false,
    unit: 'pods',
    measure: () => cachePods(100_000),
  },
  {
    name: 'kube-cache-slim',
    summary: '100,000 pods, slimmed to what planning reads, equal parts shared',
    quick: false,
    unit: 'pods',
    measure: () => cachePods(100_000, slimPod),
  },
];
