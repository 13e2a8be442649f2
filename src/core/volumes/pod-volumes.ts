// Persistent volumes of a pod: which claims it uses, whether they can be used at all, where they allow the pod to run,
// and which CSI driver counts them. Read from the objects of the snapshot; missing ones are answered, never thrown.

import type { ClusterObjects } from '../kube/cluster-objects.ts';
import { keyOf, namespaceOf, type PersistentVolumeClaim, type Pod, type Volume } from '../kube/objects.ts';

export interface VolumeSupport {
  readonly unsupportedProvisioners: ReadonlySet<string>;
  readonly unsupportedTopologyKeys: ReadonlySet<string>;
}

const bindCompleted = 'pv.kubernetes.io/bind-completed';

/** In-tree volume plugins and the CSI drivers that replaced them. */
const csiNameOf: Readonly<Record<string, string>> = {
  'kubernetes.io/aws-ebs': 'ebs.csi.aws.com',
  'kubernetes.io/gce-pd': 'pd.csi.storage.gke.io',
  'kubernetes.io/azure-disk': 'disk.csi.azure.com',
  'kubernetes.io/azure-file': 'file.csi.azure.com',
  'kubernetes.io/cinder': 'cinder.csi.openstack.org',
  'kubernetes.io/vsphere-volume': 'csi.vsphere.vmware.com',
  'kubernetes.io/portworx-volume': 'pxd.portworx.com',
  'kubernetes.io/rbd': 'rbd.csi.ceph.com',
};

/** The claim behind a volume: its key, and the object if it is there. Undefined for volumes without a claim. */
export function claimOf(
  objects: ClusterObjects,
  pod: Pod,
  volume: Volume,
): { key: string; claim: PersistentVolumeClaim | undefined } | undefined {
  const name =
    volume.persistentVolumeClaim?.claimName ?? (volume.ephemeral ? `${pod.metadata.name}-${volume.name}` : undefined);
  if (name === undefined) return undefined;
  const key = `${namespaceOf(pod)}/${name}`;
  return { key, claim: objects.volumeClaims.get(key) };
}

const missingClaim = (name: string): string =>
  `getting persistent volume claim, PersistentVolumeClaim "${name}" not found (PersistentVolumeClaim=${name})`;

/** What is wrong with the pod's volumes, or undefined. */
export function volumeError(objects: ClusterObjects, support: VolumeSupport, pod: Pod): string | undefined {
  for (const volume of pod.spec?.volumes ?? []) {
    const found = claimOf(objects, pod, volume);
    if (found === undefined) continue;
    const error =
      found.claim === undefined
        ? missingClaim(found.key.slice(found.key.indexOf('/') + 1))
        : claimError(objects, support, found.claim);
    if (error !== undefined) return error;
  }
  return undefined;
}

function claimError(objects: ClusterObjects, support: VolumeSupport, claim: PersistentVolumeClaim): string | undefined {
  const key = keyOf(claim.metadata);
  const volumeName = claim.spec?.volumeName ?? '';
  const className = claim.spec?.storageClassName ?? '';
  if (claim.metadata.deletionTimestamp) {
    return `persistentvolumeclaim is being deleted (PersistentVolumeClaim=${key})`;
  }
  if (claim.status?.phase === 'Lost') {
    return `persistentvolumeclaim bound to non-existent persistentvolume (PersistentVolume=${volumeName}, PersistentVolumeClaim=${key})`;
  }
  const where = `(PersistentVolumeClaim=${key}, StorageClass=${className})`;
  if (volumeName !== '') {
    const bound = `(PersistentVolume=${volumeName}, PersistentVolumeClaim=${key}, StorageClass=${className})`;
    const volume = objects.volumes.get(volumeName);
    if (volume === undefined) return `failed to validate pvc, persistentvolumes "${volumeName}" not found ${bound}`;
    if (volume.metadata.deletionTimestamp) return `failed to validate pvc, persistentvolume is being deleted ${bound}`;
    if (claim.metadata.annotations?.[bindCompleted] === undefined) {
      return `pvc is considered unbound because it does not contain annotation (PersistentVolume=${volumeName}, PersistentVolumeClaim=${claim.metadata.name}, annotation=${bindCompleted})`;
    }
  } else {
    if (className === '') return `unbound pvc must define a storage class ${where}`;
    const storageClass = objects.storageClasses.get(className);
    if (storageClass === undefined) {
      return `failed to validate pvc, failed to get storage class, storageclasses.storage.k8s.io "${className}" not found ${where}`;
    }
    if (storageClass.volumeBindingMode === 'Immediate') {
      return `failed to validate pvc, pvc with immediate volume binding mode must be bound ${where}`;
    }
    const unsupported = storageClass.allowedTopologies
      ?.flatMap((term) => term.matchLabelExpressions ?? [])
      .find((expression) => support.unsupportedTopologyKeys.has(expression.key));
    if (unsupported !== undefined) {
      return `failed to validate pvc, storage class uses unsupported topology key (PersistentVolumeClaim=${key}, StorageClass=${className}, TopologyKey=${unsupported.key})`;
    }
  }
  const driver = driverOf(objects, claim);
  if (driver !== undefined && support.unsupportedProvisioners.has(driver)) {
    return `failed to validate pvc, provisioner is not supported (PersistentVolumeClaim=${key}, Provisioner=${driver}, StorageClass=${className})`;
  }
  return undefined;
}

/** The CSI driver that attaches the claim's volume; undefined if none counts it. */
export function driverOf(objects: ClusterObjects, claim: PersistentVolumeClaim): string | undefined {
  const volumeName = claim.spec?.volumeName ?? '';
  if (volumeName !== '') {
    const spec = objects.volumes.get(volumeName)?.spec;
    if (spec?.csi?.driver) return spec.csi.driver;
    return spec?.awsElasticBlockStore ? csiNameOf['kubernetes.io/aws-ebs'] : undefined;
  }
  const provisioner = objects.storageClasses.get(claim.spec?.storageClassName ?? '')?.provisioner;
  if (provisioner === undefined || provisioner === '') return undefined;
  return Object.hasOwn(csiNameOf, provisioner) ? csiNameOf[provisioner] : provisioner;
}

/** Attachments per driver: the distinct claims of one pod. */
export type Attachments = ReadonlyMap<string, ReadonlySet<string>>;

export const noAttachments: Attachments = new Map();

export function withAttachments(there: Attachments, more: Attachments): Attachments {
  const all = new Map(there);
  for (const [driver, claims] of more) all.set(driver, new Set([...(all.get(driver) ?? []), ...claims]));
  return all;
}

export function attachmentsOf(objects: ClusterObjects, pod: Pod): Attachments {
  if (!pod.spec?.volumes?.length) return noAttachments;
  const attachments = new Map<string, Set<string>>();
  for (const volume of pod.spec?.volumes ?? []) {
    const found = claimOf(objects, pod, volume);
    const driver = found?.claim === undefined ? undefined : driverOf(objects, found.claim);
    if (found === undefined || driver === undefined) continue;
    const claims = attachments.get(driver);
    if (claims) claims.add(found.key);
    else attachments.set(driver, new Set([found.key]));
  }
  return attachments;
}
