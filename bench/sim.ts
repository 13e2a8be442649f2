// The embedded cluster's API: how many pods a second one client can create, how large it gets with 5,000 nodes and 100,000
// pods, how long a list of all of them holds up the loop, and whether fifty watchers see every event in order.
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Agent, request } from 'undici';
import type { Bench, Measurement } from './bench.ts';
import { simPod } from './workloads/sim-objects.ts';

const podsPath = '/api/v1/namespaces/default/pods';

interface Report {
  rssMiB: number;
  longestBlockMs: number;
}

class SimServer {
  readonly url: string;
  private readonly child: ChildProcess;

  constructor(child: ChildProcess, port: number) {
    this.child = child;
    this.url = `http://127.0.0.1:${port}`;
  }

  ask(what: 'reset' | 'report'): Promise<Report> {
    return new Promise((resolve) => {
      this.child.once('message', (report) => resolve(report as Report));
      this.child.send(what);
    });
  }

  stop(): void {
    this.child.kill();
  }
}

async function startServer(nodes: number, pods: number): Promise<SimServer> {
  const program = fileURLToPath(new URL('./workloads/sim-server.ts', import.meta.url));
  const child = fork(program, [String(nodes), String(pods)], { execArgv: ['--expose-gc'] });
  const { port } = await new Promise<{ port: number }>((resolve, reject) => {
    child.once('message', (message) => resolve(message as { port: number }));
    child.once('error', reject);
  });
  return new SimServer(child, port);
}

/** One client, as many requests under way as a busy controller has. */
async function createPods(server: SimServer, from: number, count: number): Promise<void> {
  const dispatcher = new Agent({ connections: 16 });
  let next = from;
  const worker = async (): Promise<void> => {
    while (next < from + count) {
      const body = JSON.stringify(simPod(next++));
      const answer = await request(`${server.url}${podsPath}`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json' },
        dispatcher,
      });
      await answer.body.dump();
      if (answer.statusCode !== 201) throw new Error(`creating a pod was answered with ${answer.statusCode}`);
    }
  };
  await Promise.all(Array.from({ length: 16 }, worker));
  await dispatcher.close();
}

async function measureCreate(count: number, runs: number): Promise<Measurement> {
  const server = await startServer(0, 0);
  const runsMs: number[] = [];
  for (let run = 0; run <= runs; run += 1) {
    const start = performance.now();
    await createPods(server, run * count, count);
    if (run > 0) runsMs.push(performance.now() - start);
  }
  server.stop();
  return { runsMs, items: count };
}

/** The figure is the longest block of the server's loop while the list is read, in milliseconds. */
async function measureListBlock(runs: number): Promise<Measurement> {
  const server = await startServer(5_000, 100_000);
  const runsMs: number[] = [];
  let peakRssMiB = 0;
  for (let run = 0; run < runs; run += 1) {
    await server.ask('reset');
    const answer = await request(`${server.url}${podsPath}`);
    await answer.body.dump({ limit: 2 ** 34 });
    const { longestBlockMs, rssMiB } = await server.ask('report');
    runsMs.push(longestBlockMs);
    peakRssMiB = Math.max(peakRssMiB, rssMiB);
  }
  server.stop();
  return { runsMs, items: 100_000, peakRssMiB };
}

/** Reads a watch until `count` pods were added, checking that they come in order. */
async function readWatch(server: SimServer, dispatcher: Agent, count: number): Promise<void> {
  const answer = await request(`${server.url}${podsPath}?watch=true&resourceVersion=1`, { dispatcher });
  let rest = '';
  let seen = 0;
  let version = 0;
  for await (const chunk of answer.body) {
    const lines = (rest + (chunk as Buffer).toString()).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const now = Number(/"resourceVersion":"(\d+)"/.exec(line)?.[1]);
      if (now <= version) throw new Error(`an event of version ${now} came after one of version ${version}`);
      version = now;
      seen += 1;
    }
    if (seen >= count) break;
  }
  if (seen !== count) throw new Error(`a watcher saw ${seen} of ${count} events`);
}

async function measureWatchers(count: number, runs: number): Promise<Measurement> {
  const runsMs: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const server = await startServer(0, 0);
    const dispatcher = new Agent({ bodyTimeout: 0 });
    const start = performance.now();
    const watchers = Promise.all(Array.from({ length: 50 }, () => readWatch(server, dispatcher, count)));
    await createPods(server, 0, count);
    await watchers;
    runsMs.push(performance.now() - start);
    await dispatcher.destroy();
    server.stop();
  }
  return { runsMs, items: count * 50 };
}

export const simBenches: Bench[] = [
  {
    name: 'sim/create',
    summary: 'pods created over HTTP by one client; at least 2,000 a second',
    quick: true,
    unit: 'pods',
    bar: { maxMs: 5_000 },
    measure: ({ runs }) => measureCreate(10_000, Math.min(runs, 3)),
  },
  {
    name: 'sim/list-block',
    summary: 'longest block of the loop while 100,000 pods are listed, beside 5,000 nodes',
    quick: false,
    unit: 'pods',
    bar: { maxMs: 50, maxRssMiB: 2_048 },
    measure: ({ runs }) => measureListBlock(Math.min(runs, 3)),
  },
  {
    name: 'sim/watchers',
    summary: '50 watchers see every one of 2,000 pods created, in order',
    quick: false,
    unit: 'events',
    measure: ({ runs }) => measureWatchers(2_000, Math.min(runs, 2)),
  },
];
