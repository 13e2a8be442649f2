// Our controllers in the process of the embedded cluster: the same parts as `kerf controller`, without an election.
import type { Clock } from '../../base/index.ts';
import { nodeClaims } from '../../controllers/index.ts';
import type { Kube, Log } from '../../ports/index.ts';
import { Manager } from '../../runtime/index.ts';
import { assemble, parseSettings } from '../../server/index.ts';
import type { KwokCloud } from '../../sim/index.ts';
import { kubeRecorder, prometheusMetrics } from '../../telemetry/index.ts';

export interface ControllersOptions {
  kube: Kube;
  clock: Clock;
  cloud: KwokCloud;
  log: Log;
  random: () => number;
}

/** Resolves when `signal` has ended everything; rejects when a part fails. */
export async function startControllers(options: ControllersOptions, signal: AbortSignal): Promise<void> {
  const { kube, clock, cloud, log, random } = options;
  const { settings } = parseSettings({}, {});
  const { caches, leading } = assemble({
    kube,
    cloud,
    clock,
    log,
    metrics: prometheusMetrics(),
    recorder: kubeRecorder(kube, clock, log),
    settings,
    random,
  });
  await cloud.recover((await kube.list(nodeClaims)).items);
  await new Manager({ clock, caches, leading }).run(signal);
}
