// Watching: a cursor over a collection's history, seen through a selector. Pulling never blocks; whoever waits registers
// a wake-up. An object that starts to match appears as ADDED, one that ceases to match as DELETED.
import type { Change, Collection } from '../../store/collection.ts';
import type { SortedMap } from '../../store/sorted-map.ts';
import type { Store } from '../../store/store.ts';
import type { StoredObject } from '../../store/stored-object.ts';
import { collectionOf, type ResourceDefinition } from '../definition.ts';
import { forbiddenField } from '../field-error.ts';
import type { Machinery } from '../machinery.ts';
import { expired, invalid } from '../status.ts';
import { parseVersion, type Selection, type Selector, selectorOf } from './list.ts';

export interface WatchCall extends Selection {
  resourceVersion?: string | undefined;
  resourceVersionMatch?: string | undefined;
  sendInitialEvents?: boolean | undefined;
  allowWatchBookmarks?: boolean | undefined;
}

export type ObjectEvent = {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  object: StoredObject;
  /** Where encodings of this event may be shared; absent when it is this watcher's own view. */
  change: Change | undefined;
};

export type Pulled = ObjectEvent | { type: 'INITIAL_EVENTS_END'; revision: number };

const listOptions = { group: 'meta.k8s.io', plural: 'listoptions', kind: 'ListOptions' };

export class Watcher {
  private readonly store: Store;
  private readonly collection: Collection;
  private readonly selector: Selector;
  private cursor: number;
  private initial: Iterator<StoredObject> | undefined;
  private announceEnd: boolean;

  constructor(
    store: Store,
    collection: Collection,
    selector: Selector,
    from: number,
    initial: SortedMap<StoredObject> | undefined,
    announceEnd: boolean,
  ) {
    this.store = store;
    this.collection = collection;
    this.selector = selector;
    this.cursor = from;
    this.initial = initial?.values(selector.prefix);
    this.announceEnd = announceEnd;
  }

  /** The next event, or undefined when there is none yet. Throws Expired when history has moved past this watcher. */
  next(): Pulled | undefined {
    if (this.initial !== undefined) {
      const object = this.nextInitial();
      if (object !== undefined) return { type: 'ADDED', object, change: undefined };
    }
    if (this.announceEnd) {
      this.announceEnd = false;
      return { type: 'INITIAL_EVENTS_END', revision: this.cursor };
    }
    while (true) {
      if (this.cursor < this.collection.oldest) {
        throw expired(`too old resource version: ${this.cursor} (${this.collection.oldest})`);
      }
      const change = this.collection.changeAfter(this.cursor);
      if (change === undefined) return undefined;
      this.cursor = change.revision;
      const event = this.view(change);
      if (event !== undefined) return event;
    }
  }

  /** How far this watcher has seen the world; for bookmarks. Call it only when `next` has nothing. */
  caughtUpTo(): number {
    this.cursor = Math.max(this.cursor, this.store.revision);
    return this.cursor;
  }

  /** Calls `wake` after every change of the collection. */
  listen(wake: () => void): () => void {
    return this.collection.listen(wake);
  }

  private nextInitial(): StoredObject | undefined {
    const { matches } = this.selector;
    while (true) {
      const step = this.initial?.next();
      if (step === undefined || step.done === true) break;
      if (matches === undefined || matches(step.value)) return step.value;
    }
    this.initial = undefined;
    return undefined;
  }

  private view(change: Change): ObjectEvent | undefined {
    const { prefix, matches } = this.selector;
    if (prefix !== '' && !change.key.startsWith(prefix)) return undefined;
    const { previous, object, deleted } = change;
    const matched = previous !== undefined && (matches === undefined || matches(previous));
    if (deleted) return matched ? { type: 'DELETED', object, change } : undefined;
    const matching = matches === undefined || matches(object);
    if (matching) return { type: matched ? 'MODIFIED' : 'ADDED', object, change };
    if (!matched) return undefined;
    const last = { ...previous, metadata: { ...previous.metadata, resourceVersion: object.metadata.resourceVersion } };
    return { type: 'DELETED', object: last, change: undefined };
  }
}

export function watch(machinery: Machinery, definition: ResourceDefinition, call: WatchCall): Watcher {
  const { store } = machinery;
  const selector = selectorOf(definition, call);
  validateInitial(call);
  const collection = store.collection(collectionOf(definition));
  const asked = parseVersion(call.resourceVersion ?? '');
  const wantsInitial = call.sendInitialEvents ?? asked === 0;
  const from = asked === 0 || wantsInitial ? store.revision : asked;
  return new Watcher(
    store,
    collection,
    selector,
    from,
    wantsInitial ? collection.objects : undefined,
    call.sendInitialEvents === true && call.allowWatchBookmarks !== false,
  );
}

function validateInitial(call: WatchCall): void {
  if (call.sendInitialEvents === undefined) {
    if (call.resourceVersionMatch !== undefined) {
      throw invalid(listOptions, '', [
        forbiddenField(
          'resourceVersionMatch',
          'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
        ),
      ]);
    }
    return;
  }
  if (call.resourceVersionMatch !== 'NotOlderThan') {
    throw invalid(listOptions, '', [
      forbiddenField('resourceVersionMatch', 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'),
    ]);
  }
}
