// ReplicaSets: as many pods as asked for, no more.
import { parseTime } from '../../base/index.ts';
import { type Pod, type ReplicaSet, resources } from '../../ports/index.ts';
import { done, type Outcome } from '../../runtime/index.ts';
import {
  onceSettled,
  ownAndOwned,
  podsOf,
  Unseen,
  type WorkloadContext,
  type WorkloadController,
  writeStatus,
} from './frame.ts';
import { byDispensability, createPod, deletePod, isActive, isAvailable, isReady, readyCondition } from './pods.ts';

/** Pods made or deleted between two turns, so that ten thousand replicas do not hold up everybody else. */
const podsPerTurn = 50;

export function replicaSetController(context: WorkloadContext): WorkloadController {
  const { kube, clock, caches, tell } = context;
  const unseen = new Unseen(clock);
  const store = () => caches.of(resources.pods).store;

  const reconcile = async (set: ReplicaSet): Promise<Outcome> => {
    const active = podsOf(caches, set).filter(isActive);
    const missing = (set.spec?.replicas ?? 1) - active.length;
    if (set.metadata.deletionTimestamp === undefined) {
      if (missing > 0) await grow(set, missing);
      if (missing < 0) await shrink(set, active, -missing);
    }
    const status = statusOf(set, active, clock.now());
    await writeStatus(kube, resources.replicaSets, set, status);
    if (missing !== 0 && Math.abs(missing) > podsPerTurn) return { kind: 'again', afterMs: 1 };
    return status.availableReplicas < status.readyReplicas
      ? { kind: 'again', afterMs: nextAvailableMs(set, active) }
      : done;
  };

  const grow = async (set: ReplicaSet, missing: number): Promise<void> => {
    for (let i = 0; i < Math.min(missing, podsPerTurn); i++) {
      const pod = await createPod(kube, unseen, store(), {
        owner: set,
        resource: resources.replicaSets,
        template: set.spec?.template ?? {},
        name: { prefix: `${set.metadata.name}-` },
      });
      const message = `Created pod: ${pod.metadata.name}`;
      tell(resources.replicaSets, set, { type: 'Normal', reason: 'SuccessfulCreate', message });
    }
  };

  const shrink = async (set: ReplicaSet, active: Pod[], tooMany: number): Promise<void> => {
    const victims = active.sort(byDispensability(clock)).slice(0, Math.min(tooMany, podsPerTurn));
    for (const pod of victims) {
      await deletePod(kube, unseen, store(), set, pod);
      const message = `Deleted pod: ${pod.metadata.name}`;
      tell(resources.replicaSets, set, { type: 'Normal', reason: 'SuccessfulDelete', message });
    }
  };

  const nextAvailableMs = (set: ReplicaSet, active: readonly Pod[]): number => {
    const waits = active
      .filter((pod) => isReady(pod) && !isAvailable(pod, set.spec?.minReadySeconds ?? 0, clock.now()))
      .map((pod) => (parseTime(readyCondition(pod)?.lastTransitionTime ?? '') ?? clock.now()) - clock.now());
    return Math.max(100, Math.min(...waits) + (set.spec?.minReadySeconds ?? 0) * 1000);
  };

  return {
    name: 'replicaset',
    follow: (add) => ownAndOwned(caches, resources.replicaSets, [resources.pods], add),
    reconcile: onceSettled(caches, unseen, resources.replicaSets, reconcile),
  };
}

function statusOf(set: ReplicaSet, active: readonly Pod[], nowMs: number) {
  const labels = Object.entries(set.spec?.template?.metadata?.labels ?? {});
  return {
    replicas: active.length,
    fullyLabeledReplicas: active.filter((pod) => labels.every(([key, value]) => pod.metadata.labels?.[key] === value))
      .length,
    readyReplicas: active.filter(isReady).length,
    availableReplicas: active.filter((pod) => isAvailable(pod, set.spec?.minReadySeconds ?? 0, nowMs)).length,
    observedGeneration: set.metadata.generation,
  };
}
