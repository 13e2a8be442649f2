// Stands between the API server and everything that works with our kinds: an object that cannot be worked with is not
// there, for caches, model, planner and provider alike, so that one of them never stops the work for the others. Who it
// is and what is wrong with it is kept for the controller that tells its owner.
import { kinds } from '../../api/index.ts';
import type { Refused } from '../../controllers/index.ts';
import type { Kube, KubeList, KubeObject, ListOptions, Resource, WatchEvent } from '../../ports/index.ts';
import { specProblems } from './spec-problems.ts';

/** Lists of several pages at a time; who gives one up does not say so. */
const mostListings = 16;

export class AdmissionGate {
  /** By kind and name. */
  readonly refused = new Map<string, Refused>();
  /** Hears the key of everything refused anew. */
  onRefused: (key: string) => void = () => {};
  /** Generations that were found in order: a spec is looked at once. */
  private readonly admitted = new Map<string, { key: string; generation: number }>();
  /** Lists under way, by the token of their next page. */
  private readonly listing = new Map<string, Set<string>>();

  kube(kube: Kube): Kube {
    return {
      get: (resource, ref, options) => kube.get(resource, ref, options),
      list: async (resource, options) => {
        const list = await kube.list(resource, options);
        if (!isOurs(resource)) return list;
        const items = list.items.filter((object) => this.admits(resource, object));
        if (isWhole(options)) this.notePage(resource, list, options?.continue);
        return { ...list, items };
      },
      watch: (resource, options) => {
        const events = kube.watch(resource, options);
        if (!isOurs(resource)) return events;
        return this.watched(resource, events, isWhole(options) && options?.sendInitialEvents === true);
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
    beginsWithAll: boolean,
  ): AsyncGenerator<WatchEvent<T>> {
    let initial = beginsWithAll ? new Set<string>() : undefined;
    for await (const event of events) {
      if (event.type === 'BOOKMARK') {
        if (event.initialEventsEnd && initial !== undefined) this.forgetOthers(resource, initial);
        if (event.initialEventsEnd) initial = undefined;
        yield event;
        continue;
      }
      initial?.add(keyOf(event.object));
      if (event.type === 'DELETED') {
        this.forget(event.object);
        yield event;
      } else if (this.admits(resource, event.object)) yield event;
      else yield { type: 'DELETED', object: event.object };
    }
  }

  private admits(resource: Resource, object: KubeObject): boolean {
    const { uid = '', generation = 0 } = object.metadata;
    if (this.admitted.get(uid)?.generation === generation) return true;
    const key = keyOf(object);
    const problems = specProblems(object);
    if (problems.length === 0) {
      this.refused.delete(key);
      if (uid !== '') this.admitted.set(uid, { key, generation });
      return true;
    }
    this.admitted.delete(uid);
    const isNews = this.refused.get(key)?.object.metadata.generation !== generation;
    this.refused.set(key, { resource, object, problems });
    if (isNews) this.onRefused(key);
    return false;
  }

  /** What went while no one watched is not in the next whole list. */
  private notePage(
    resource: Resource,
    { items, continue: next }: KubeList<KubeObject>,
    token: string | undefined,
  ): void {
    const known = token === undefined ? new Set<string>() : this.listing.get(token);
    if (token !== undefined) this.listing.delete(token);
    if (known === undefined) return;
    for (const object of items) known.add(keyOf(object));
    if (next === undefined) return this.forgetOthers(resource, known);
    this.listing.set(next, known);
    for (const oldest of this.listing.keys()) {
      if (this.listing.size <= mostListings) return;
      this.listing.delete(oldest);
    }
  }

  private forgetOthers(resource: Resource, there: ReadonlySet<string>): void {
    const isGone = (key: string): boolean => key.startsWith(`${resource.kind}/`) && !there.has(key);
    for (const key of this.refused.keys()) if (isGone(key)) this.refused.delete(key);
    for (const [uid, { key }] of this.admitted) if (isGone(key)) this.admitted.delete(uid);
  }

  private forget(object: KubeObject): void {
    this.admitted.delete(object.metadata.uid ?? '');
    this.refused.delete(keyOf(object));
  }
}

const isWhole = (asked: Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector'> | undefined): boolean =>
  asked?.namespace === undefined && asked?.labelSelector === undefined && asked?.fieldSelector === undefined;

const isOurs = ({ group, kind }: Resource): boolean => kinds.some((each) => each.group === group && each.kind === kind);

const keyOf = ({ kind, metadata }: KubeObject): string => [kind, metadata.namespace, metadata.name].join('/');
