// The controller process: everything that `kerf controller` runs, wired once. Ends when asked to, when leadership is
// lost, or when a part fails; the caller turns that into an exit code.
//
// 1. Probes answer from the first moment; /readyz only when every cache is filled and fresh; /healthz fails when a controller hangs.
// 2. Only the leader acts, through clients of Kubernetes and the provider whose writes end with its term; who loses it
//    leaves at once.
// 3. Stopping: controllers end, then the lease is given up, then caches and servers stop.
import { createWriteStream } from 'node:fs';
import type { Clock } from '../base/index.ts';
import {
  type AboutProvider,
  type Controller,
  type ControllerContext,
  controllersOf,
  publishedAnnotations,
  shadowOf,
} from '../controllers/index.ts';
import { type ClusterAccess, KubeClient } from '../kube/index.ts';
import type { Cloud, Kube, Log, Metrics, Recorder, ShadowReport } from '../ports/index.ts';
import {
  fencedKube,
  LeaderElection,
  leaderIdentity,
  loopMetrics,
  Manager,
  type Part,
  ServerTime,
} from '../runtime/index.ts';
import { DecisionRing, jsonLog, kubeRecorder, prometheusMetrics } from '../telemetry/index.ts';
import { assemble, stale, unsynced } from './assemble.ts';
import { callerFields } from './caller.ts';
import { type DashboardServer, type Finding, LiveView, serveDashboard, Usage, WhatIfs } from './dashboard/index.ts';
import { serveEndpoints } from './endpoints.ts';
import { collectWhenQuiet, growSlowly, watchMemory } from './memory-limit.ts';
import { outageLog } from './outage-log.ts';
import { publisher } from './publisher.ts';
import { DecisionRecorder } from './recording/recorder.ts';
import type { Settings } from './settings/parse.ts';

export interface Provider {
  cloud: Cloud;
  /** Controllers beside those that every provider has. */
  controllers?(context: ControllerContext): Controller[];
  /** Runs beside the controllers while leading: what the provider has to do by itself. */
  parts?: readonly Part[];
  /** Called once caches are filled and before controllers start. */
  prepare?(signal: AbortSignal, context: ControllerContext): Promise<void>;
}

export interface ControllerProcessOptions {
  settings: Settings;
  warnings: readonly string[];
  /** Settings that are accepted and change nothing. */
  notes?: readonly string[];
  access: ClusterAccess;
  clock: Clock;
  env: Record<string, string | undefined>;
  version: string;
  commit: string;
  /** What readers should know of the provider to compute its instance types as it does. */
  about?: AboutProvider;
  /** What `kerf validate` finds in a text, for the dashboard. */
  validate?: (text: string) => Promise<Finding[]>;
  makeProvider(tools: ProviderTools): Promise<Provider>;
  /** Look, plan and write nothing; `events` are the one thing that it may write if asked to. */
  shadow?: { events: boolean };
}

/** What a provider is built with. */
export interface ProviderTools {
  kube: Kube;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  recorder: Recorder;
  random: () => number;
  /** Whether this process leads right now: asked before every write to the provider's services. */
  mayWrite(): boolean;
  /** `v1.36.3`. */
  serverVersion(): Promise<string>;
}

const notLeading = 'this replica does not lead: decisions are made by another';

/** Of requests that no one answered. */
const noAnswer = '<error>';

/** Requests of the election are few, and must get through while everything else is throttled. */
const electionRate = { qps: 10, burst: 20 };

