// PodDisruptionBudgets: how many pods may be evicted right now. The eviction call reads the answer from the status.
import { formatTime, parseTime } from '../../base/index.ts';
import { type SelectorMatch, selectorMatch } from '../../core/index.ts';
import { type KubeObject, type Pod, type PodDisruptionBudget, type Resource, resources } from '../../ports/index.ts';
import { done, keyOf, type Outcome } from '../../runtime/index.ts';
import { controllerOf, crowdMs, type WorkloadContext, type WorkloadController, writeStatus } from './frame.ts';
import { amountOf, hasEnded, isReady } from './pods.ts';

type Budget = PodDisruptionBudget;
/** An eviction that has not become a deletion by then did not happen. */
const evictionTimeoutMs = 120_000;

/** Kinds whose `spec.replicas` say how many pods are expected. */
const scaled: readonly Resource<KubeObject & { spec?: { replicas?: number } }>[] = [
  resources.replicaSets,
  resources.statefulSets,
  resources.deployments,
] as never;

export function disruptionBudgetController({ kube, clock, caches }: WorkloadContext): WorkloadController {
  const matches = new Map<string, { selector: unknown; match: SelectorMatch }>();

  const matchOf = (budget: Budget): SelectorMatch => {
    const known = matches.get(budget.metadata.uid ?? '');
    if (known?.selector === budget.spec?.selector) return known?.match as SelectorMatch;
    const match = selectorMatch(budget.spec?.selector as never);
    matches.set(budget.metadata.uid ?? '', { selector: budget.spec?.selector, match });
    return match;
  };

  const reconcile = async (key: string): Promise<Outcome> => {
    const budget = caches.of(resources.podDisruptionBudgets).store.get(key);
    if (budget === undefined) return done;
    const match = matchOf(budget);
    const pods: Pod[] = [];
    for (const pod of caches.of(resources.pods).store.filedUnder('namespace', budget.metadata.namespace ?? '')) {
      if (!hasEnded(pod) && match(pod.metadata.labels ?? {})) pods.push(pod);
    }
    const evicting = evictionsUnderWay(budget, pods, clock.now());
    const status = statusOf(budget, pods, evicting, expectedOf(budget, pods), formatTime(clock.now()));
    await writeStatus(kube, resources.podDisruptionBudgets, budget, status);
    return Object.keys(evicting).length > 0 ? { kind: 'again', afterMs: evictionTimeoutMs } : done;
  };

  /** Shares are of what the pods' controllers ask for, not of what happens to be there. */
  const expectedOf = (budget: Budget, pods: readonly Pod[]): number => {
    const { minAvailable, maxUnavailable } = budget.spec ?? {};
    if (maxUnavailable === undefined && typeof minAvailable !== 'string') return pods.length;
    const counted = new Map<string, number>();
    let alone = 0;
    for (const pod of pods) {
      const scale = scaleOf(pod);
      if (scale === undefined) alone++;
      else counted.set(scale.uid, scale.replicas);
    }
    return [...counted.values()].reduce((sum, replicas) => sum + replicas, alone);
  };

  const scaleOf = (object: KubeObject): { uid: string; replicas: number } | undefined => {
    const owner = controllerOf(object);
    const resource = scaled.find(({ kind }) => kind === owner?.kind);
    if (owner === undefined || resource === undefined) return undefined;
    const found = caches.of(resource).store.get(`${object.metadata.namespace}/${owner.name}`);
    if (found === undefined) return undefined;
    return scaleOf(found) ?? { uid: owner.uid, replicas: found.spec?.replicas ?? 1 };
  };

  return {
    name: 'disruption',
    follow(add) {
      const wakeFor = (pod: Pod): void => {
        for (const budget of caches.of(resources.podDisruptionBudgets).store.values()) {
          if (budget.metadata.namespace !== pod.metadata.namespace) continue;
          if (matchOf(budget)(pod.metadata.labels ?? {})) add(keyOf(budget), crowdMs);
        }
      };
      const wakeNamespace = ({ metadata }: KubeObject): void => {
        for (const budget of caches.of(resources.podDisruptionBudgets).store.values()) {
          if (budget.metadata.namespace === metadata.namespace) add(keyOf(budget));
        }
      };
      return [
        caches.of(resources.podDisruptionBudgets).subscribe(({ kind, object }) => {
          if (kind === 'deleted') matches.delete(object.metadata.uid ?? '');
          else add(keyOf(object));
        }),
        caches.of(resources.pods).subscribe((change) => {
          wakeFor(change.object);
          if (change.kind === 'updated' && change.old.metadata.labels !== change.object.metadata.labels)
            wakeFor(change.old);
        }),
        ...scaled.map((resource) =>
          caches.of(resource).subscribe((change) => {
            if (change.kind !== 'updated' || change.old.spec?.replicas !== change.object.spec?.replicas) {
              wakeNamespace(change.object);
            }
          }),
        ),
      ];
    },
    reconcile,
  };
}

function evictionsUnderWay(budget: Budget, pods: readonly Pod[], nowMs: number): Record<string, string> {
  const present = new Map(pods.map((pod) => [pod.metadata.name ?? '', pod]));
  return Object.fromEntries(
    Object.entries(budget.status?.disruptedPods ?? {}).filter(([name, time]) => {
      const pod = present.get(name);
      return (
        pod !== undefined &&
        pod.metadata.deletionTimestamp === undefined &&
        nowMs - (parseTime(time) ?? 0) < evictionTimeoutMs
      );
    }),
  );
}

function statusOf(
  budget: Budget,
  pods: readonly Pod[],
  evicting: Record<string, string>,
  expectedPods: number,
  time: string,
): object {
  const { minAvailable, maxUnavailable } = budget.spec ?? {};
  const desiredHealthy =
    maxUnavailable === undefined
      ? amountOf(minAvailable, expectedPods, 'up', 1)
      : Math.max(0, expectedPods - amountOf(maxUnavailable, expectedPods, 'up', 0));
  const currentHealthy = pods.filter(
    (pod) => isReady(pod) && pod.metadata.deletionTimestamp === undefined && !((pod.metadata.name ?? '') in evicting),
  ).length;
  const disruptionsAllowed = expectedPods > 0 ? Math.max(0, currentHealthy - desiredHealthy) : 0;
  const status = disruptionsAllowed > 0 ? 'True' : 'False';
  const before = budget.status?.conditions?.find(({ type }) => type === 'DisruptionAllowed');
  return {
    observedGeneration: budget.metadata.generation,
    disruptionsAllowed,
    currentHealthy,
    desiredHealthy,
    expectedPods,
    disruptedPods: Object.keys(evicting).length === 0 ? undefined : evicting,
    conditions: [
      {
        type: 'DisruptionAllowed',
        status,
        reason: disruptionsAllowed > 0 ? 'SufficientPods' : 'InsufficientPods',
        message: '',
        observedGeneration: budget.metadata.generation,
        lastTransitionTime: before?.status === status ? before.lastTransitionTime : time,
      },
    ],
  };
}
