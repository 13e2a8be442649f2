// The objects of one resource as last seen, by key, with indexes. Written by a reflector only; readers see whole states:
// a replacement happens in one step.
import { objectKey } from '../base/index.ts';
import type { KubeObject } from '../ports/index.ts';

export type Change<T> =
  | { kind: 'added'; object: T }
  | { kind: 'updated'; object: T; old: T }
  | { kind: 'deleted'; object: T };

/** Computes the value an object is filed under; undefined leaves it out of the index. */
export type Indexer<T> = (object: T) => string | undefined;

export interface ReadableStore<T extends KubeObject> {
  readonly size: number;
  get(key: string): T | undefined;
  values(): Iterable<T>;
  /** The objects an index files under a value. */
  filedUnder(index: string, value: string): Iterable<T>;
}

/** `namespace/name`, or the name alone for resources without namespaces. */
export function keyOf({ metadata: { namespace, name = '' } }: KubeObject): string {
  return objectKey(namespace, name);
}

export class ObjectStore<T extends KubeObject> implements ReadableStore<T> {
  private readonly indexers: Readonly<Record<string, Indexer<T>>>;
  private objects = new Map<string, T>();
  private indexes: Record<string, Map<string, Map<string, T>>> = {};

  constructor(indexers: Readonly<Record<string, Indexer<T>>> = {}) {
    this.indexers = indexers;
    this.rebuildIndexes();
  }

  get size(): number {
    return this.objects.size;
  }

  get(key: string): T | undefined {
    return this.objects.get(key);
  }

  values(): Iterable<T> {
    return this.objects.values();
  }

  filedUnder(index: string, value: string): Iterable<T> {
    return this.indexes[index]?.get(value)?.values() ?? [];
  }

  put(key: string, object: T): Change<T> {
    const old = this.objects.get(key);
    this.objects.set(key, object);
    if (old !== undefined) this.unfile(key, old);
    this.file(key, object);
    return old === undefined ? { kind: 'added', object } : { kind: 'updated', object, old };
  }

  /** The last state of a deleted object may be newer than ours: `last` is what handlers are given. */
  remove(key: string, last?: T): Change<T> | undefined {
    const old = this.objects.get(key);
    if (old === undefined) return undefined;
    this.objects.delete(key);
    this.unfile(key, old);
    return { kind: 'deleted', object: last ?? old };
  }

  /** Puts `next` in place of everything, and says what that changed: deletions first, then in the order of `next`. */
  replaceAll(next: Map<string, T>): Change<T>[] {
    const before = this.objects;
    const changes: Change<T>[] = [];
    for (const [key, old] of before) {
      const now = next.get(key);
      // The same name with another uid is another object: the first one went while no one looked.
      if (now === undefined || now.metadata.uid !== old.metadata.uid) changes.push({ kind: 'deleted', object: old });
    }
    for (const [key, object] of next) {
      const old = before.get(key);
      if (old === undefined || old.metadata.uid !== object.metadata.uid) changes.push({ kind: 'added', object });
      else if (old.metadata.resourceVersion !== object.metadata.resourceVersion) {
        changes.push({ kind: 'updated', object, old });
      } else {
        // Unchanged: whoever holds the object keeps holding the one in the store.
        next.set(key, old);
      }
    }
    this.objects = next;
    this.rebuildIndexes();
    return changes;
  }

  private rebuildIndexes(): void {
    this.indexes = Object.fromEntries(Object.keys(this.indexers).map((name) => [name, new Map()]));
    if (Object.keys(this.indexers).length === 0) return;
    for (const [key, object] of this.objects) this.file(key, object);
  }

  private file(key: string, object: T): void {
    for (const name in this.indexers) {
      const value = this.indexers[name]?.(object);
      if (value === undefined) continue;
      const index = this.indexes[name];
      const filed = index?.get(value);
      if (filed === undefined) index?.set(value, new Map([[key, object]]));
      else filed.set(key, object);
    }
  }

  private unfile(key: string, object: T): void {
    for (const name in this.indexers) {
      const value = this.indexers[name]?.(object);
      if (value === undefined) continue;
      const filed = this.indexes[name]?.get(value);
      filed?.delete(key);
      if (filed?.size === 0) this.indexes[name]?.delete(value);
    }
  }
}
