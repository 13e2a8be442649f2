// Pods that no one will end: those bound to a node that is gone, and those asked to go that were never placed.
import { isKubeError, type Pod, resources } from '../../ports/index.ts';
import { done, keyOf, type Outcome } from '../../runtime/index.ts';
import type { WorkloadContext, WorkloadController } from './frame.ts';
import { hasEnded } from './pods.ts';

/** A node that vanishes may be on its way back; its pods are given this long. */
const quarantineMs = 40_000;

export function podCollector({ kube, clock, caches }: WorkloadContext): WorkloadController {
  /** When each node that pods are still bound to was noticed to be gone. */
  const goneSince = new Map<string, number>();

  const reconcile = async (key: string): Promise<Outcome> => {
    const pod = caches.of(resources.pods).store.get(key);
    if (pod === undefined) return done;
    const nodeName = pod.spec?.nodeName ?? '';
    if (nodeName === '') {
      if (pod.metadata.deletionTimestamp !== undefined) await remove(pod);
      return done;
    }
    if (caches.of(resources.nodes).store.get(nodeName) !== undefined) {
      goneSince.delete(nodeName);
      return done;
    }
    const sinceMs = goneSince.get(nodeName) ?? clock.now();
    goneSince.set(nodeName, sinceMs);
    const leftMs = sinceMs + quarantineMs - clock.now();
    if (leftMs > 0) return { kind: 'again', afterMs: leftMs };
    if (!hasEnded(pod)) await fail(pod);
    await remove(pod);
    return done;
  };

  /** Whoever counts ended pods must see that this one did not end well. */
  const fail = async (pod: Pod): Promise<void> => {
    const { name = '', namespace = '', uid = '' } = pod.metadata;
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByPodGC',
      message: 'PodGC: node no longer exists',
    };
    const body = { metadata: { uid }, status: { phase: 'Failed', conditions: [condition] } };
    await kube.patch(resources.pods, { name, namespace }, { type: 'strategic', body }, { subresource: 'status' });
  };

  const remove = async (pod: Pod): Promise<void> => {
    const { name = '', namespace = '', uid = '' } = pod.metadata;
    try {
      await kube.delete(resources.pods, { name, namespace }, { gracePeriodSeconds: 0, preconditions: { uid } });
    } catch (error) {
      if (!isKubeError(error, 'NotFound')) throw error;
    }
  };

  return {
    name: 'pod-garbage-collector',
    follow: (add) => [
      caches.of(resources.nodes).subscribe(({ kind, object }) => {
        const { name = '' } = object.metadata;
        if (kind === 'added') goneSince.delete(name);
        if (kind !== 'deleted') return;
        const pods = podsOn(name);
        if (pods.length > 0) goneSince.set(name, clock.now());
        for (const pod of pods) add(keyOf(pod));
      }),
      caches.of(resources.pods).subscribe(({ kind, object }) => {
        const nodeName = object.spec?.nodeName ?? '';
        if (kind === 'deleted') {
          if (podsOn(nodeName).length === 0) goneSince.delete(nodeName);
          return;
        }
        const isLost = nodeName === '' ? object.metadata.deletionTimestamp !== undefined : isUnknown(nodeName);
        if (isLost) add(keyOf(object));
      }),
    ],
    reconcile,
  };

  function podsOn(nodeName: string): Pod[] {
    return [...caches.of(resources.pods).store.filedUnder('node', nodeName)];
  }

  function isUnknown(nodeName: string): boolean {
    return caches.of(resources.nodes).store.get(nodeName) === undefined;
  }
}
