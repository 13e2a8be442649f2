// A streaming list on its way to becoming the store: the server sends every object as an event, in any order, and changes
// to them meanwhile, until a bookmark says that the list is complete.
import { isAtOrBefore } from '../base/index.ts';
import type { KubeObject, WatchEvent } from '../ports/index.ts';
import { keyOf } from './object-store.ts';
import type { ReflectorCounters } from './reflector.ts';

export interface Staging<T> {
  objects: Map<string, T>;
  deletedAt: Map<string, string | undefined>;
}

/** Takes one event of a streaming list; true when it was the mark that ends the list. */
export function stage<T extends KubeObject>(
  { objects, deletedAt }: Staging<T>,
  event: WatchEvent<T>,
  slimmed: (object: T, key: string) => T,
  counters: ReflectorCounters,
): boolean {
  counters.events++;
  if (event.type === 'BOOKMARK') {
    counters.bookmarks++;
    return event.initialEventsEnd;
  }
  const key = keyOf(event.object);
  const { resourceVersion } = event.object.metadata;
  // Initial events come in any order of versions; only within one object does the order mean something.
  const seen = objects.get(key)?.metadata.resourceVersion ?? deletedAt.get(key);
  if (isAtOrBefore(resourceVersion, seen)) {
    counters.stale++;
  } else if (event.type === 'DELETED') {
    objects.delete(key);
    deletedAt.set(key, resourceVersion);
  } else {
    objects.set(key, slimmed(event.object, key));
  }
  return false;
}
