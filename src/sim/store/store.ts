// The cluster's memory: one revision counter over all collections. Everything that writes goes through `put` and
// `remove`, synchronously, so a request is atomic by construction. A journal, if given, hears of a change before anyone else does.
import { freeze, type JsonObject, share } from '../json.ts';
import { Collection } from './collection.ts';
import type { Identity } from './identity.ts';
import type { SortedMap } from './sorted-map.ts';
import { keyOf, type StoredObject } from './stored-object.ts';

/** Changes remembered per resource; at 10,000 a watcher may pause for seconds under full load and still resume. */
const defaultHistorySize = 10_000;

export interface JournalEntry {
  collection: string;
  key: string;
  revision: number;
  drawn: number;
  /** Absent: deleted. */
  object: StoredObject | undefined;
}

/** All there is at one moment. Objects and maps are never changed in place, so keeping one costs nothing. */
export interface StoreState {
  revision: number;
  drawn: number;
  collections: ReadonlyMap<string, SortedMap<StoredObject>>;
}

export interface StoreOptions {
  identity: Identity;
  historySize?: number;
  /** Must not return before the entry is safe from the death of this process. */
  journal?: (entry: JournalEntry) => void;
}

export class Store {
  readonly identity: Identity;
  revision = 1;
  /** Nothing is known of what happened up to here. */
  private base = 0;
  journal: StoreOptions['journal'];
  private readonly historySize: number;
  private readonly byResource = new Map<string, Collection>();
  private readonly listeners = new Set<
    (collection: string, previous: StoredObject | undefined, object: StoredObject, deleted: boolean) => void
  >();

  constructor(options: StoreOptions) {
    this.identity = options.identity;
    this.journal = options.journal;
    this.historySize = options.historySize ?? defaultHistorySize;
  }

  /** The collection of a resource, named `plural.group`. */
  collection(id: string): Collection {
    let collection = this.byResource.get(id);
    if (collection === undefined) {
      collection = new Collection(this.historySize, this.base);
      this.byResource.set(id, collection);
    }
    return collection;
  }

  collections(): Iterable<[string, Collection]> {
    return this.byResource;
  }

  /** Stores a new version and returns it frozen, with its resourceVersion. The draft must be the caller's own. */
  put(id: string, draft: JsonObject): StoredObject {
    const collection = this.collection(id);
    const meta = draft['metadata'] as JsonObject;
    const key = keyOf(meta['namespace'] as string | undefined, meta['name'] as string);
    const previous = collection.objects.get(key);
    // Parts of a draft may be shared with what is stored, so never written to.
    draft['metadata'] = { ...meta, resourceVersion: String(this.revision + 1) };
    const object = freeze(share(previous, draft)) as StoredObject;
    this.commit(id, key, previous, object, false);
    return object;
  }

  /** Removes an object; watchers see its last state under the revision of its removal. */
  remove(id: string, object: StoredObject): StoredObject {
    const last = freeze({
      ...object,
      metadata: { ...object.metadata, resourceVersion: String(this.revision + 1) },
    }) as StoredObject;
    this.commit(id, keyOf(object.metadata.namespace, object.metadata.name), object, last, true);
    return last;
  }

  /** Puts back what a journal kept, without telling it again; `compact` must follow, since the past is gone. */
  restore(entry: JournalEntry): void {
    const collection = this.collection(entry.collection);
    collection.objects =
      entry.object === undefined
        ? collection.objects.delete(entry.key)
        : collection.objects.set(entry.key, freeze(entry.object));
    this.revision = Math.max(this.revision, entry.revision);
    this.identity.drawn = Math.max(this.identity.drawn, entry.drawn);
  }

  state(): StoreState {
    const collections = new Map(Array.from(this.byResource, ([id, { objects }]) => [id, objects]));
    return { revision: this.revision, drawn: this.identity.drawn, collections };
  }

  /** Begins where another store was at some moment, before anybody has used this one; the past is gone. */
  adopt({ revision, drawn, collections }: StoreState): void {
    this.revision = revision;
    this.identity.drawn = drawn;
    for (const [id, objects] of collections) this.collection(id).objects = objects;
    this.compact();
  }

  /** Forgets all history, as the compaction of a real store does: older versions answer 410 from now on. */
  compact(): void {
    this.base = this.revision;
    for (const collection of this.byResource.values()) collection.compact(this.revision);
  }

  /** Calls `listener` after every change of any collection, in order. */
  listen(
    listener: (collection: string, previous: StoredObject | undefined, object: StoredObject, deleted: boolean) => void,
  ): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  private commit(
    id: string,
    key: string,
    previous: StoredObject | undefined,
    object: StoredObject,
    deleted: boolean,
  ): void {
    const revision = this.revision + 1;
    this.journal?.({ collection: id, key, revision, drawn: this.identity.drawn, object: deleted ? undefined : object });
    this.revision = revision;
    this.collection(id).record({ revision, key, previous, object, deleted, encodings: undefined });
    for (const listener of this.listeners) listener(id, previous, object, deleted);
  }
}
