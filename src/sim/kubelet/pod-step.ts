// What a kubelet does next for one pod: a pure function of the pod and the time, so a kubelet may forget everything and
// carry on. The order of the rules is the order of a pod's life read backwards: what ends it comes first.
import { kwokNode } from '../../api/index.ts';
import { formatTime, parseTime } from '../../base/index.ts';
import type { Pod } from '../../ports/index.ts';
import { fractionOf } from './hash.ts';
import {
  endedStatus,
  gatesOpen,
  type PodStatus,
  readinessStatus,
  restartedStatus,
  runningStatus,
  unhealthyStatus,
} from './pod-status.ts';
import { durationIn, runTimeOf } from './run-time.ts';

export interface PodTimings {
  /** From binding to Running: between `least` and `most`, the same for the same pod. */
  startMs: { least: number; most: number };
  /** How long a container takes to end when asked to. */
  stopMs: number;
  /** How long pods run that end by themselves and do not say when. */
  runMs: number;
}

export interface PodView {
  nowMs: number;
  /** When this kubelet first saw the pod in its present stage (bound, or asked to go). */
  seenMs: number;
  hostIP: string;
  /** The node was silent and is back: containers are as ready as before. */
  nodeIsBack: boolean;
}

export type PodStep =
  | { kind: 'none' }
  | { kind: 'wait'; untilMs: number }
  | { kind: 'report'; status: PodStatus }
  | { kind: 'remove' };

const none: PodStep = { kind: 'none' };
const readyDelayAnnotation = 'pod-ready.stage.kwok.x-k8s.io/delay';
/** What a process that ends on SIGTERM without handling it returns: 128 + 15. */
const terminatedExitCode = 143;
/** A container that fails is started again after this long; real kubelets begin with it too. */
const restartDelayMs = 10_000;
/** Reasons this kubelet gives for a pod that is not ready; other reasons are someone else's. */
const ownReasons = new Set(['ContainersNotReady', 'ReadinessGatesNotReady']);

export function nextStep(pod: Pod, timings: PodTimings, view: PodView): PodStep {
  const phase = pod.status?.phase ?? 'Pending';
  if (pod.metadata.deletionTimestamp !== undefined) return endingStep(pod, phase, timings, view);
  if (phase === 'Succeeded' || phase === 'Failed') return none;
  if (pod.metadata.labels?.[kwokNode.stageLabel] === 'unhealthy') {
    return phase === 'Unknown' ? none : { kind: 'report', status: unhealthyStatus(pod, view.nowMs) };
  }
  const deadlineMs = deadlineOf(pod, view);
  if (deadlineMs !== undefined && deadlineMs <= view.nowMs) return { kind: 'report', status: overdueStatus(pod, view) };
  return sooner(phase === 'Pending' ? startingStep(pod, timings, view) : runningStep(pod, timings, view), deadlineMs);
}

function endingStep(pod: Pod, phase: string, timings: PodTimings, view: PodView): PodStep {
  const { deletionTimestamp = '', deletionGracePeriodSeconds = 0, finalizers = [] } = pod.metadata;
  const deletedMs = (parseTime(deletionTimestamp) ?? view.nowMs) - deletionGracePeriodSeconds * 1000;
  const untilMs = precise(deletedMs, view.seenMs) + (durationIn(pod, kwokNode.deleteDelayAnnotation) ?? timings.stopMs);
  // Killed at once: the object is gone already, or waits for its finalizers.
  if (deletionGracePeriodSeconds > 0 && untilMs > view.nowMs) return { kind: 'wait', untilMs };
  // Whoever holds a finalizer (the Job controller) wants to see how the pod ended.
  if (finalizers.length > 0 && phase !== 'Succeeded' && phase !== 'Failed') {
    return { kind: 'report', status: endedStatus(pod, terminatedExitCode, view.nowMs) };
  }
  return deletionGracePeriodSeconds > 0 ? { kind: 'remove' } : none;
}

