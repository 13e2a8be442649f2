// VolumeAttachments: a volume is attached to a node while a pod there uses it, and detached a moment after the last is gone.
import { isKubeError, type PersistentVolume, resources, type VolumeAttachment } from '../../ports/index.ts';
import { done, type Outcome } from '../../runtime/index.ts';
import { hashOf } from '../kubelet/hash.ts';
import { claimNames } from '../scheduler/volumes.ts';
import type { WorkloadContext, WorkloadController } from './frame.ts';
import { hasEnded } from './pods.ts';

/** Unmounting and detaching take a while on a real machine; controllers that wait for it should have something to see. */
const detachMs = 2_000;

export function attachmentController({ kube, clock, caches }: WorkloadContext): WorkloadController {
  /** Since when no one uses an attached volume. */
  const idleSince = new Map<string, number>();

  /** Keys are nodes. */
  const reconcile = async (nodeName: string): Promise<Outcome> => {
    const wanted = volumesUsedOn(nodeName);
    const present = new Map<string, VolumeAttachment>();
    for (const attachment of caches.of(resources.volumeAttachments).store.values()) {
      if (attachment.spec?.nodeName === nodeName)
        present.set(attachment.spec.source.persistentVolumeName ?? '', attachment);
    }
    for (const [name, volume] of wanted) {
      idleSince.delete(`${nodeName}/${name}`);
      if (!present.has(name)) await attach(nodeName, volume);
    }
    let again: Outcome = done;
    for (const [name, attachment] of present) {
      if (wanted.has(name)) continue;
      const key = `${nodeName}/${name}`;
      const sinceMs = idleSince.get(key) ?? clock.now();
      idleSince.set(key, sinceMs);
      if (clock.now() - sinceMs < detachMs) again = { kind: 'again', afterMs: sinceMs + detachMs - clock.now() };
      else {
        idleSince.delete(key);
        await detach(attachment);
      }
    }
    return again;
  };

  const volumesUsedOn = (nodeName: string): Map<string, PersistentVolume> => {
    const used = new Map<string, PersistentVolume>();
    for (const pod of caches.of(resources.pods).store.filedUnder('node', nodeName)) {
      if (hasEnded(pod)) continue;
      for (const name of claimNames(pod)) {
        const claim = caches.of(resources.persistentVolumeClaims).store.get(`${pod.metadata.namespace}/${name}`);
        const volume = caches.of(resources.persistentVolumes).store.get(claim?.spec?.volumeName ?? '');
        if (volume?.spec?.csi !== undefined) used.set(volume.metadata.name ?? '', volume);
      }
    }
    return used;
  };

  const attach = async (nodeName: string, volume: PersistentVolume): Promise<void> => {
    if (caches.of(resources.nodes).store.get(nodeName) === undefined) return;
    const volumeName = volume.metadata.name ?? '';
    const text = `${nodeName} ${volumeName}`;
    const name = `csi-${hashOf(text).toString(16)}${hashOf(`${text} `).toString(16)}`;
    try {
      await kube.create(resources.volumeAttachments, {
        metadata: { name },
        spec: { attacher: volume.spec?.csi?.driver ?? '', nodeName, source: { persistentVolumeName: volumeName } },
      });
      const body = { status: { attached: true } };
      await kube.patch(resources.volumeAttachments, { name }, { type: 'merge', body }, { subresource: 'status' });
    } catch (error) {
      if (!isKubeError(error, 'AlreadyExists')) throw error;
    }
  };

  const detach = async ({ metadata: { name = '' } }: VolumeAttachment): Promise<void> => {
    try {
      await kube.delete(resources.volumeAttachments, { name });
    } catch (error) {
      if (!isKubeError(error, 'NotFound')) throw error;
    }
  };

  return {
    name: 'attach-detach',
    follow: (add) => [
      caches.of(resources.pods).subscribe((change) => {
        const { nodeName, volumes } = change.object.spec ?? {};
        const isPlaced = change.kind !== 'updated' || change.old.spec?.nodeName !== nodeName || hasEnded(change.object);
        if (nodeName && volumes?.some((each) => each.persistentVolumeClaim ?? each.ephemeral) && isPlaced)
          add(nodeName);
      }),
      caches.of(resources.nodes).subscribe(({ kind, object }) => {
        if (kind === 'deleted') add(object.metadata.name ?? '');
      }),
      caches.of(resources.volumeAttachments).subscribe(({ kind, object }) => {
        if (kind !== 'deleted') add(object.spec?.nodeName ?? '');
      }),
    ],
    reconcile,
  };
}
