// The embedded cluster behind the Kube port, without HTTP: the same verbs as the server's, on the same objects. What it
// hands out is what is stored, frozen; nothing is copied on the way.
import type { AbortSignalLike } from '../base/index.ts';
import {
  type CallOptions,
  type DeleteOptions,
  type Kube,
  type KubeList,
  type KubeObject,
  type ListOptions,
  type ObjectRef,
  type Patch,
  type Resource,
  type WatchEvent,
  type WatchOptions,
  type WriteOptions,
} from '../ports/index.ts';
import type { ResourceDefinition } from './api/definition.ts';
import { get, type Machinery, type WriteCall } from './api/machinery.ts';
import { noSuchResource, notFound } from './api/status.ts';
import { bind } from './api/verbs/bind.ts';
import { create } from './api/verbs/create.ts';
import { remove } from './api/verbs/delete.ts';
import { evict } from './api/verbs/evict.ts';
import { list } from './api/verbs/list.ts';
import { type PatchBody, patch } from './api/verbs/patch.ts';
import { patchScale, updateScale } from './api/verbs/scale.ts';
import { update } from './api/verbs/update.ts';
import { watch } from './api/verbs/watch.ts';
import { type JsonObject, thaw } from './json.ts';
import type { StoredObject } from './store/stored-object.ts';

/** What writers are called in ownership records unless they say otherwise. */
const defaultManager = 'kerf';

/** As real servers: a quiet watch says every minute how far it is. */
const bookmarkMs = 60_000;

export class SimKube implements Kube {
  private readonly machinery: Machinery;

  constructor(machinery: Machinery) {
    this.machinery = machinery;
  }

