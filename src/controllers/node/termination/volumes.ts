// Which volumes still hold a node that is going: those attached to it and not used by a pod that stays there to the end.
// Taking the machine away under them would make the volume's next user wait minutes for the detachment.
import type { PersistentVolumeClaim, Pod, VolumeAttachment } from '../../../ports/index.ts';
import { type Cluster, isDrainable, type ObjectStore } from '../../../state/index.ts';

/** Names of the VolumeAttachments in the way. */
export function attachmentsInTheWay(cluster: Cluster, nodeName: string, nowMs: number): string[] {
  const attached = attachmentsOf(cluster, nodeName);
  if (attached.length === 0) return [];
  const staying = volumesOfStayingPods(cluster, nodeName, nowMs);
  return attached.flatMap(({ metadata, spec }) => {
    const volume = spec.source.persistentVolumeName;
    return volume === undefined || staying.has(volume) ? [] : [metadata.name ?? ''];
  });
}

function attachmentsOf(cluster: Cluster, nodeName: string): VolumeAttachment[] {
  const attachments = cluster.context.VolumeAttachment.list() as readonly VolumeAttachment[];
  return attachments.filter(({ spec }) => spec.nodeName === nodeName);
}

function volumesOfStayingPods(cluster: Cluster, nodeName: string, nowMs: number): Set<string> {
  const claims = cluster.context.PersistentVolumeClaim as ObjectStore<PersistentVolumeClaim>;
  const volumes = new Set<string>();
  for (const pod of cluster.pods.on(nodeName)) {
    if (isDrainable(pod, nowMs)) continue;
    for (const name of claimNames(pod)) {
      const volume = claims.get(`${pod.metadata.namespace}/${name}`)?.spec?.volumeName;
      if (volume) volumes.add(volume);
    }
  }
  return volumes;
}

function claimNames({ metadata, spec }: Pod): string[] {
  return (spec?.volumes ?? []).flatMap((volume) => {
    if (volume.persistentVolumeClaim !== undefined) return [volume.persistentVolumeClaim.claimName];
    return volume.ephemeral === undefined ? [] : [`${metadata.name}-${volume.name}`];
  });
}
