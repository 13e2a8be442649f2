// Stands between the API server and everything that works with our kinds: an object that cannot be worked with is not
// there, for caches, model, planner and provider alike, so that one of them never stops the work for the others. Who it
// is and what is wrong with it is kept for the controller that tells its owner.
import { kinds } from '../../api/index.ts';
import type { Refused } from '../../controllers/index.ts';
import type { Kube, KubeObject, Resource, WatchEvent } from '../../ports/index.ts';
import { specProblems } from './spec-problems.ts';

export class AdmissionGate {
  /** By kind and name. */
  readonly refused = new Map<string, Refused>();
  /** Hears the key of everything refused anew. */
  onRefused: (key: string) => void = () => {};
  /** Generations that were found in order: a spec is looked at once. */
  private readonly admitted = new Map<string, number>();

  kube(kube: Kube): Kube {
    return {
      get: (resource, ref, options) => kube.get(resource, ref, options),
      list: async (resource, options) => {
        const list = await kube.list(resource, options);
        if (!isOurs(resource)) return list;
        return { ...list, items: list.items.filter((object) => this.admits(resource, object)) };
      },
      watch: (resource, options) => {
        const events = kube.watch(resource, options);
        return isOurs(resource) ? this.watched(resource, events) : events;
      },
      create: (resource, object, options) => kube.create(resource, object, options),
      replace: (resource, object, options) => kube.replace(resource, object, options),
      patch: (resource, ref, patch, options) => kube.patch(resource, ref, patch, options),
      delete: (resource, ref, options) => kube.delete(resource, ref, options),
      evict: (ref, options) => kube.evict(ref, options),
      bind: (ref, node, options) => kube.bind(ref, node, options),
    };
  }

  private async *watched<T extends KubeObject>(
    resource: Resource<T>,
    events: AsyncIterable<WatchEvent<T>>,
  ): AsyncGenerator<WatchEvent<T>> {
    for await (const event of events) {
      if (event.type === 'BOOKMARK') yield event;
      else if (event.type === 'DELETED') {
        this.forget(event.object);
        yield event;
      } else if (this.admits(resource, event.object)) yield event;
      else yield { type: 'DELETED', object: event.object };
    }
  }

  private admits(resource: Resource, object: KubeObject): boolean {
    const { uid = '', generation = 0 } = object.metadata;
    if (this.admitted.get(uid) === generation) return true;
    const key = keyOf(object);
    const problems = specProblems(object);
    if (problems.length === 0) {
      this.refused.delete(key);
      if (uid !== '') this.admitted.set(uid, generation);
      return true;
    }
    this.admitted.delete(uid);
    const isNews = this.refused.get(key)?.object.metadata.generation !== generation;
    this.refused.set(key, { resource, object, problems });
    if (isNews) this.onRefused(key);
    return false;
  }

  private forget(object: KubeObject): void {
    this.admitted.delete(object.metadata.uid ?? '');
    this.refused.delete(keyOf(object));
  }
}

const isOurs = ({ group, kind }: Resource): boolean => kinds.some((each) => each.group === group && each.kind === kind);

const keyOf = ({ kind, metadata }: KubeObject): string => [kind, metadata.namespace, metadata.name].join('/');