  async get<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, options?: CallOptions): Promise<T> {
    const definition = this.enter(resource, options);
    return given<T>(get(this.machinery, definition, ref.namespace, ref.name));
  }

  async list<T extends KubeObject>(resource: Resource<T>, options: ListOptions = {}): Promise<KubeList<T>> {
    const definition = this.enter(resource, options);
    const listing = list(this.machinery, definition, options);
    const items = Array.from(listing.objects, (object) => given<T>(object));
    return { items, resourceVersion: String(listing.revision), ...listing.rest() };
  }

  async *watch<T extends KubeObject>(resource: Resource<T>, options: WatchOptions = {}): AsyncGenerator<WatchEvent<T>> {
    const definition = this.enter(resource, options);
    const { clock } = this.machinery;
    const watcher = watch(this.machinery, definition, {
      ...options,
      ...(options.sendInitialEvents !== undefined && { resourceVersionMatch: 'NotOlderThan' }),
    });
    const gate = new Gate();
    let over = false;
    const end = (): void => {
      over = true;
      gate.open();
    };
    const stopListening = watcher.listen(() => gate.open());
    const timer = options.timeoutSeconds === undefined ? undefined : clock.after(options.timeoutSeconds * 1000, end);
    let bookmarkDue = false;
    const dueBookmark = (): void => {
      bookmarkDue = true;
      gate.open();
    };
    let bookmarkTimer = clock.after(bookmarkMs, dueBookmark);
    const onAbort = (): void => gate.open();
    options.signal?.addEventListener('abort', onAbort, { once: true });
    try {
      while (true) {
        throwIfAborted(options.signal);
        gate.close();
        for (let event = watcher.next(); event !== undefined; event = watcher.next()) {
          if (event.type === 'INITIAL_EVENTS_END') {
            yield { type: 'BOOKMARK', resourceVersion: String(event.revision), initialEventsEnd: true };
          } else yield { type: event.type, object: given<T>(event.object) };
          throwIfAborted(options.signal);
        }
        if (over || bookmarkDue) {
          yield { type: 'BOOKMARK', resourceVersion: String(watcher.caughtUpTo()), initialEventsEnd: false };
          if (over) return;
          bookmarkDue = false;
          bookmarkTimer = clock.after(bookmarkMs, dueBookmark);
          continue;
        }
        await gate.opened;
      }
    } finally {
      stopListening();
      timer?.dispose();
      bookmarkTimer.dispose();
      options.signal?.removeEventListener('abort', onAbort);
    }
  }

  async create<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T> {
    const definition = this.enter(resource, options);
    const namespace = definition.namespaced ? object.metadata.namespace : undefined;
    return given<T>(create(this.machinery, definition, namespace, thaw(object), callOf(options)));
  }

  async replace<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T> {
    const definition = this.enter(resource, options);
    const { namespace, name = '' } = object.metadata;
    if (options?.subresource === 'scale') {
      return updateScale(this.machinery, definition, namespace, name, thaw(object), callOf(options)) as unknown as T;
    }
    const target = { definition, namespace, name, subresource: options?.subresource };
    return given<T>(update(this.machinery, target, thaw(object), callOf(options)).object);
  }

  async patch<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    change: Patch,
    options?: WriteOptions,
  ): Promise<T> {
    const definition = this.enter(resource, options);
    const { namespace, name } = ref;
    const body: PatchBody = {
      ...change,
      body: thaw(change.body),
      ...(change.type === 'apply' && { force: change.force }),
    };
    if (options?.subresource === 'scale') {
      return patchScale(this.machinery, definition, namespace, name, body, callOf(options)) as unknown as T;
    }
    const target = { definition, namespace, name, subresource: options?.subresource };
    return given<T>(patch(this.machinery, target, body, callOf(options)).object);
  }

  async delete(resource: Resource, ref: ObjectRef, options: DeleteOptions = {}): Promise<void> {
    const definition = this.enter(resource, options);
    remove(this.machinery, definition, ref.namespace, ref.name, options);
  }

  async evict(ref: ObjectRef & { namespace: string }, options: DeleteOptions = {}): Promise<void> {
    evict(this.machinery, this.pods(options), ref.namespace, ref.name, options);
  }

  async bind(ref: ObjectRef & { namespace: string }, node: string, options?: CallOptions): Promise<void> {
    bind(this.machinery, this.pods(options), ref.namespace, ref.name, { target: { kind: 'Node', name: node } }, false);
  }

  private pods(options: CallOptions | undefined): ResourceDefinition {
    return this.enter({ group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true }, options);
  }

  private enter(resource: Resource, options: (CallOptions & { subresource?: string }) | undefined): ResourceDefinition {
    throwIfAborted(options?.signal);
    const definition = this.machinery.registry.find(resource.group, resource.version, resource.plural);
    if (definition === undefined) throw noSuchResource(resource);
    const sub = options?.subresource;
    if (sub !== undefined && !definition.subresources.some((known) => known === sub)) throw notFound(definition, sub);
    return definition;
  }
}

function throwIfAborted(signal: AbortSignalLike | undefined): void {
  if (signal?.aborted === true) throw signal.reason;
}

/** Ownership records are the server's business; callers never see them. */
function given<T>(object: StoredObject): T {
  if (!('managedFields' in object.metadata)) return object as unknown as T;
  const { managedFields: _owners, ...metadata } = object.metadata as unknown as JsonObject;
  return { ...object, metadata } as unknown as T;
}

const callOf = (options: WriteOptions | undefined): WriteCall => ({
  dryRun: options?.dryRun === true,
  ...(options?.fieldManager !== undefined && { fieldManager: options.fieldManager }),
  agent: defaultManager,
  fieldValidation: 'Ignore',
});

/** A promise that can be awaited again and again. */
class Gate {
  opened: Promise<void> = Promise.resolve();
  private resolve: (() => void) | undefined;

  close(): void {
    if (this.resolve !== undefined) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.opened = promise;
    this.resolve = resolve;
  }

  open(): void {
    this.resolve?.();
    this.resolve = undefined;
  }
}
