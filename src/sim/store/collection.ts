// All objects of one resource, with the history of their changes. Watches, paged lists and lists at an old version are
// all read from that history; what has fallen out of it is gone, and asking for it is answered with 410 Expired.
//
// 1. Revisions grow; a change has exactly one revision, and events are kept in that order.
// 2. `at(revision)` is the collection as it was right after that revision, for every revision from `oldest` on.
// 3. A reader holds no queue: it holds a revision. A slow one falls behind without costing memory, until it is too old.

import { SortedMap } from './sorted-map.ts';
import type { StoredObject } from './stored-object.ts';

export interface Change {
  revision: number;
  key: string;
  /** What it was; absent when this change created it. */
  previous: StoredObject | undefined;
  /** What it became; for a deletion, its last state with the revision of the deletion. */
  object: StoredObject;
  deleted: boolean;
  /** Encodings of this change, made once for all watchers (see `forgetEncodings`). */
  encodings: Map<string, string> | undefined;
}

/** Encoded events are kept for this many changes back: near the head all watchers want the same text. */
const encodedTail = 2_000;

export class Collection {
  objects = new SortedMap<StoredObject>();
  /** Events up to and including this revision are no longer known. */
  oldest: number;
  private readonly capacity: number;
  private changes: Change[] = [];
  private readonly listeners = new Set<() => void>();
  private past: { revision: number; objects: SortedMap<StoredObject> } | undefined;

  constructor(capacity: number, revision: number) {
    this.capacity = capacity;
    this.oldest = revision;
  }

  record(change: Change): void {
    this.objects = change.deleted ? this.objects.delete(change.key) : this.objects.set(change.key, change.object);
    this.changes.push(change);
    const stale = this.changes[this.changes.length - encodedTail];
    if (stale !== undefined) stale.encodings = undefined;
    // Dropping in one go keeps recording cheap; between the two marks history is longer than promised.
    if (this.changes.length > this.capacity * 2) this.dropOldest(this.changes.length - this.capacity);
    for (const listener of this.listeners) listener();
  }

  /** Forgets history up to `revision`, as the compaction of a real store does. */
  compact(revision: number): void {
    this.dropOldest(this.indexAfter(revision));
    this.oldest = Math.max(this.oldest, revision);
  }

  /** The first change after `revision`. */
  changeAfter(revision: number): Change | undefined {
    return this.changes[this.indexAfter(revision)];
  }

  /** The collection as it was at `revision`, by undoing what came later. The caller checks `oldest`. */
  at(revision: number): SortedMap<StoredObject> {
    const last = this.changes.at(-1);
    if (last === undefined || last.revision <= revision) return this.objects;
    if (this.past?.revision === revision) return this.past.objects;
    let objects = this.objects;
    for (let index = this.changes.length - 1; index >= this.indexAfter(revision); index -= 1) {
      const { key, previous } = this.changes[index] as Change;
      objects = previous === undefined ? objects.delete(key) : objects.set(key, previous);
    }
    // The pages of one long list all ask for the same revision.
    this.past = { revision, objects };
    return objects;
  }

  /** Calls `listener` after every change; it must be quick. */
  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  private dropOldest(count: number): void {
    if (count <= 0) return;
    this.oldest = Math.max(this.oldest, (this.changes[count - 1] as Change).revision);
    this.changes = this.changes.slice(count);
  }

  private indexAfter(revision: number): number {
    let low = 0;
    let high = this.changes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.changes[middle] as Change).revision <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
