// PersistentVolumeClaims that Kubernetes' controllers would make: for StatefulSets, for ephemeral volumes, and the default
// storage class for those that name none. Without them a planned pod would look broken.
import type { SnapshotObject } from '../../../core/index.ts';
import type { PodSpec } from './waiting-pods.ts';

export interface ClaimTemplate {
  metadata?: { name?: string; labels?: Record<string, string> };
  spec?: Record<string, unknown>;
}

export interface VolumeSpec {
  name: string;
  persistentVolumeClaim?: { claimName: string };
  ephemeral?: { volumeClaimTemplate?: ClaimTemplate };
}

/** The volumes of one StatefulSet pod; its claims are appended to `claims`. */
export function claimsOfTemplates(
  templates: readonly ClaimTemplate[],
  pod: string,
  namespace: string,
  claims: SnapshotObject[],
): VolumeSpec[] {
  return templates.map((template) => {
    const name = template.metadata?.name ?? '';
    const claimName = `${name}-${pod}`;
    claims.push(claim(claimName, namespace, template));
    return { name, persistentVolumeClaim: { claimName } };
  });
}

/** Claims for the ephemeral volumes of waiting pods: one per volume, named after pod and volume. */
export function claimsOfEphemeralVolumes(pods: readonly SnapshotObject[]): SnapshotObject[] {
  const claims: SnapshotObject[] = [];
  for (const pod of pods) {
    const spec = pod['spec'] as PodSpec | undefined;
    for (const volume of spec?.volumes ?? []) {
      if (volume.ephemeral?.volumeClaimTemplate === undefined) continue;
      const name = `${pod.metadata.name}-${volume.name}`;
      claims.push(claim(name, pod.metadata.namespace ?? 'default', volume.ephemeral.volumeClaimTemplate));
    }
  }
  return claims;
}

function claim(name: string, namespace: string, template: ClaimTemplate): SnapshotObject {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace, uid: `${namespace}/PersistentVolumeClaim/${name}` },
    spec: { ...template.spec },
    status: { phase: 'Pending' },
  };
}

const defaultClass = 'storageclass.kubernetes.io/is-default-class';

/** Claims that name no class get the default one, the newest if there are several, as the API server does. */
export function withDefaultStorageClass(objects: readonly SnapshotObject[]): SnapshotObject[] {
  const classes = objects.filter(
    (object) =>
      object.kind === 'StorageClass' &&
      (object.metadata['annotations'] as Record<string, string> | undefined)?.[defaultClass] === 'true',
  );
  classes.sort((left, right) => (createdAt(left) < createdAt(right) ? 1 : -1));
  const chosen = classes[0]?.metadata.name;
  if (chosen === undefined) return [...objects];
  return objects.map((object) => {
    if (object.kind !== 'PersistentVolumeClaim') return object;
    const spec = object['spec'] as Record<string, unknown> | undefined;
    // An empty text is an answer: no class wanted.
    if (typeof spec?.['storageClassName'] === 'string' || typeof spec?.['volumeName'] === 'string') return object;
    return { ...object, spec: { ...spec, storageClassName: chosen } };
  });
}

/** Creation time, then name, so that the order is total. */
function createdAt(object: SnapshotObject): string {
  return `${String(object.metadata['creationTimestamp'] ?? '')} ${object.metadata.name}`;
}