export async function runControllerProcess(
  options: ControllerProcessOptions,
  signal: AbortSignal,
): Promise<'stopped' | 'lost'> {
  const { settings, access, clock, env } = options;
  const { log, answered } = outageLog(logOf(options), clock);
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
  for (const setting of options.notes ?? []) log.info('setting without effect', { setting });
  const loops = loopMetrics(metrics);
  if (!settings.disableLeaderElection) loops.leads(settings.leaderElectionName, false);
  const userAgent = `karpenter/${options.version}`;
  const time = new ServerTime(clock);
  const onServerTime = (serverMs: number): void => time.heard(serverMs);
  const client = new KubeClient({
    access,
    clock,
    onServerTime,
    mayWrite: () => isElected(),
    userAgent,
    rateLimit: { qps: settings.kubeClientQps, burst: settings.kubeClientBurst },
    onRequest: (facts) => {
      loops.requested(facts);
      if (facts.code !== noAnswer) answered();
    },
  });
  const electionKube = new KubeClient({ access, clock, userAgent, rateLimit: electionRate, onServerTime });
  const namespace = settings.leaderElectionNamespace || env['SYSTEM_NAMESPACE'] || access.namespace || 'default';
  // Known once everything is put together; the first term begins after that.
  const published: { annotations?: () => Record<string, string> } = {};
  const election = new LeaderElection({
    kube: electionKube,
    clock,
    lease: { name: settings.leaderElectionName, namespace },
    identity: leaderIdentity(),
    annotations: () => (options.shadow === undefined ? (published.annotations?.() ?? {}) : {}),
    onHeld: (holder, isKerf) =>
      log.info('waiting for the lease', {
        lease: `${namespace}/${settings.leaderElectionName}`,
        holder,
        kind: isKerf ? 'Kerf' : 'another autoscaler, most likely Karpenter: stop it to let this one work',
      }),
    onFailure: (error) => log.error('leader election', error, { lease: `${namespace}/${settings.leaderElectionName}` }),
  });
  const { shadow } = options;
  const isElected = (): boolean => shadow === undefined && (settings.disableLeaderElection || election.isLeader());
  // The manager ends the leader's parts with its term; this fence is for what they still try in that moment, and the
  // client's own for what waited at its rate limiter. No signal: one that thousands of requests listen to at once gets slow.
  const kube = fencedKube(client, { isLeader: isElected });
  const recorder =
    shadow === undefined || shadow.events ? kubeRecorder(shadow ? electionKube : kube, clock, log) : silent;
  const provider = await options.makeProvider({
    kube,
    clock,
    log,
    metrics,
    recorder,
    random: Math.random,
    mayWrite: isElected,
    serverVersion: () => client.serverVersion(),
  });
  let shadowReport: (() => ShadowReport) | undefined;
  // The last decisions are always kept; who shows them is another question.
  const decisions = new DecisionRing(clock, metrics);
  const recording =
    settings.record === ''
      ? undefined
      : new DecisionRecorder({ file: settings.record, clock, log, version: options.version, decisions });
  let live: LiveView | undefined;
  const { caches, always, leading, context, hanging, touches } = assemble({
    kube,
    cloud: provider.cloud,
    clock,
    time,
    log,
    metrics,
    recorder,
    settings,
    random: Math.random,
    decisions,
    ...(recording !== undefined && { recording }),
    onVerdicts: (verdicts) => live?.takeVerdicts(verdicts),
    controllers: (given, objects) => {
      if (shadow !== undefined) {
        const parts = shadowOf(given, provider.controllers?.(given) ?? []);
        shadowReport = parts.report;
        return parts;
      }
      const { controllers, loops } = controllersOf(given, objects);
      return { controllers: [...controllers, ...(provider.controllers?.(given) ?? [])], loops };
    },
  });
  const annotations = () => publishedAnnotations(context, options.about);
  published.annotations = annotations;
  const lease = { name: settings.leaderElectionName, namespace };
  const publishing = { kube, clock, log, lease, annotations };
  const manager = new Manager({
    clock,
    caches,
    always,
    leading: [
      announce(log, loops, settings.leaderElectionName, (term) =>
        shadow === undefined ? provider.prepare?.(term, context) : undefined,
      ),
      ...(shadow === undefined ? (provider.parts ?? []) : []),
      ...leading,
      ...(settings.disableLeaderElection ? [publisher(publishing)] : []),
    ],
    ...(settings.disableLeaderElection ? {} : { election }),
  });
  const endpoints = await serveEndpoints({
    metricsPort: settings.metricsPort,
    healthPort: settings.healthProbePort,
    enableProfiling: settings.enableProfiling,
    metrics,
    unhealthy: hanging,
    pages: shadowReport === undefined ? {} : { '/shadow': shadowReport },
    notReady: () => {
      const waiting = unsynced(caches);
      return waiting === '' ? stale(caches) || undefined : `waiting for ${waiting}`;
    },
  });
  let dashboard: DashboardServer | undefined;
  if (settings.dashboardPort > 0) {
    live = new LiveView({ context, touches, real: clock, decisions });
    const usage = new Usage(client, clock);
    dashboard = await serveDashboard({
      context,
      live,
      decisions,
      info: {
        mode: shadow === undefined ? 'controller' : 'shadow',
        cluster: new URL(access.server).host,
        build: options.version,
        notVisible: () => (isElected() || shadow !== undefined ? [] : [notLeading]),
      },
      ...(shadowReport !== undefined && { shadow: shadowReport }),
      usage: () => usage.read(),
      real: clock,
      port: settings.dashboardPort,
      whatIfs: new WhatIfs({ context, live, real: clock, ...(options.validate && { validate: options.validate }) }),
    });
  }
  const memory = [growSlowly({ clock }), collectWhenQuiet({ clock }), watchMemory(settings.memoryLimit, { clock })];
  log.info('starting', {
    provider: provider.cloud.name,
    server: access.server,
    ...(shadow === undefined ? {} : { shadow: true }),
  });
  try {
    const { outcome, leftBehind } = await manager.run(signal);
    if (leftBehind.length > 0) log.error('stopped while parts were still working', leftBehind.join(', '));
    if (outcome === 'lost')
      log.error(
        'leader election lost',
        'the Lease was not renewed in time, or another replica holds it: this process ends',
      );
    log.info('stopped', { outcome });
    return outcome;
  } finally {
    for (const watch of memory) watch.dispose();
    await recording?.close();
    await dashboard?.close();
    await endpoints.close();
  }
}

/** A shadow tells no one but its log and its page. */
const silent: Recorder = { publish: () => {} };

/** First to run when this process leads: says so, and lets the provider take up what an earlier process left. */
function announce(
  log: Log,
  loops: ReturnType<typeof loopMetrics>,
  lease: string,
  prepare: (signal: AbortSignal) => Promise<void> | undefined,
): Part {
  return {
    name: 'leadership',
    async run(signal) {
      loops.leads(lease, true);
      log.info('leading', { lease });
      await prepare(signal);
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      loops.leads(lease, false);
    },
  };
}

function logOf({ settings, commit, clock }: ControllerProcessOptions): Log {
  // A full disk must not end the controller; what is lost is said where that can be.
  const problems = settings.logErrorOutputPaths.map((path) => outputTo(path, () => {}));
  const outputs = settings.logOutputPaths.map((path) =>
    outputTo(path, (error) => {
      const line = `cannot write the log to ${path}: ${error.message}; change --log-output-paths\n`;
      for (const write of problems) write(line);
    }),
  );
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

function outputTo(path: string, failed: (error: Error) => void): (line: string) => void {
  if (path === 'stdout') return (line) => void process.stdout.write(line);
  if (path === 'stderr') return (line) => void process.stderr.write(line);
  const stream = createWriteStream(path, { flags: 'a' });
  stream.on('error', failed);
  return (line) => void (stream.writable && stream.write(line));
}
