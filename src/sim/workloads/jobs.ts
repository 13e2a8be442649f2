// Jobs: pods until enough have succeeded or too many have failed.
import { formatTime, parseTime } from '../../base/index.ts';
import { type Pod, resources } from '../../ports/index.ts';
import { done, type Outcome } from '../../runtime/index.ts';
import {
  ownAndOwned,
  podsOf,
  settleSoon,
  Unseen,
  type WorkloadContext,
  type WorkloadController,
  writeStatus,
} from './frame.ts';
import { createPod, deletePod, isActive, isReady } from './pods.ts';
import { type Job, jobs } from './resources.ts';

const indexAnnotation = 'batch.kubernetes.io/job-completion-index';
const defaultBackoffLimit = 6;
const podsPerTurn = 50;

interface Tally {
  active: Pod[];
  succeeded: number;
  failed: number;
  /** Indexes of an Indexed job that are done. */
  indexes: Set<number>;
}

export function jobController(context: WorkloadContext): WorkloadController {
  const { kube, clock, caches, tell } = context;
  const unseen = new Unseen(clock);
  const store = () => caches.of(resources.pods).store;

  const reconcile = async (key: string): Promise<Outcome> => {
    const job = caches.of(jobs).store.get(key);
    if (job === undefined || job.metadata.deletionTimestamp !== undefined) return done;
    const over = conditionOf(job, 'Complete') ?? conditionOf(job, 'Failed');
    if (over !== undefined) return finish(job);
    if (!unseen.isSettled(job)) return settleSoon;
    const tally = count(job, podsOf(caches, job));
    const end = endOf(job, tally, clock.now());
    if (end !== undefined) {
      for (const pod of tally.active) await deletePod(kube, unseen, store(), job, pod);
      tell(jobs, job, {
        type: end.type === 'Complete' ? 'Normal' : 'Warning',
        reason: end.event,
        message: end.message,
      });
    } else await bringAbout(job, tally);
    await writeStatus(kube, jobs, job, statusOf(job, tally, end, formatTime(clock.now())));
    return end === undefined ? untilDeadline(job) : done;
  };

  const bringAbout = async (job: Job, { active, succeeded, indexes }: Tally): Promise<void> => {
    const { parallelism = 1, completions, suspend } = job.spec ?? {};
    const left = completions === undefined ? (succeeded > 0 ? 0 : parallelism) : completions - succeeded;
    const wanted = suspend === true ? 0 : Math.max(0, Math.min(parallelism, left));
    const running = new Set(active.map(indexOf));
    for (let i = active.length; i < Math.min(wanted, active.length + podsPerTurn); i++) {
      const index = freeIndex(job, indexes, running);
      if (index !== undefined) running.add(index);
      await create(job, index);
    }
    for (const pod of active.slice(wanted)) await deletePod(kube, unseen, store(), job, pod);
  };

  const create = async (job: Job, index: number | undefined): Promise<void> => {
    const { name = '', uid = '' } = job.metadata;
    const indexed = index === undefined ? {} : { [indexAnnotation]: String(index) };
    const pod = await createPod(kube, unseen, store(), {
      owner: job,
      resource: jobs,
      template: job.spec?.template ?? {},
      name: { prefix: index === undefined ? `${name}-` : `${name}-${index}-` },
      labels: {
        'batch.kubernetes.io/controller-uid': uid,
        'batch.kubernetes.io/job-name': name,
        'controller-uid': uid,
        'job-name': name,
        ...indexed,
      },
      annotations: indexed,
    });
    const message = `Created pod: ${pod.metadata.name}`;
    tell(jobs, job, { type: 'Normal', reason: 'SuccessfulCreate', message });
  };

  /** A finished job goes after its time, if it has one. */
  const finish = async (job: Job): Promise<Outcome> => {
    const seconds = job.spec?.ttlSecondsAfterFinished;
    if (seconds === undefined || seconds === null) return done;
    const endedAt = conditionOf(job, 'Complete') ?? conditionOf(job, 'Failed');
    const dueMs = (parseTime(endedAt?.lastTransitionTime ?? '') ?? clock.now()) + seconds * 1000;
    if (dueMs > clock.now()) return { kind: 'again', afterMs: dueMs - clock.now() };
    const { name = '', namespace = '' } = job.metadata;
    await kube.delete(jobs, { name, namespace }, { propagationPolicy: 'Background' });
    return done;
  };

  const untilDeadline = (job: Job): Outcome => {
    const dueMs = deadlineOf(job);
    return dueMs === undefined ? done : { kind: 'again', afterMs: Math.max(1, dueMs - clock.now()) };
  };

  return { name: 'job', follow: (add) => ownAndOwned(caches, jobs, [resources.pods], add), reconcile };
}

