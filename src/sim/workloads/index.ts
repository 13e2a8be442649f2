// The workload controllers of the embedded cluster: small stand-ins for those of kube-controller-manager.
import type { Clock } from '../../base/index.ts';
import type { Kube } from '../../ports/index.ts';
import type { Caches } from '../caches.ts';
import { eventTeller } from '../events.ts';
import { attachmentController } from './attachments.ts';
import { daemonSetController } from './daemon-sets.ts';
import { deploymentController } from './deployments.ts';
import { disruptionBudgetController } from './disruption-budgets.ts';
import { type RunningControllers, runControllers } from './frame.ts';
import { jobController } from './jobs.ts';
import { nodeLifecycleController } from './node-lifecycle.ts';
import { podCollector } from './pod-collector.ts';
import { replicaSetController } from './replica-sets.ts';
import { statefulSetController } from './stateful-sets.ts';
import { taintEvictionController } from './taint-eviction.ts';
import { volumeProtection } from './volume-protection.ts';
import { claimController } from './volumes.ts';

export function startWorkloads(
  kube: Kube,
  clock: Clock,
  caches: Caches,
  onFailure?: (error: unknown) => void,
): RunningControllers {
  const context = { kube, clock, caches, tell: eventTeller(kube, clock, 'kerf-simulator') };
  const controllers = [
    deploymentController(context),
    replicaSetController(context),
    statefulSetController(context),
    daemonSetController(context),
    jobController(context),
    disruptionBudgetController(context),
    nodeLifecycleController(context),
    taintEvictionController(context),
    podCollector(context),
    claimController(context),
    volumeProtection(context),
    attachmentController(context),
  ];
  return runControllers(context, controllers, onFailure);
}
