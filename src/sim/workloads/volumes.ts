// Binds claims to volumes, makes volumes for classes that provide them, and takes them away with their claims. Stands in
// for the volume binder and for every CSI driver's provisioner at once.
import { label } from '../../api/index.ts';
import {
  isKubeError,
  type Node,
  type PersistentVolume,
  type PersistentVolumeClaim,
  resources,
  type StorageClass,
} from '../../ports/index.ts';
import { done, keyOf, type Outcome } from '../../runtime/index.ts';
import { isBound, matchingVolume, noProvisioner, selectedNodeAnnotation } from '../scheduler/volumes.ts';
import type { WorkloadContext, WorkloadController } from './frame.ts';

type Claim = PersistentVolumeClaim;

export function claimController({ kube, caches }: WorkloadContext): WorkloadController {
  const volumes = () => caches.of(resources.persistentVolumes).store;
  const classOf = (name: string | undefined): StorageClass | undefined =>
    caches.of(resources.storageClasses).store.get(name ?? '');

  const reconcile = async (key: string): Promise<Outcome> => {
    const claim = caches.of(resources.persistentVolumeClaims).store.get(key);
    if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) return done;
    if (isBound(claim)) {
      const volume = volumes().get(claim.spec?.volumeName ?? '');
      if (volume !== undefined && claim.status?.phase !== 'Bound') await bind(claim, volume);
      return done;
    }
    const reserved = reservedFor(claim);
    if (reserved !== undefined) {
      await bind(claim, reserved);
      return done;
    }
    const storage = classOf(claim.spec?.storageClassName);
    const waits = storage?.volumeBindingMode === 'WaitForFirstConsumer';
    const selected = claim.metadata.annotations?.[selectedNodeAnnotation];
    if (waits && selected === undefined) return done;
    const node = caches.of(resources.nodes).store.get(selected ?? '');
    const free = waits ? undefined : freeVolume(claim);
    if (free !== undefined) await bind(claim, free);
    else if (storage !== undefined && storage.provisioner !== noProvisioner && (node !== undefined || !waits)) {
      await bind(claim, await provide(claim, storage, node));
    }
    return done;
  };

  const reservedFor = ({ metadata }: Claim): PersistentVolume | undefined => {
    for (const volume of volumes().values()) {
      const { claimRef } = volume.spec ?? {};
      const isNamed = claimRef?.name === metadata.name && claimRef?.namespace === metadata.namespace;
      if (isNamed && (claimRef?.uid === undefined || claimRef.uid === metadata.uid)) return volume;
    }
    return undefined;
  };

  /** Any volume that fits, wherever it lies: the claim does not wait to know where it is needed. */
  const freeVolume = (claim: Claim): PersistentVolume | undefined => {
    const nowhere = {
      name: '',
      node: undefined,
      labels: {},
      taints: [],
      allocatable: new Map(),
      used: new Map(),
      pods: new Map(),
    };
    return matchingVolume(claim, nowhere, {
      claim: () => claim,
      volume: (name) => volumes().get(name),
      volumes: () =>
        [...volumes().values()].map(
          (volume) => ({ ...volume, spec: { ...volume.spec, nodeAffinity: undefined } }) as never,
        ),
      storageClass: classOf,
      csiNode: () => undefined,
    });
  };

  const provide = async (claim: Claim, storage: StorageClass, node: Node | undefined): Promise<PersistentVolume> => {
    const name = `pvc-${claim.metadata.uid}`;
    const zone = node?.metadata.labels?.[label.zone] ?? anyZone(storage);
    const volume = {
      metadata: { name, annotations: { 'pv.kubernetes.io/provisioned-by': storage.provisioner } },
      spec: {
        capacity: { storage: claim.spec?.resources?.requests?.['storage'] ?? '1Gi' },
        accessModes: claim.spec?.accessModes ?? ['ReadWriteOnce'],
        persistentVolumeReclaimPolicy: storage.reclaimPolicy ?? 'Delete',
        storageClassName: storage.metadata.name ?? '',
        volumeMode: claim.spec?.volumeMode ?? 'Filesystem',
        csi: {
          driver: storage.provisioner,
          volumeHandle: `vol-${claim.metadata.uid?.replaceAll('-', '').slice(0, 17)}`,
        },
        claimRef: reference(claim),
        ...(zone === undefined
          ? {}
          : {
              nodeAffinity: {
                required: {
                  nodeSelectorTerms: [{ matchExpressions: [{ key: label.zone, operator: 'In', values: [zone] }] }],
                },
              },
            }),
      },
    } as PersistentVolume;
    try {
      return await kube.create(resources.persistentVolumes, volume);
    } catch (error) {
      if (!isKubeError(error, 'AlreadyExists')) throw error;
      return kube.get(resources.persistentVolumes, { name });
    }
  };

  const anyZone = ({ allowedTopologies = [] }: StorageClass): string | undefined => {
    const allowed = allowedTopologies
      .flatMap(({ matchLabelExpressions = [] }) => matchLabelExpressions)
      .find(({ key }) => key === label.zone)?.values[0];
    if (allowed !== undefined) return allowed;
    for (const { metadata } of caches.of(resources.nodes).store.values()) {
      if (metadata.labels?.[label.zone] !== undefined) return metadata.labels[label.zone];
    }
    return undefined;
  };

  const bind = async (claim: Claim, volume: PersistentVolume): Promise<void> => {
    const { name: volumeName = '' } = volume.metadata;
    const { name = '', namespace = '' } = claim.metadata;
    await kube.patch(
      resources.persistentVolumes,
      { name: volumeName },
      { type: 'merge', body: { spec: { claimRef: reference(claim) } } },
    );
    await setPhase(resources.persistentVolumes, { name: volumeName }, { phase: 'Bound' });
    const bound = { 'pv.kubernetes.io/bind-completed': 'yes' };
    const body = { metadata: { annotations: bound }, spec: { volumeName } };
    await kube.patch(resources.persistentVolumeClaims, { name, namespace }, { type: 'merge', body });
    const { accessModes, capacity } = volume.spec ?? {};
    await setPhase(resources.persistentVolumeClaims, { name, namespace }, { phase: 'Bound', accessModes, capacity });
  };

  const setPhase = async (
    resource: typeof resources.persistentVolumes | typeof resources.persistentVolumeClaims,
    ref: { name: string; namespace?: string },
    status: object,
  ): Promise<void> => {
    const target = resource as typeof resources.persistentVolumes;
    await kube.patch(target, ref, { type: 'merge', body: { status } }, { subresource: 'status' });
  };

  /** A volume whose claim is gone goes too, or waits for someone to look after it. */
  const release = async (claim: Claim): Promise<void> => {
    const name = claim.spec?.volumeName ?? '';
    const volume = volumes().get(name);
    if (volume === undefined || volume.spec?.claimRef?.uid !== claim.metadata.uid) return;
    try {
      if (volume.spec?.persistentVolumeReclaimPolicy === 'Delete')
        await kube.delete(resources.persistentVolumes, { name });
      else await setPhase(resources.persistentVolumes, { name }, { phase: 'Released' });
    } catch (error) {
      if (!isKubeError(error, 'NotFound')) throw error;
    }
  };

  return {
    name: 'volume-binder',
    follow: (add) => [
      caches.of(resources.persistentVolumeClaims).subscribe(({ kind, object }) => {
        if (kind === 'deleted') release(object).catch(() => undefined);
        else add(keyOf(object));
      }),
      caches.of(resources.persistentVolumes).subscribe(({ kind, object }) => {
        const { claimRef } = object.spec ?? {};
        if (kind !== 'deleted' && claimRef !== undefined) add(`${claimRef.namespace}/${claimRef.name}`);
        else wakeUnbound(add);
      }),
      caches.of(resources.storageClasses).subscribe(() => wakeUnbound(add)),
    ],
    reconcile,
  };

  function wakeUnbound(add: (key: string) => void): void {
    for (const claim of caches.of(resources.persistentVolumeClaims).store.values())
      if (!isBound(claim)) add(keyOf(claim));
  }
}

const reference = ({ metadata: { namespace, name, uid } }: Claim) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  namespace,
  name,
  uid,
});