function startingStep(pod: Pod, { startMs }: PodTimings, view: PodView): PodStep {
  const spread = fractionOf(pod.metadata.uid ?? '') * (startMs.most - startMs.least);
  const boundMs = boundAt(pod, view);
  const untilMs = boundMs + (durationIn(pod, readyDelayAnnotation) ?? startMs.least + spread);
  if (untilMs > view.nowMs) return { kind: 'wait', untilMs };
  const status = runningStatus(pod, {
    nowMs: view.nowMs,
    startTime: formatTime(boundMs),
    hostIP: view.hostIP,
    ready: probeDelayMs(pod) === 0,
  });
  return { kind: 'report', status };
}

function runningStep(pod: Pod, timings: PodTimings, view: PodView): PodStep {
  const startedMs = startedAt(pod) ?? view.nowMs;
  const ready = readinessStep(pod, startedMs, view);
  if (ready.kind === 'report') return ready;
  const run = runTimeOf(pod, timings.runMs);
  if (run === undefined) return ready;
  const restarts = run.exitCode !== 0 && pod.spec?.restartPolicy === 'OnFailure';
  const endMs = startedMs + run.runMs + (restarts ? restartDelayMs : 0);
  if (endMs > view.nowMs) return sooner(ready, endMs);
  const status = (restarts ? restartedStatus : endedStatus)(pod, run.exitCode, view.nowMs);
  return { kind: 'report', status };
}

function readinessStep(pod: Pod, startedMs: number, view: PodView): PodStep {
  const known = pod.status?.conditions?.find(({ type }) => type === 'Ready');
  const isOurs = known === undefined || ownReasons.has(known.reason ?? '') || view.nodeIsBack;
  if (known?.status === 'True' || !isOurs) return none;
  const readyMs = startedMs + probeDelayMs(pod);
  if (readyMs > view.nowMs) return { kind: 'wait', untilMs: readyMs };
  const containersReady = pod.status?.containerStatuses?.every(({ ready }) => ready) ?? false;
  if (containersReady && !gatesOpen(pod)) return none;
  return { kind: 'report', status: readinessStatus(pod, true, view.nowMs) };
}

function deadlineOf(pod: Pod, view: PodView): number | undefined {
  const seconds = pod.spec?.activeDeadlineSeconds;
  if (seconds === undefined || seconds === null) return undefined;
  return (parseTime(pod.status?.startTime ?? '') ?? boundAt(pod, view)) + seconds * 1000;
}

const overdueStatus = (pod: Pod, { nowMs }: PodView): PodStatus => ({
  ...endedStatus(pod, terminatedExitCode, nowMs),
  reason: 'DeadlineExceeded',
  message: 'Pod was active on the node longer than the specified deadline',
});

/** How long a readiness probe waits before its first question; fake containers answer that one well. */
function probeDelayMs(pod: Pod): number {
  const delays = (pod.spec?.containers ?? []).map(({ readinessProbe }) => readinessProbe?.initialDelaySeconds ?? 0);
  return Math.max(0, ...delays) * 1000;
}

function boundAt(pod: Pod, view: PodView): number {
  const scheduled = pod.status?.conditions?.find(({ type, status }) => type === 'PodScheduled' && status === 'True');
  const boundMs = parseTime(scheduled?.lastTransitionTime ?? '');
  return boundMs === undefined ? view.seenMs : precise(boundMs, view.seenMs);
}

function startedAt(pod: Pod): number | undefined {
  const times = (pod.status?.containerStatuses ?? []).flatMap(
    ({ state }) => parseTime(state?.running?.startedAt ?? '') ?? [],
  );
  return times.length === 0 ? undefined : Math.max(...times);
}

/** Times in objects are whole seconds; if we were there, we know better. */
const precise = (writtenMs: number, seenMs: number): number =>
  seenMs >= writtenMs && seenMs - writtenMs < 2_000 ? seenMs : writtenMs;

function sooner(step: PodStep, dueMs: number | undefined): PodStep {
  if (dueMs === undefined || step.kind === 'report' || step.kind === 'remove') return step;
  return { kind: 'wait', untilMs: step.kind === 'wait' ? Math.min(step.untilMs, dueMs) : dueMs };
}