const conditionOf = (job: Job, type: string) =>
  job.status?.conditions?.find((condition) => condition.type === type && condition.status === 'True');

const isIndexed = (job: Job): boolean => job.spec?.completionMode === 'Indexed';
const indexOf = (pod: Pod): number => Number(pod.metadata.annotations?.[indexAnnotation] ?? -1);

function count(job: Job, pods: readonly Pod[]): Tally {
  const good = pods.filter(({ status }) => status?.phase === 'Succeeded');
  const bad = pods.filter(({ status }) => status?.phase === 'Failed');
  const indexes = new Set(isIndexed(job) ? good.map(indexOf) : []);
  return {
    active: pods.filter(isActive),
    // Finished pods may be deleted by anyone; what was counted once stays counted.
    succeeded: Math.max(isIndexed(job) ? indexes.size : good.length, job.status?.succeeded ?? 0),
    failed: Math.max(bad.length, job.status?.failed ?? 0),
    indexes,
  };
}

function freeIndex(job: Job, finished: ReadonlySet<number>, running: ReadonlySet<number>): number | undefined {
  if (!isIndexed(job)) return undefined;
  for (let index = 0; index < (job.spec?.completions ?? 1); index++) {
    if (!finished.has(index) && !running.has(index)) return index;
  }
  return undefined;
}

interface End {
  type: 'Complete' | 'Failed';
  reason: string;
  message: string;
  event: string;
}

function endOf(job: Job, { active, succeeded, failed }: Tally, nowMs: number): End | undefined {
  const { completions, backoffLimit = defaultBackoffLimit } = job.spec ?? {};
  const deadlineMs = deadlineOf(job);
  if (failed > backoffLimit) {
    const message = 'Job has reached the specified backoff limit';
    return { type: 'Failed', reason: 'BackoffLimitExceeded', message, event: 'BackoffLimitExceeded' };
  }
  if (deadlineMs !== undefined && deadlineMs <= nowMs) {
    const message = 'Job was active longer than specified deadline';
    return { type: 'Failed', reason: 'DeadlineExceeded', message, event: 'DeadlineExceeded' };
  }
  const enough = completions === undefined ? succeeded > 0 && active.length === 0 : succeeded >= completions;
  if (!enough) return undefined;
  return { type: 'Complete', reason: 'CompletionsReached', message: 'Job completed', event: 'Completed' };
}

function deadlineOf(job: Job): number | undefined {
  const seconds = job.spec?.activeDeadlineSeconds;
  const startedMs = parseTime(job.status?.startTime ?? '');
  return seconds === undefined || startedMs === undefined ? undefined : startedMs + seconds * 1000;
}

function statusOf(job: Job, { active, succeeded, failed }: Tally, end: End | undefined, time: string): object {
  const condition = (type: string) => ({
    type,
    status: 'True',
    reason: end?.reason,
    message: end?.message,
    lastProbeTime: time,
    lastTransitionTime: time,
  });
  const criterion = end?.type === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget';
  return {
    startTime: job.status?.startTime ?? (job.spec?.suspend === true ? undefined : time),
    active: end === undefined && active.length > 0 ? active.length : undefined,
    ready: end === undefined ? active.filter(isReady).length : 0,
    succeeded: succeeded || undefined,
    failed: failed || undefined,
    terminating: 0,
    uncountedTerminatedPods: {},
    ...(end === undefined ? {} : { conditions: [condition(criterion), condition(end.type)] }),
    ...(end?.type === 'Complete' ? { completionTime: time } : {}),
  };
}
