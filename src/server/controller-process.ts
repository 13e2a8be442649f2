// The controller process: everything that `kerf controller` runs, wired once. Ends when told to, when leadership is
// lost, or when a part fails; the caller turns that into an exit code.
//
// 1. Probes answer from the first moment; /readyz only when every cache is filled.
// 2. Only the leader acts, through a client whose writes end with its term.
// 3. Stopping: controllers end, then the lease is given up, then caches and servers stop.
import { createWriteStream } from 'node:fs';
import { type Clock, KerfError } from '../base/index.ts';
import { type Controller, type ControllerContext, controllersOf, malformedController } from '../controllers/index.ts';
import { type ClusterAccess, KubeClient } from '../kube/index.ts';
import type { Cloud, Kube, Log, Metrics, Recorder } from '../ports/index.ts';
import { fencedKube, LeaderElection, leaderIdentity, loopMetrics, Manager, type Part } from '../runtime/index.ts';
import { jsonLog, kubeRecorder, prometheusMetrics } from '../telemetry/index.ts';
import { AdmissionGate } from './admission/gate.ts';
import { assemble, unsynced } from './assemble.ts';
import { callerFields } from './caller.ts';
import { serveEndpoints } from './endpoints.ts';
import { growSlowly, watchMemory } from './memory-limit.ts';
import type { Settings } from './settings/parse.ts';

export interface Provider {
  cloud: Cloud;
  /** Controllers beside those that every provider has. */
  controllers?(context: ControllerContext): Controller[];
  /** Runs beside the controllers while leading: what the provider has to do by itself. */
  parts?: readonly Part[];
  /** Called once caches are filled and before controllers start. */
  prepare?(signal: AbortSignal): Promise<void>;
}

export interface ControllerProcessOptions {
  settings: Settings;
  warnings: readonly string[];
  access: ClusterAccess;
  clock: Clock;
  env: Record<string, string | undefined>;
  version: string;
  commit: string;
  makeProvider(tools: ProviderTools): Promise<Provider>;
}

/** What a provider is built with. */
export interface ProviderTools {
  kube: Kube;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  recorder: Recorder;
  random: () => number;
  /** `v1.36.3`. */
  serverVersion(): Promise<string>;
}

/** Requests of the election are few, and must get through while everything else is throttled. */
const electionRate = { qps: 10, burst: 20 };

export async function runControllerProcess(
  options: ControllerProcessOptions,
  signal: AbortSignal,
): Promise<'stopped' | 'lost'> {
  const { settings, access, clock, env } = options;
  const log = logOf(options);
  const metrics = prometheusMetrics({ processMetrics: true });
  metrics
    .gauge({
      name: 'karpenter_build_info',
      help: 'What is running.',
      labels: ['version', 'goversion', 'goarch', 'commit'],
    })
    .set(1, {
      version: options.version,
      goversion: process.version,
      goarch: process.arch === 'x64' ? 'amd64' : process.arch,
      commit: options.commit,
    });
  for (const warning of options.warnings) log.error('ignoring malformed setting', warning);
  const loops = loopMetrics(metrics);
  if (!settings.disableLeaderElection) loops.leads(settings.leaderElectionName, false);
  const userAgent = `karpenter/${options.version}`;
  const client = new KubeClient({
    access,
    clock,
    userAgent,
    rateLimit: { qps: settings.kubeClientQps, burst: settings.kubeClientBurst },
    onRequest: (facts) => loops.requested(facts),
  });
  const electionKube = new KubeClient({ access, clock, userAgent, rateLimit: electionRate });
  const namespace = settings.leaderElectionNamespace || env['SYSTEM_NAMESPACE'] || access.namespace || 'default';
  const election = new LeaderElection({
    kube: electionKube,
    clock,
    lease: { name: settings.leaderElectionName, namespace },
    identity: leaderIdentity(),
    onFailure: (error) => log.error('leader election', error, { lease: `${namespace}/${settings.leaderElectionName}` }),
  });
  const isElected = (): boolean => settings.disableLeaderElection || election.isLeader();
  // The manager ends the leader's parts with its term; this fence is for what they still try in that moment. No signal:
  // one that thousands of requests listen to at once gets slow.
  const gate = new AdmissionGate();
  const kube = gate.kube(fencedKube(client, { isLeader: isElected }));
  const recorder = kubeRecorder(kube, clock, log);
  const provider = await options.makeProvider({
    kube,
    clock,
    log,
    metrics,
    recorder,
    random: Math.random,
    serverVersion: () => client.serverVersion(),
  });
  const { caches, always, leading } = assemble({
    kube,
    cloud: provider.cloud,
    clock,
    log,
    metrics,
    recorder,
    settings,
    random: Math.random,
    controllers: (context) => {
      const { controllers, loops } = controllersOf(context);
      const more = [malformedController(context, gate), ...(provider.controllers?.(context) ?? [])];
      return { controllers: [...controllers, ...more], loops };
    },
  });
  const manager = new Manager({
    clock,
    caches,
    always,
    leading: [announce(log, loops, settings.leaderElectionName, provider), ...(provider.parts ?? []), ...leading],
    ...(settings.disableLeaderElection ? {} : { election }),
  });
  const endpoints = await serveEndpoints({
    metricsPort: settings.metricsPort,
    healthPort: settings.healthProbePort,
    enableProfiling: settings.enableProfiling,
    metrics,
    notReady: () => {
      const waiting = unsynced(caches);
      return waiting === '' ? undefined : `waiting for ${waiting}`;
    },
  });
  const memory = [growSlowly({ clock }), watchMemory(settings.memoryLimit, { clock })];
  log.info('starting', { provider: provider.cloud.name, server: access.server });
  try {
    const { outcome, leftBehind } = await manager.run(signal);
    if (leftBehind.length > 0) log.error('stopped while parts were still working', leftBehind.join(', '));
    log.info('stopped', { outcome });
    return outcome;
  } finally {
    for (const watch of memory) watch.dispose();
    await endpoints.close();
  }
}

/** First to run when this process leads: says so, and lets the provider take up what an earlier process left. */
function announce(log: Log, loops: ReturnType<typeof loopMetrics>, lease: string, provider: Provider): Part {
  return {
    name: 'leadership',
    async run(signal) {
      loops.leads(lease, true);
      log.info('leading', { lease });
      await provider.prepare?.(signal);
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      loops.leads(lease, false);
    },
  };
}

function logOf({ settings, commit, clock }: ControllerProcessOptions): Log {
  const outputs = settings.logOutputPaths.map(outputTo);
  return jsonLog({
    level: settings.logLevel,
    commit,
    now: () => clock.now(),
    surroundings: callerFields,
    write: (line) => {
      for (const write of outputs) write(line);
    },
  });
}

function outputTo(path: string): (line: string) => void {
  if (path === 'stdout') return (line) => void process.stdout.write(line);
  if (path === 'stderr') return (line) => void process.stderr.write(line);
  const stream = createWriteStream(path, { flags: 'a' });
  stream.on('error', (error) => {
    throw new KerfError(
      'LogUnwritable',
      `cannot write the log to ${path}: ${error.message}; change --log-output-paths`,
      { cause: error },
    );
  });
  return (line) => void stream.write(line);
}
