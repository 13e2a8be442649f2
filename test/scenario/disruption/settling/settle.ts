// One history of changing load, then none: while the load changes disruption works, and when it stops disruption comes to
// an end by itself. Returns what it did, to be judged by the tests.
import { seeded } from '../../../../bench/workloads/random.ts';
import { openScenario } from '../../harness/scenario.ts';
import { smallCatalogue } from '../model/world.ts';
import { Diary, type Move, type Offering } from './diary.ts';
import type { App, Workload } from './workloads.ts';

const hour = 3_600_000;

export interface History {
  /** When the load stopped changing. */
  calmMs: number;
  endMs: number;
  changes: number;
  moves: readonly Move[];
  evictions: ReadonlyMap<string, readonly number[]>;
  replicas: ReadonlyMap<string, number>;
  offering(claim: string): Offering | undefined;
  /** Pods that do not run at the end. */
  waiting: number;
}

export interface Settings {
  seed: number;
  policy: 'WhenEmptyOrUnderutilized' | 'Balanced';
  consolidateAfter: string;
  capacityTypes: readonly string[];
}

export async function settle(
  workload: Workload,
  settings: Settings,
  hours: { busy: number; calm: number },
): Promise<History> {
  const { seed, policy, consolidateAfter, capacityTypes } = settings;
  const random = seeded(seed);
  const notes: { diary?: Diary } = {};
  const scenario = await openScenario({
    seed,
    bootTime: '20s',
    catalogue: smallCatalogue,
    settings: { disableClusterStateObservability: true, featureGates: { SpotToSpotConsolidation: true } },
    idle: true,
    between: (kube) => notes.diary?.between(kube) ?? kube,
    onLog: (message, fields) => notes.diary?.onLog(message, fields),
  });
  const diary = new Diary(scenario.kube, scenario.clock);
  notes.diary = diary;
  try {
    await scenario.restart();
    const disruption = { consolidationPolicy: policy, consolidateAfter, budgets: [{ nodes: '100%' }] };
    const requirements = [{ key: 'karpenter.sh/capacity-type', operator: 'In', values: capacityTypes }];
    await scenario.pool('default', { disruption }, { requirements });
    for (const app of workload.apps) await scenario.deployment(app.name, 0, podSpec(app), { cpu: app.cpu });
    const busyUntilMs = scenario.clock.now() + hours.busy * hour;
    let changes = 0;
    let load: readonly number[] = [];
    while (scenario.clock.now() < busyUntilMs) {
      const next = workload.load(changes, random);
      for (const [index, { name }] of workload.apps.entries()) {
        if (load[index] !== next[index]) await scenario.scale(name, next[index] ?? 0);
      }
      load = next;
      changes += 1;
      await scenario.run(Math.min(workload.paceMs, busyUntilMs - scenario.clock.now()));
    }
    // The last change leaves half of everything empty: there is something to tidy up.
    load = load.map((count) => Math.ceil(count / 2));
    for (const [index, { name }] of workload.apps.entries()) await scenario.scale(name, load[index] ?? 0);
    const calmMs = scenario.clock.now();
    await scenario.run(hours.calm * hour);
    const wanted = load.reduce((sum, count) => sum + count, 0);
    if (scenario.failures.length > 0) throw scenario.failures[0];
    return {
      calmMs,
      endMs: scenario.clock.now(),
      changes,
      moves: diary.moves,
      evictions: diary.evictions,
      replicas: new Map(workload.apps.map(({ name }, index) => [name, load[index] ?? 0])),
      offering: (claim) => diary.offering(claim),
      waiting: wanted - (await scenario.readyPods()).length,
    };
  } finally {
    await scenario.close();
  }
}

function podSpec({ name, apart }: App): object {
  const term = { labelSelector: { matchLabels: { app: name } }, topologyKey: 'kubernetes.io/hostname' };
  return {
    terminationGracePeriodSeconds: 5,
    ...(apart === true
      ? { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } }
      : {}),
  };
}
