// The controllers at work, as the process runs them, against a cluster in another process: how soon NodeClaims are written,
// how long a turn of the event loop gets in a burst, how much memory a quiet cluster takes.
import { type ChildProcess, fork, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ClusterAccess } from '../src/kube/index.ts';
import { RealClock } from '../src/runtime/index.ts';
import { parseSettings, runControllerProcess } from '../src/server/index.ts';
import { genericCatalogue, KwokCloud, kwokProviderFacts } from '../src/sim/index.ts';
import type { Bench, Measurement } from './bench.ts';
import { snapshotBench } from './snapshot.ts';
import type { Burst, BurstReport } from './workloads/cluster-server.ts';
import { Turns, threadMs } from './workloads/turns.ts';

/** The default of BATCH_IDLE_DURATION. */
const batchIdleMs = 1_000;

interface Setting {
  url: string;
  burst(wanted: Burst): Promise<BurstReport>;
}

/** Runs the work beside a cluster in a process of its own. */
async function besideCluster<T>(nodes: number, podsPerNode: number, work: (on: Setting) => Promise<T>): Promise<T> {
  const program = fileURLToPath(new URL('./workloads/cluster-server.ts', import.meta.url));
  const server = fork(program, [String(nodes), String(podsPerNode)]);
  try {
    const { port } = await answer<{ port: number }>(server);
    return await work({
      url: `http://127.0.0.1:${port}`,
      burst: (wanted) => {
        server.send(wanted);
        return answer<BurstReport>(server);
      },
    });
  } finally {
    server.kill();
  }
}

/** Runs the work beside controllers, in this process, that have read everything. */
function besideControllers<T>(work: (on: Setting) => Promise<T>): Promise<T> {
  return besideCluster(0, 0, async (setting) => {
    const stop = new AbortController();
    const running = runControllers(setting.url, stop.signal);
    try {
      await Promise.race([running, sleep(5_000)]);
      return await work(setting);
    } finally {
      stop.abort();
      await running;
    }
  });
}

function answer<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    child.once('message', (message) => resolve(message as T));
    child.once('error', reject);
    child.once('exit', () => reject(new Error('the cluster ended')));
  });
}

async function runControllers(server: string, signal: AbortSignal): Promise<void> {
  const clock = new RealClock();
  const access: ClusterAccess = {
    source: 'bench',
    server,
    namespace: 'default',
    tls: { insecure: false },
    credentials: { headers: async () => ({}), certificate: async () => undefined, rejected: () => false },
  };
  const { settings, warnings } = parseSettings(
    { 'metrics-port': '0', 'health-probe-port': '0', 'log-output-paths': '/dev/null' },
    {},
  );
  await runControllerProcess(
    {
      settings,
      warnings,
      access,
      clock,
      env: {},
      version: 'bench',
      commit: 'bench',
      makeProvider: async ({ kube, log, random }) => ({
        cloud: new KwokCloud({ kube, clock, log, random, catalogue: genericCatalogue(), facts: kwokProviderFacts() }),
      }),
    },
    signal,
  );
}

async function measureReaction(runs: number): Promise<Measurement> {
  const runsMs: number[] = [];
  for (let run = 0; run < runs; run++) {
    await besideControllers(async ({ burst }) => {
      const started = threadMs();
      const { reactionMs } = await burst({ burst: 500, kind: 'diverse' });
      runsMs.push(reactionMs);
      process.stderr.write(`${(threadMs() - started).toFixed(0)} ms of our own thread\n`);
    });
  }
  return { runsMs, items: 500 };
}

async function measureSpread(runs: number): Promise<Measurement> {
  const runsMs: number[] = [];
  let nodes = 0;
  for (let run = 0; run < runs; run++) {
    await besideControllers(async ({ burst }) => {
      const turns = new Turns();
      turns.start();
      nodes = (await burst({ burst: 2_000, kind: 'spread' })).claims;
      runsMs.push(turns.stop().busyMs);
    });
  }
  return { runsMs, items: 2_000, nodes };
}

