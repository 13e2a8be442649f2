// Our controllers in the process of the embedded cluster: the same parts as `kerf controller`, without an election; and what
// its dashboard shows of them.
import type { Clock } from '../../base/index.ts';
import { instanceTypesOfPools, nodeClaims, publishedAnnotations, snapshotFor } from '../../controllers/index.ts';
import type { Kube, Log } from '../../ports/index.ts';
import { Manager, RealClock } from '../../runtime/index.ts';
import { type Assembly, assemble, DecisionRecorder, LiveView, publisher, type Settings } from '../../server/index.ts';
import type { KwokCloud } from '../../sim/index.ts';
import { DecisionRing, kubeRecorder, prometheusMetrics } from '../../telemetry/index.ts';
import { version } from '../version.ts';
import { type Pace, publishedClock } from './published-clock.ts';

export interface ControllersOptions {
  kube: Kube;
  clock: Clock;
  cloud: KwokCloud;
  log: Log;
  random: () => number;
  settings: Settings;
  /** What the cluster sells. */
  catalogue: string;
  /** How fast its time passes just now, 0 while it stands still, and the machine's own time; left out where they are one. */
  pace?: Pace;
  /** File to record decisions to. */
  record?: string;
  /** False: the cluster is only looked at. */
  act: boolean;
}

export interface Controllers {
  assembly: Assembly;
  decisions: DecisionRing;
  live: LiveView;
  metrics: ReturnType<typeof prometheusMetrics>;
  /** Where decisions are recorded; `written` resolves once what was decided is there. */
  recording?: { file: string; written(): Promise<void> };
  /** What no object says is written down for readers at once: after a change of pace their idea of the time is wrong. */
  publishNow(): Promise<void>;
  /** Resolves when `signal` has ended everything; rejects when a part fails. */
  run(signal: AbortSignal): Promise<void>;
}

/** Where readers look for what a controller publishes. */
const lease = { name: 'karpenter-leader-election', namespace: 'kube-system' };

export function makeControllers(options: ControllersOptions): Controllers {
  const { kube, clock, cloud, log, random, settings, catalogue, pace, record, act } = options;
  const metrics = prometheusMetrics();
  const decisions = new DecisionRing(clock, metrics);
  const recording =
    record === undefined ? undefined : new DecisionRecorder({ file: record, clock, log, version, decisions });
  const assembly = assemble({
    kube,
    cloud,
    clock,
    log,
    metrics,
    recorder: kubeRecorder(kube, clock, log),
    settings,
    random,
    decisions,
    ...(recording !== undefined && { recording }),
    onVerdicts: (verdicts) => live.takeVerdicts(verdicts),
    ...(!act && { controllers: () => ({ controllers: [], loops: [] }) }),
  });
  const { context, touches, caches, leading } = assembly;
  const live = new LiveView({ context, touches, real: new RealClock(), decisions });
  const clockNote = pace && publishedClock(clock, pace);
  const annotations = () => publishedAnnotations(context, { catalogue }, clockNote?.());
  const publishing = publisher({ kube, clock: pace?.real ?? clock, log, lease, annotations });
  const publishNow = (): Promise<void> => (act ? publishing.publishNow() : Promise.resolve());
  const run = async (signal: AbortSignal): Promise<void> => {
    await cloud.recover((await context.kube.list(nodeClaims)).items);
    if (recording !== undefined) void recordLooks(assembly, recording, clock, signal);
    try {
      await new Manager({ clock, caches, leading: [...leading, ...(act ? [publishing] : [])] }).run(signal);
    } finally {
      await recording?.close();
    }
  };
  const kept =
    recording === undefined || record === undefined
      ? {}
      : { recording: { file: record, written: () => recording.written() } };
  return { assembly, decisions, live, metrics, publishNow, run, ...kept };
}

/** Between passes the cluster changes too; whoever plays the recording wants to see that. */
const lookMs = 5_000;

async function recordLooks(
  { context }: Assembly,
  recording: DecisionRecorder,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  let seen = Number.NaN;
  while (!signal.aborted) {
    await clock.sleep(lookMs, signal).catch(() => undefined);
    const changedAt = context.cluster.changedAt();
    if (signal.aborted || !context.cluster.synced || changedAt === seen) continue;
    seen = changedAt;
    recording.look(snapshotFor(context, await instanceTypesOfPools(context)));
  }
}
