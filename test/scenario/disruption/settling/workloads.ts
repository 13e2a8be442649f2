// Ways a cluster's load changes, some of them made to keep disruption busy: load that swings around the size of a node, at
// the pace at which nodes become quiet; workloads that trade places; steps, walks and bursts.
import type { Random } from '../../../../bench/workloads/random.ts';

export interface App {
  name: string;
  cpu: string;
  /** No two of its pods on one node. */
  apart?: boolean;
}

export interface Workload {
  name: string;
  apps: readonly App[];
  /** How long a load lasts before it changes. */
  paceMs: number;
  /** Replicas per app after so many changes. */
  load(step: number, random: Random): readonly number[];
}

const minute = 60_000;
const wave = (step: number, period: number, height: number): number =>
  Math.round((1 + Math.sin((2 * Math.PI * step) / period)) * (height / 2));

export const workloads: readonly Workload[] = [
  {
    name: 'swings by one pod around the size of a node',
    apps: [{ name: 'saw', cpu: '1' }],
    paceMs: 47_000,
    load: (step) => [7 + (step % 2)],
  },
  {
    name: 'two workloads trade places',
    apps: [
      { name: 'left', cpu: '1' },
      { name: 'right', cpu: '1500m' },
    ],
    paceMs: 5 * minute,
    load: (step) => (step % 2 === 0 ? [6, 1] : [1, 5]),
  },
  {
    name: 'walks at random',
    apps: [
      { name: 'small', cpu: '300m' },
      { name: 'large', cpu: '2500m' },
    ],
    paceMs: 7 * minute,
    load: (_step, random) => [random.between(0, 14), random.between(0, 4)],
  },
  {
    name: 'days and nights, with pods that keep apart',
    apps: [
      { name: 'web', cpu: '700m' },
      { name: 'quorum', cpu: '500m', apart: true },
    ],
    paceMs: 15 * minute,
    load: (step) => [1 + wave(step, 24, 14), 3],
  },
  {
    name: 'bursts that come and go',
    apps: [
      { name: 'base', cpu: '900m' },
      { name: 'burst', cpu: '3' },
    ],
    paceMs: 11 * minute,
    load: (step, random) => [4, step % 4 === 0 ? random.between(2, 6) : 0],
  },
];
