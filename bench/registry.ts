// All benchmarks, in the order in which they are printed.
import { awsBenches } from './aws.ts';
import type { Bench, Growth } from './bench.ts';
import { controllerBenches } from './controllers.ts';
import { disruptionBenches } from './disruption.ts';
import { kubeBenches } from './kube.ts';
import { plannerBenches, plannerGrowth } from './planner.ts';
import { realClusterBenches } from './real-cluster.ts';
import { simBenches } from './sim.ts';
import { simRunningBenches } from './sim-running.ts';

export const benches: Bench[] = [
  ...plannerBenches,
  ...disruptionBenches,
  ...controllerBenches,
  ...realClusterBenches,
  ...kubeBenches,
  ...simBenches,
  ...simRunningBenches,
  ...awsBenches,
];

export const growths: Growth[] = [...plannerGrowth];
