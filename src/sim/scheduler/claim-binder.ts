// Gets a pod's claims bound on the node chosen for it, before the pod itself is bound.
import { type Clock, KerfError, type Timer } from '../../base/index.ts';
import { type Kube, type Pod, resources } from '../../ports/index.ts';
import type { NodeRoom } from './cluster-view.ts';
import { claimNames, isBound, matchingVolume, selectedNodeAnnotation, type VolumeLookup } from './volumes.ts';

/** As kube-scheduler: a provider that has not made the volume by then gets another pod to make it for. */
const bindTimeoutMs = 600_000;

interface Waiting {
  isDone: () => boolean;
  resolve: () => void;
  timer: Timer;
}

export class ClaimBinder {
  private readonly kube: Kube;
  private readonly clock: Clock;
  private readonly lookup: VolumeLookup;
  private readonly waiting = new Set<Waiting>();

  constructor(kube: Kube, clock: Clock, lookup: VolumeLookup) {
    this.kube = kube;
    this.clock = clock;
    this.lookup = lookup;
  }

  /** Resolves when every claim of the pod is bound; rejects when that takes too long. */
  async bindClaims(pod: Pod, room: NodeRoom): Promise<void> {
    const { namespace = '' } = pod.metadata;
    const unbound = claimNames(pod).filter((name) => {
      const claim = this.lookup.claim(`${namespace}/${name}`);
      return claim !== undefined && !isBound(claim);
    });
    if (unbound.length === 0) return;
    for (const name of unbound) await this.request(namespace, name, room);
    await this.until(
      () =>
        unbound.every((name) => {
          const claim = this.lookup.claim(`${namespace}/${name}`);
          return claim !== undefined && isBound(claim);
        }),
      `${namespace}/${pod.metadata.name}`,
    );
  }

  /** Some claim changed: whoever waits looks again. */
  claimsChanged(): void {
    for (const each of this.waiting) if (each.isDone()) this.finish(each);
  }

  dispose(): void {
    for (const { timer } of this.waiting) timer.dispose();
    this.waiting.clear();
  }

  private async request(namespace: string, name: string, room: NodeRoom): Promise<void> {
    const claim = this.lookup.claim(`${namespace}/${name}`);
    if (claim === undefined || claim.metadata.annotations?.[selectedNodeAnnotation] !== undefined) return;
    const volume = matchingVolume(claim, room, this.lookup);
    if (volume === undefined) {
      const body = { metadata: { annotations: { [selectedNodeAnnotation]: room.name } } };
      await this.kube.patch(resources.persistentVolumeClaims, { name, namespace }, { type: 'merge', body });
      return;
    }
    const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid: claim.metadata.uid };
    const { name: volumeName = '', resourceVersion } = volume.metadata;
    const body = { metadata: { resourceVersion }, spec: { claimRef } };
    await this.kube.patch(resources.persistentVolumes, { name: volumeName }, { type: 'merge', body });
  }

  private until(isDone: () => boolean, subject: string): Promise<void> {
    if (isDone()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const each: Waiting = {
        isDone,
        resolve,
        timer: this.clock.after(bindTimeoutMs, () => {
          this.waiting.delete(each);
          const message = `the claims of pod ${subject} were not bound within ${bindTimeoutMs / 60_000} minutes`;
          reject(new KerfError('ClaimsNotBound', message, { subject, retryable: true }));
        }),
      };
      this.waiting.add(each);
    });
  }

  private finish(each: Waiting): void {
    this.waiting.delete(each);
    each.timer.dispose();
    each.resolve();
  }
}
