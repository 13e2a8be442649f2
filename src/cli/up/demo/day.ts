// A working day as numbers: how busy the company is at a moment, and what it therefore runs.
import type { KubeObject } from '../../../ports/index.ts';

export interface Wanted {
  web: number;
  checkout: number;
  worker: number;
}

/** 0 (night) to 1 (evening peak) for a time of day from 0 to 1, midnight to midnight. */
export function busyness(timeOfDay: number): number {
  const bump = (centre: number, width: number): number => Math.exp(-(((timeOfDay - centre) / width) ** 2));
  // A noon hump and a higher one in the evening.
  return Math.min(1, 0.65 * bump(12.5 / 24, 0.13) + 0.95 * bump(20 / 24, 0.08));
}

export function wantedAt(timeOfDay: number): Wanted {
  const now = busyness(timeOfDay);
  // Orders are worked off an hour after they were placed.
  const earlier = busyness((timeOfDay + 23 / 24) % 1);
  return {
    web: 6 + Math.round(30 * now),
    checkout: 3 + Math.round(12 * now),
    worker: 2 + Math.round(14 * earlier),
  };
}

/** Jobs by the hour at which they start; each once a day. */
export const dailyJobs: readonly { hour: number; job: (day: number) => KubeObject }[] = [
  { hour: 2, job: (day) => nightlyReport(day) },
  { hour: 9, job: (day) => training(`train-${day}-morning`) },
  { hour: 15, job: (day) => training(`train-${day}-afternoon`) },
];

/** Lengths are fractions of a day, so that a short day has short jobs. */
const jobOf = (namespace: string, name: string, spec: object, pod: object): KubeObject =>
  ({
    metadata: { name, namespace },
    spec: { ttlSecondsAfterFinished: 600, ...spec, template: { metadata: { labels: { app: name } }, spec: pod } },
  }) as unknown as KubeObject;

function nightlyReport(day: number): KubeObject {
  const container = {
    name: 'main',
    image: 'registry.example.com/report:1.0',
    command: ['report'],
    resources: { requests: { cpu: '4', memory: '8Gi' } },
  };
  return jobOf(
    'batch',
    `nightly-${day}`,
    { completions: 12, parallelism: 6 },
    { restartPolicy: 'Never', containers: [container] },
  );
}

function training(name: string): KubeObject {
  const container = {
    name: 'main',
    image: 'registry.example.com/train:1.0',
    command: ['train'],
    resources: { requests: { cpu: '3', memory: '12Gi', 'nvidia.com/gpu': '1' }, limits: { 'nvidia.com/gpu': '1' } },
  };
  return jobOf(
    'ml',
    name,
    { completions: 2, parallelism: 2 },
    {
      restartPolicy: 'Never',
      tolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists' }],
      containers: [container],
    },
  );
}