async function measureBurst(runs: number): Promise<Measurement> {
  const runsMs: number[] = [];
  for (let run = 0; run < runs; run++) {
    await besideControllers(async ({ burst }) => {
      const turns = new Turns();
      turns.start();
      const { claims, reactionMs } = await burst({ burst: 10_000, kind: 'diverse' });
      const { p99Ms, longestMs, busyMs } = turns.stop();
      runsMs.push(p99Ms);
      process.stderr.write(
        `longest turn ${longestMs.toFixed(0)} ms, p99 ${p99Ms.toFixed(0)} ms of ${busyMs.toFixed(0)} ms at work; ` +
          `${claims} claims, the last ${(reactionMs / 1000).toFixed(1)} s after the last pod\n`,
      );
    });
  }
  return { runsMs, items: 10_000 };
}

/** The start, whose work and garbage are not the steady state's. */
const startSeconds = 120;
const quietSeconds = 600;

/** The command as it is installed, ten minutes of nothing happening: rounds of disruption, polls and metrics included. */
function measureIdle(): Promise<Measurement> {
  const root = fileURLToPath(new URL('..', import.meta.url));
  // Run from its sources it keeps those and what reads them, some 20 MiB.
  const { status } = spawnSync(process.execPath, ['scripts/build.ts'], { cwd: root, stdio: 'ignore' });
  if (status !== 0) throw new Error('the command cannot be built: npm run build says why');
  return besideCluster(1_150, 26, async ({ url }) => {
    const folder = mkdtempSync(join(tmpdir(), 'kerf-bench-'));
    const kubeconfig = join(folder, 'kubeconfig');
    writeFileSync(kubeconfig, JSON.stringify(kubeconfigFor(url)));
    const args = ['controller', '--provider', 'kwok', '--metrics-port', '0', '--health-probe-port', '0'];
    const controller = spawn(fileURLToPath(new URL('../bin/kerf', import.meta.url)), args, {
      env: { ...process.env, KUBECONFIG: kubeconfig },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    try {
      let peakRssMiB = 0;
      let startMs = 0;
      for (let second = 0; second < startSeconds + quietSeconds; second++) {
        await sleep(1_000);
        if (controller.exitCode !== null) throw new Error(`the controller ended with ${controller.exitCode}`);
        if (second < startSeconds) startMs = processMs(controller.pid);
        else peakRssMiB = Math.max(peakRssMiB, residentMiB(controller.pid));
      }
      const busyMs = processMs(controller.pid) - startMs;
      const share = `${(busyMs / quietSeconds / 10).toFixed(1)} % of one core`;
      return { runsMs: [busyMs], items: 29_900, peakRssMiB, remark: share };
    } finally {
      controller.kill();
      rmSync(folder, { recursive: true });
    }
  });
}

function kubeconfigFor(server: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'bench', cluster: { server } }],
    contexts: [{ name: 'bench', context: { cluster: 'bench', user: 'bench' } }],
    users: [{ name: 'bench', user: {} }],
    'current-context': 'bench',
  };
}

function residentMiB(pid = 0): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

/** What all threads of the process have computed; Linux counts hundredths of a second. */
function processMs(pid = 0): number {
  const [, , ...fields] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ');
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

export const controllerBenches: Bench[] = [
  {
    name: 'controllers/reaction',
    summary: 'from the last of 500 unschedulable pods to the last NodeClaim written; batch idle time included',
    quick: false,
    unit: 'pods',
    bar: { maxMs: batchIdleMs + 300 },
    measure: ({ runs }) => measureReaction(Math.min(runs, 3)),
  },
  {
    name: 'controllers/spread',
    summary: 'time of our own thread for 2,000 pods with hostname spread, from pods to registered claims',
    quick: false,
    unit: 'pods',
    bar: { maxMs: 10_000 },
    measure: ({ runs }) => measureSpread(Math.min(runs, 2)),
  },
  {
    name: 'controllers/burst',
    summary: 'what arrives in a burst of 10,000 pods waits this long for the event loop (p99)',
    quick: false,
    unit: 'pods',
    bar: { maxMs: 50 },
    measure: ({ runs }) => measureBurst(Math.min(runs, 2)),
  },
  {
    name: 'controllers/idle',
    summary:
      'memory of `kerf controller` on a quiet cluster with 1,150 nodes and 30,000 pods; the time is what it computes in ten minutes',
    quick: false,
    unit: 'pods',
    // 2 % of one core.
    bar: { maxRssMiB: 200, maxMs: 20 * quietSeconds },
    measure: () => measureIdle(),
  },
  snapshotBench,
];
