// StatefulSets: numbered pods with their own claims, started and stopped one after the other unless set otherwise.
import { isKubeError, type PersistentVolumeClaim, type Pod, resources, type StatefulSet } from '../../ports/index.ts';
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
import { createPod, deletePod, hasEnded, isAvailable, isReady, type PodTemplate, templateHash } from './pods.ts';

const revisionLabel = 'controller-revision-hash';

export function statefulSetController(context: WorkloadContext): WorkloadController {
  const { kube, clock, caches, tell } = context;
  const unseen = new Unseen(clock);
  const store = () => caches.of(resources.pods).store;

  const reconcile = async (set: StatefulSet): Promise<Outcome> => {
    const pods = podsOf(caches, set);
    const revision = `${set.metadata.name}-${templateHash(set.spec?.template ?? {})}`;
    if (set.metadata.deletionTimestamp === undefined) await bringAbout(set, pods, revision);
    await writeStatus(kube, resources.statefulSets, set, statusOf(set, pods, revision, clock.now()));
    return (set.spec?.minReadySeconds ?? 0) > 0 ? { kind: 'again', afterMs: 1_000 } : done;
  };

  /** One move at a time where order matters; every change of a pod leads to the next. */
  const bringAbout = async (set: StatefulSet, pods: readonly Pod[], revision: string): Promise<void> => {
    const parallel = set.spec?.podManagementPolicy === 'Parallel';
    const start = set.spec?.ordinals?.start ?? 0;
    const end = start + (set.spec?.replicas ?? 1);
    const byOrdinal = new Map(pods.map((pod) => [ordinalOf(pod), pod]));
    for (let ordinal = start; ordinal < end; ordinal++) {
      const pod = byOrdinal.get(ordinal);
      if (pod === undefined) await create(set, ordinal, revision);
      else if (hasEnded(pod) && pod.metadata.deletionTimestamp === undefined) {
        await deletePod(kube, unseen, store(), set, pod);
      }
      const healthy = pod !== undefined && isReady(pod) && pod.metadata.deletionTimestamp === undefined;
      if (!healthy && !parallel) return;
    }
    const extra = pods.filter((pod) => ordinalOf(pod) >= end || ordinalOf(pod) < start).sort(byOrdinalDown);
    for (const pod of extra) {
      if (pod.metadata.deletionTimestamp === undefined) await remove(set, pod);
      if (!parallel) return;
    }
    if (extra.length === 0) await update(set, pods, revision);
  };

  /** The highest number with an old template goes first, and only while all others are well. */
  const update = async (set: StatefulSet, pods: readonly Pod[], revision: string): Promise<void> => {
    const { type = 'RollingUpdate', rollingUpdate } = set.spec?.updateStrategy ?? {};
    if (type !== 'RollingUpdate' || pods.some((pod) => pod.metadata.deletionTimestamp !== undefined)) return;
    for (const pod of [...pods].sort(byOrdinalDown)) {
      if (ordinalOf(pod) < (rollingUpdate?.partition ?? 0)) return;
      if (pod.metadata.labels?.[revisionLabel] !== revision) {
        await remove(set, pod);
        return;
      }
      if (!isReady(pod)) return;
    }
  };

  const create = async (set: StatefulSet, ordinal: number, revision: string): Promise<void> => {
    const name = `${set.metadata.name}-${ordinal}`;
    const templates = (set.spec?.volumeClaimTemplates ?? []) as PersistentVolumeClaim[];
    for (const template of templates) await createClaim(set, template, name);
    const volumes = templates.map((template) => ({
      name: template.metadata.name ?? '',
      persistentVolumeClaim: { claimName: `${template.metadata.name}-${name}` },
    }));
    const template = (set.spec?.template ?? {}) as PodTemplate;
    const ownVolumes = (template.spec?.volumes ?? []).filter(
      (each) => !volumes.some((volume) => volume.name === each.name),
    );
    await createPod(kube, unseen, store(), {
      owner: set,
      resource: resources.statefulSets,
      template,
      name: { exact: name },
      labels: {
        [revisionLabel]: revision,
        'statefulset.kubernetes.io/pod-name': name,
        'apps.kubernetes.io/pod-index': String(ordinal),
      },
      spec: {
        hostname: name,
        ...(set.spec?.serviceName ? { subdomain: set.spec.serviceName } : {}),
        ...(volumes.length === 0 ? {} : { volumes: [...ownVolumes, ...volumes] }),
      },
    });
    const message = `create Pod ${name} in StatefulSet ${set.metadata.name} successful`;
    tell(resources.statefulSets, set, { type: 'Normal', reason: 'SuccessfulCreate', message });
  };

  const createClaim = async (set: StatefulSet, template: PersistentVolumeClaim, podName: string): Promise<void> => {
    const { namespace = '' } = set.metadata;
    const name = `${template.metadata.name}-${podName}`;
    if (caches.of(resources.persistentVolumeClaims).store.get(`${namespace}/${name}`) !== undefined) return;
    const labels = { ...template.metadata.labels, ...set.spec?.selector?.matchLabels };
    try {
      await kube.create(resources.persistentVolumeClaims, {
        metadata: { name, namespace, labels },
        ...(template.spec === undefined ? {} : { spec: template.spec }),
      });
    } catch (error) {
      if (!isKubeError(error, 'AlreadyExists')) throw error;
    }
  };

  const remove = async (set: StatefulSet, pod: Pod): Promise<void> => {
    await deletePod(kube, unseen, store(), set, pod);
    const message = `delete Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name} successful`;
    tell(resources.statefulSets, set, { type: 'Normal', reason: 'SuccessfulDelete', message });
  };

  return {
    name: 'statefulset',
    follow: (add) => ownAndOwned(caches, resources.statefulSets, [resources.pods], add),
    reconcile: onceSettled(caches, unseen, resources.statefulSets, reconcile),
  };
}

const ordinalOf = (pod: Pod): number => Number(/-(\d+)$/.exec(pod.metadata.name ?? '')?.[1] ?? -1);
const byOrdinalDown = (left: Pod, right: Pod): number => ordinalOf(right) - ordinalOf(left);

function statusOf(set: StatefulSet, pods: readonly Pod[], revision: string, nowMs: number): object {
  const active = pods.filter((pod) => !hasEnded(pod));
  const updated = active.filter((pod) => pod.metadata.labels?.[revisionLabel] === revision);
  const isComplete = updated.length === active.length && updated.every(isReady);
  const current = isComplete ? revision : (set.status?.currentRevision ?? revision);
  return {
    observedGeneration: set.metadata.generation,
    replicas: active.length,
    readyReplicas: active.filter(isReady).length,
    availableReplicas: active.filter((pod) => isAvailable(pod, set.spec?.minReadySeconds ?? 0, nowMs)).length,
    updatedReplicas: updated.length,
    currentReplicas: active.filter((pod) => pod.metadata.labels?.[revisionLabel] === current).length,
    currentRevision: current,
    updateRevision: revision,
    collisionCount: 0,
  };
}
