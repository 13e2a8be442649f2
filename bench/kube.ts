// The client and its cache: how many watch events a second, how much memory for 100,000 pods, how long a start takes. The
// pods come from a process of their own (workloads/pod-server.ts), so memory figures are those of the cache.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { KubeClient } from '../src/kube/index.ts';
import { type Pod, resources } from '../src/ports/index.ts';
import { RealClock, Reflector } from '../src/runtime/index.ts';
import { growSlowly } from '../src/server/memory-limit.ts';
import { slimmingOf } from '../src/server/slimming.ts';
import type { Bench, Measurement } from './bench.ts';
import { usualPodsPerWorkload } from './workloads/pod-json.ts';

interface PodServer {
  url: string;
  stop(): void;
}

async function startPodServer(count: number, podsPerWorkload = usualPodsPerWorkload): Promise<PodServer> {
  const program = fileURLToPath(new URL('./workloads/pod-server.ts', import.meta.url));
  const child = spawn(process.execPath, [program, String(count), String(podsPerWorkload)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
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

interface CacheOptions {
  count: number;
  workloads: number;
  /** False keeps pods whole. */
  slimmed?: boolean;
  /** Live bytes of the cache: what the heap has more after the listing, garbage collected. */
  maxHeapMiB?: number;
}

async function cachePods({ count, workloads, slimmed = true, maxHeapMiB }: CacheOptions): Promise<Measurement> {
  const server = await startPodServer(count, count / workloads);
  const kube = clientOf(server.url);
  const transform = slimmed ? slimmingOf(resources.pods) : undefined;
  const growth = growSlowly({ clock: new RealClock() });
  const before = liveHeapMiB();
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
  const peakRssMiB = process.resourceUsage().maxRSS / 1024;
  const heapMiB = liveHeapMiB() - before;
  stop.abort();
  await running;
  await kube.close();
  server.stop();
  growth.dispose();
  const size = `${reflector.store.size} pods keep ${heapMiB.toFixed(0)} MiB alive`;
  const isOver = maxHeapMiB !== undefined && heapMiB > maxHeapMiB;
  return {
    runsMs: [syncMs],
    items: count,
    peakRssMiB,
    remark: size,
    ...(isOver ? { broken: [`${size}, at most ${maxHeapMiB} promised`] } : {}),
  };
}

function liveHeapMiB(): number {
  const collect = (globalThis as { gc?: () => void }).gc;
  if (collect === undefined)
    throw new Error('start with --expose-gc: memory that lives is measured after a collection');
  collect();
  return process.memoryUsage().heapUsed / 2 ** 20;
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
    measure: () => cachePods({ count: 100_000, workloads: 2_000, slimmed: false }),
  },
  {
    name: 'kube-cache-slim(500)',
    summary: '100,000 pods of 500 workloads as the controller keeps them; at most 120 MiB alive',
    quick: false,
    unit: 'pods',
    measure: () => cachePods({ count: 100_000, workloads: 500, maxHeapMiB: 120 }),
  },
  {
    name: 'kube-cache-slim(20000)',
    summary: '100,000 pods of 20,000 workloads as the controller keeps them; at most 300 MiB alive',
    quick: false,
    unit: 'pods',
    measure: () => cachePods({ count: 100_000, workloads: 20_000, maxHeapMiB: 300 }),
  },
];
