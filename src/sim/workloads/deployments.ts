// Deployments: one ReplicaSet per version of the template, and the slow exchange of the old ones for the new one.
import { formatTime, isEqual } from '../../base/index.ts';
import { type Deployment, isKubeError, type ReplicaSet, resources } from '../../ports/index.ts';
import { done, type Outcome } from '../../runtime/index.ts';
import {
  ownAndOwned,
  ownerReferenceTo,
  settleSoon,
  Unseen,
  type WorkloadContext,
  type WorkloadController,
  writeStatus,
} from './frame.ts';
import { amountOf, templateHash } from './pods.ts';

const hashLabel = 'pod-template-hash';
const revisionAnnotation = 'deployment.kubernetes.io/revision';

interface Sets {
  current: ReplicaSet | undefined;
  old: ReplicaSet[];
}

export function deploymentController(context: WorkloadContext): WorkloadController {
  const { kube, clock, caches, tell } = context;
  const unseen = new Unseen(clock);
  /** What each set was last scaled to, until the cache shows it. */
  const scaled = new Map<string, { replicas: number; generation: number }>();

  const reconcile = async (key: string): Promise<Outcome> => {
    const deployment = caches.of(resources.deployments).store.get(key);
    if (deployment === undefined || deployment.metadata.deletionTimestamp !== undefined) return done;
    if (!unseen.isSettled(deployment)) return settleSoon;
    const sets = setsOf(deployment);
    if ([sets.current, ...sets.old].some((set) => set !== undefined && !isScaleSeen(set))) return settleSoon;
    if (sets.current === undefined && deployment.spec?.paused !== true) {
      await createSet(deployment, sets.old);
      return settleSoon;
    }
    if (sets.current !== undefined) {
      if (deployment.spec?.paused !== true) await roll(deployment, sets.current, sets.old);
      await noteRevision(deployment, sets.current);
    }
    await writeStatus(kube, resources.deployments, deployment, statusOf(deployment, sets, formatTime(clock.now())));
    await tidy(deployment, sets);
    return done;
  };

  const setsOf = (deployment: Deployment): Sets => {
    const all = [...caches.of(resources.replicaSets).store.filedUnder('owner', deployment.metadata.uid ?? '')];
    const current = all.find((set) => isEqual(withoutHash(set), deployment.spec?.template));
    return { current, old: all.filter((set) => set !== current) };
  };

  const isScaleSeen = (set: ReplicaSet): boolean => {
    const asked = scaled.get(set.metadata.uid ?? '');
    if (asked === undefined) return true;
    if ((set.metadata.generation ?? 0) < asked.generation) return false;
    scaled.delete(set.metadata.uid ?? '');
    return true;
  };

  const createSet = async (deployment: Deployment, old: readonly ReplicaSet[]): Promise<void> => {
    const { template, selector, replicas = 1, minReadySeconds } = deployment.spec ?? {};
    if (template === undefined || selector === undefined) return;
    const hash = templateHash(template);
    const revision = Math.max(0, ...old.map(revisionOf)) + 1;
    const { name = '', namespace = '' } = deployment.metadata;
    const labels = { ...template.metadata?.labels, [hashLabel]: hash };
    const set: ReplicaSet = {
      metadata: {
        name: `${name}-${hash}`,
        namespace,
        labels,
        annotations: { ...deployment.metadata.annotations, [revisionAnnotation]: String(revision) },
        ownerReferences: [ownerReferenceTo(resources.deployments, deployment)],
      },
      spec: {
        replicas: initialSize(deployment, old, replicas),
        ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
        selector: { ...selector, matchLabels: { ...selector.matchLabels, [hashLabel]: hash } },
        template: { ...template, metadata: { ...template.metadata, labels } },
      },
    };
    try {
      await kube.create(resources.replicaSets, set);
    } catch (error) {
      if (!isKubeError(error, 'AlreadyExists')) throw error;
      return;
    }
    unseen.created(deployment, caches.of(resources.replicaSets).store, `${namespace}/${name}-${hash}`);
    const message = `Scaled up replica set ${name}-${hash} from 0 to ${set.spec?.replicas}`;
    tell(resources.deployments, deployment, { type: 'Normal', reason: 'ScalingReplicaSet', message });
  };

  const roll = async (deployment: Deployment, current: ReplicaSet, old: readonly ReplicaSet[]): Promise<void> => {
    const wanted = deployment.spec?.replicas ?? 1;
    if (deployment.spec?.strategy?.type === 'Recreate') {
      for (const set of old) await scale(deployment, set, 0);
      const leftovers = old.some((set) => (set.status?.replicas ?? 0) > 0);
      if (!leftovers) await scale(deployment, current, wanted);
      return;
    }
    const { surge, unavailable } = limitsOf(deployment);
    const total = sum([current, ...old], sizeOf);
    const running = sum(old, sizeOf) > 0;
    if (!running || sizeOf(current) > wanted) await scale(deployment, current, wanted);
    else await scale(deployment, current, Math.min(wanted, sizeOf(current) + Math.max(0, wanted + surge - total)));
    // Pods that are not available may go at once; of the others only so many that enough stay.
    let spare = sum([current, ...old], availableOf) - (wanted - unavailable);
    for (const set of [...old].sort((left, right) => revisionOf(left) - revisionOf(right))) {
      const broken = sizeOf(set) - availableOf(set);
      const healthy = Math.min(sizeOf(set) - broken, Math.max(0, spare));
      spare -= healthy;
      await scale(deployment, set, sizeOf(set) - broken - healthy);
    }
  };

  const scale = async (deployment: Deployment, set: ReplicaSet, replicas: number): Promise<void> => {
    const before = sizeOf(set);
    if (before === replicas) return;
    const { name = '', namespace = '', uid = '' } = set.metadata;
    const body = { metadata: { uid }, spec: { replicas } };
    const after = await kube.patch(resources.replicaSets, { name, namespace }, { type: 'merge', body });
    scaled.set(uid, { replicas, generation: after.metadata.generation ?? 0 });
    const message = `Scaled ${replicas > before ? 'up' : 'down'} replica set ${name} from ${before} to ${replicas}`;
    tell(resources.deployments, deployment, { type: 'Normal', reason: 'ScalingReplicaSet', message });
  };

  const noteRevision = async (deployment: Deployment, current: ReplicaSet): Promise<void> => {
    const latest = Math.max(...setsOf(deployment).old.map(revisionOf), 0);
    // A return to an old version makes it the newest revision.
    const revision = String(revisionOf(current) > latest ? revisionOf(current) : latest + 1);
    const write = async (
      resource: typeof resources.deployments | typeof resources.replicaSets,
      object: Deployment | ReplicaSet,
    ) => {
      if (object.metadata.annotations?.[revisionAnnotation] === revision) return;
      const { name = '', namespace = '' } = object.metadata;
      const body = { metadata: { annotations: { [revisionAnnotation]: revision } } };
      await kube.patch(resource as typeof resources.deployments, { name, namespace }, { type: 'merge', body });
    };
    await write(resources.replicaSets, current);
    await write(resources.deployments, deployment);
  };

  const tidy = async (deployment: Deployment, { old }: Sets): Promise<void> => {
    const keep = deployment.spec?.revisionHistoryLimit ?? 10;
    const empty = old.filter((set) => sizeOf(set) === 0 && (set.status?.replicas ?? 0) === 0);
    const extra = empty
      .sort((left, right) => revisionOf(left) - revisionOf(right))
      .slice(0, Math.max(0, empty.length - keep));
    for (const {
      metadata: { name = '', namespace = '' },
    } of extra) {
      await kube.delete(resources.replicaSets, { name, namespace });
    }
  };

  return {
    name: 'deployment',
    follow: (add) => ownAndOwned(caches, resources.deployments, [resources.replicaSets], add),
    reconcile,
  };
}

