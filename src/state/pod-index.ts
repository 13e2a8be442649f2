// Pods by the node they are bound to. A pod that moves under the same name, or whose node is set later, changes place;
// order within a node is the order of arrival.
import type { Pod } from '../ports/index.ts';
import { keyOf, ObjectStore } from './object-store.ts';
import { PodDecisions } from './pod-decisions.ts';
import { PodPromises } from './pod-promises.ts';

const nothing: ReadonlyMap<string, Pod> = new Map();

export class PodIndex {
  readonly store = new ObjectStore<Pod>();
  readonly decisions = new PodDecisions();
  readonly promises = new PodPromises();
  private readonly byNode = new Map<string, Map<string, Pod>>();
  private readonly versions = new Map<string, number>();
  private changes = 0;

  /**
   * Moves whenever the pods on the node change, so that what was computed from them can be kept until then. Zero is a node
   * without pods, whether it had some once or not: names of nodes come and go for ever, and none is remembered.
   */
  versionOf(nodeName: string): number {
    return this.versions.get(nodeName) ?? 0;
  }

  on(nodeName: string): Iterable<Pod> {
    return (this.byNode.get(nodeName) ?? nothing).values();
  }

  set(pod: Pod): Pod | undefined {
    const previous = this.store.set(pod);
    const key = keyOf(pod);
    const before = previous?.spec?.nodeName;
    const now = pod.spec?.nodeName;
    if (before && before !== now) this.unbind(before, key);
    if (now !== undefined && now !== '') {
      let pods = this.byNode.get(now);
      if (pods === undefined) this.byNode.set(now, (pods = new Map()));
      pods.set(key, pod);
      this.versions.set(now, ++this.changes);
    }
    return previous;
  }

  delete(key: string): Pod | undefined {
    const previous = this.store.delete(key);
    this.decisions.forget(key);
    if (previous?.spec?.nodeName) this.unbind(previous.spec.nodeName, key);
    return previous;
  }

  private unbind(nodeName: string, key: string): void {
    const pods = this.byNode.get(nodeName);
    pods?.delete(key);
    if (pods !== undefined && pods.size > 0) {
      this.versions.set(nodeName, ++this.changes);
      return;
    }
    this.byNode.delete(nodeName);
    this.versions.delete(nodeName);
  }
}
