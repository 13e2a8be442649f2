// Claims that pods use and volumes that claims use are not deleted under them: the finalizer goes when no one does.
import { type PersistentVolume, type PersistentVolumeClaim, resources } from '../../ports/index.ts';
import { done, keyOf, type Outcome } from '../../runtime/index.ts';
import { claimNames } from '../scheduler/volumes.ts';
import type { WorkloadContext, WorkloadController } from './frame.ts';
import { hasEnded } from './pods.ts';

const claimFinalizer = 'kubernetes.io/pvc-protection';
const volumeFinalizer = 'kubernetes.io/pv-protection';

/** Keys are `claim namespace/name` and `volume name`. */
export function volumeProtection({ kube, caches }: WorkloadContext): WorkloadController {
  const claims = () => caches.of(resources.persistentVolumeClaims).store;

  const reconcile = async (task: string): Promise<Outcome> => {
    const [kind, key = ''] = task.split(' ', 2);
    if (kind === 'claim') {
      const claim = claims().get(key);
      if (claim !== undefined && isGoing(claim, claimFinalizer) && !isUsed(claim)) {
        const { name = '', namespace = '' } = claim.metadata;
        await kube.patch(resources.persistentVolumeClaims, { name, namespace }, without(claim, claimFinalizer));
      }
      return done;
    }
    const volume = caches.of(resources.persistentVolumes).store.get(key);
    if (volume !== undefined && isGoing(volume, volumeFinalizer) && !isClaimed(volume)) {
      await kube.patch(resources.persistentVolumes, { name: key }, without(volume, volumeFinalizer));
    }
    return done;
  };

  const isUsed = ({ metadata }: PersistentVolumeClaim): boolean => {
    for (const pod of caches.of(resources.pods).store.filedUnder('namespace', metadata.namespace ?? '')) {
      if (hasEnded(pod) || !pod.spec?.nodeName) continue;
      if (claimNames(pod).includes(metadata.name ?? '')) return true;
    }
    return false;
  };

  const isClaimed = ({ spec }: PersistentVolume): boolean => {
    const claim = claims().get(`${spec?.claimRef?.namespace}/${spec?.claimRef?.name}`);
    return claim !== undefined && claim.metadata.uid === spec?.claimRef?.uid;
  };

  return {
    name: 'volume-protection',
    follow: (add) => [
      caches.of(resources.persistentVolumeClaims).subscribe(({ kind, object }) => {
        if (kind === 'deleted') add(`volume ${object.spec?.volumeName}`);
        else if (object.metadata.deletionTimestamp !== undefined) add(`claim ${keyOf(object)}`);
      }),
      caches.of(resources.persistentVolumes).subscribe(({ kind, object }) => {
        if (kind !== 'deleted' && object.metadata.deletionTimestamp !== undefined) add(`volume ${keyOf(object)}`);
      }),
      caches.of(resources.pods).subscribe(({ kind, object }) => {
        if (kind !== 'deleted' && !hasEnded(object)) return;
        for (const name of claimNames(object)) add(`claim ${object.metadata.namespace}/${name}`);
      }),
    ],
    reconcile,
  };
}

type Protected = PersistentVolumeClaim | PersistentVolume;

const isGoing = ({ metadata }: Protected, finalizer: string): boolean =>
  metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(finalizer);

const without = ({ metadata }: Protected, finalizer: string) => ({
  type: 'merge' as const,
  body: {
    metadata: {
      resourceVersion: metadata.resourceVersion,
      finalizers: (metadata.finalizers ?? []).filter((name) => name !== finalizer),
    },
  },
});