const sizeOf = (set: ReplicaSet): number => set.spec?.replicas ?? 1;
/** A status that still counts pods which are about to go counts too many. */
const availableOf = (set: ReplicaSet): number => Math.min(sizeOf(set), set.status?.availableReplicas ?? 0);
const revisionOf = (set: ReplicaSet): number => Number(set.metadata.annotations?.[revisionAnnotation] ?? 0) || 0;
const sum = (sets: readonly ReplicaSet[], amount: (set: ReplicaSet) => number): number =>
  sets.reduce((total, set) => total + amount(set), 0);

function withoutHash(set: ReplicaSet): unknown {
  const template = set.spec?.template;
  const { [hashLabel]: _hash, ...labels } = template?.metadata?.labels ?? {};
  return { ...template, metadata: { ...template?.metadata, labels } };
}

function limitsOf(deployment: Deployment): { surge: number; unavailable: number } {
  const { rollingUpdate } = deployment.spec?.strategy ?? {};
  const wanted = deployment.spec?.replicas ?? 1;
  const surge = amountOf(rollingUpdate?.maxSurge, wanted, 'up', Math.ceil(wanted / 4));
  const unavailable = amountOf(rollingUpdate?.maxUnavailable, wanted, 'down', Math.floor(wanted / 4));
  // Both zero would never move.
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : Math.min(unavailable, wanted) };
}

