// Brings the company to life: installs what it runs and, as the day goes by, scales it and starts its jobs.
import type { Clock, Timer } from '../../../base/index.ts';
import { formatGoDuration } from '../../../base/index.ts';
import { isKubeError, type Kube, type Resource, resources } from '../../../ports/index.ts';
import { createIfMissing } from '../default-objects.ts';
import { company } from './company.ts';
import { dailyJobs, wantedAt } from './day.ts';

export interface DemoOptions {
  kube: Kube;
  clock: Clock;
  /** How long a day of the company takes, in the cluster's time. */
  dayMs: number;
  onFailure(error: unknown): void;
}

/** Steps the load moves in: fine enough for a curve, coarse enough to let the cluster settle. */
const stepsPerDay = 96;
/** The day starts here, so that a newcomer sees the morning rise first. */
const startHour = 8;
const jobs: Resource = { group: 'batch', version: 'v1', plural: 'jobs', kind: 'Job', namespaced: true };
const namespaceOf = { web: 'shop', checkout: 'shop', worker: 'batch' } as const;

export async function startDemo(options: DemoOptions): Promise<Timer> {
  const { kube, clock, dayMs, onFailure } = options;
  for (const { resource, object } of company()) await createIfMissing(kube, resource, object);
  const startMs = clock.now() - (startHour / 24) * dayMs;
  const started = new Set<string>();
  /** The replicas it set last. Whoever sets others has taken over. */
  const set = new Map<string, number>();

  const step = async (): Promise<void> => {
    const days = (clock.now() - startMs) / dayMs;
    const timeOfDay = days % 1;
    const wanted = wantedAt(timeOfDay);
    for (const name of ['web', 'checkout', 'worker'] as const) await scale(name, wanted[name]);
    for (const { hour, job } of dailyJobs) {
      const name = `${Math.floor(days)} ${hour}`;
      if (timeOfDay * 24 < hour || timeOfDay * 24 > hour + 1 || started.has(name)) continue;
      started.add(name);
      const object = job(Math.floor(days));
      // A report takes half an hour of the company's day, whatever that is on the clock.
      await createIfMissing(kube, jobs, withRunTime(object, dayMs / 48));
    }
  };

  const scale = async (name: keyof typeof namespaceOf, replicas: number): Promise<void> => {
    const ref = { name, namespace: namespaceOf[name] };
    try {
      const now = (await kube.get(resources.deployments, ref)).spec?.replicas;
      if (now !== replicas) {
        if (set.has(name) && now !== set.get(name)) return;
        await kube.patch(resources.deployments, ref, { type: 'merge', body: { spec: { replicas } } });
      }
      set.set(name, replicas);
    } catch (error) {
      // Someone playing with the cluster has deleted it: theirs to decide.
      if (!isKubeError(error, 'NotFound')) throw error;
    }
  };

  let timer = clock.after(0, tick);
  let stopped = false;
  function tick(): void {
    step().catch(onFailure);
    if (!stopped) timer = clock.after(dayMs / stepsPerDay, tick);
  }
  return {
    dispose() {
      stopped = true;
      timer.dispose();
    },
  };
}

function withRunTime<T extends object>(job: T, runMs: number): T {
  const spec = (job as { spec?: { template: { metadata: object } } }).spec;
  if (spec === undefined) return job;
  const annotations = { 'pod-complete.stage.kwok.x-k8s.io/delay': formatGoDuration(Math.round(runMs / 1000) * 1000) };
  return {
    ...job,
    spec: { ...spec, template: { ...spec.template, metadata: { ...spec.template.metadata, annotations } } },
  };
}