function initialSize(deployment: Deployment, old: readonly ReplicaSet[], wanted: number): number {
  const present = sum(old, (set) => Math.max(sizeOf(set), set.status?.replicas ?? 0));
  if (present === 0) return wanted;
  if (deployment.spec?.strategy?.type === 'Recreate') return 0;
  return Math.min(wanted, Math.max(0, wanted + limitsOf(deployment).surge - present));
}

function statusOf(deployment: Deployment, { current, old }: Sets, time: string): object {
  const all = current === undefined ? old : [current, ...old];
  const wanted = deployment.spec?.replicas ?? 1;
  const replicas = sum(all, ({ status }) => status?.replicas ?? 0);
  const available = sum(all, ({ status }) => status?.availableReplicas ?? 0);
  const updated = current?.status?.replicas ?? 0;
  const enough = available >= wanted - limitsOf(deployment).unavailable;
  const complete = updated === wanted && replicas === wanted && (current?.status?.availableReplicas ?? 0) === wanted;
  return {
    observedGeneration: deployment.metadata.generation,
    replicas,
    updatedReplicas: updated,
    readyReplicas: sum(all, ({ status }) => status?.readyReplicas ?? 0),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, Math.max(wanted, replicas) - available),
    conditions: [
      condition(deployment, time, {
        type: 'Available',
        status: enough ? 'True' : 'False',
        reason: enough ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
        message: enough ? 'Deployment has minimum availability.' : 'Deployment does not have minimum availability.',
      }),
      condition(deployment, time, {
        type: 'Progressing',
        status: 'True',
        reason: complete ? 'NewReplicaSetAvailable' : 'ReplicaSetUpdated',
        message: `ReplicaSet "${current?.metadata.name}" ${complete ? 'has successfully progressed' : 'is progressing'}.`,
      }),
    ],
  };
}

function condition(
  deployment: Deployment,
  time: string,
  next: { type: string; status: string; reason: string; message: string },
): object {
  const before = deployment.status?.conditions?.find(({ type }) => type === next.type);
  const isSame = before?.status === next.status && before.reason === next.reason && before.message === next.message;
  return {
    ...next,
    lastTransitionTime: before?.status === next.status ? (before.lastTransitionTime ?? time) : time,
    lastUpdateTime: isSame ? (before.lastUpdateTime ?? time) : time,
  };
}
