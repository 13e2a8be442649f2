// What we ask of a Kubernetes API. Adapters: a real API server over HTTP (src/kube) and the embedded cluster in process
// (src/sim). Both run the same contract suite.
//
// Contract:
// 1. Objects returned carry apiVersion and kind, also inside lists. They belong to the caller's view of the world: never
//    mutate one, build a new one. `managedFields` is dropped on entry.
// 2. Every failure is a KubeError whose `reason` is the API's own (`NotFound`, `Conflict`, `AlreadyExists`, `Expired`, …),
//    or `Transport` when no answer came. `retryable` says whether the same call may succeed later.
// 3. `watch` yields events in the server's order. It ends when the server ends it (its time limit) and throws a KubeError
//    with reason `Expired` when the resource version is gone (410, also as an ERROR event). In quiet times a BOOKMARK
//    comes about every minute: a watch that says nothing for longer has lost its connection.
// 4. `patch` and `replace` with `metadata.resourceVersion` in the body fail with `Conflict` when the object has moved on.
// 5. Every call takes an optional signal; an aborted call rejects with the signal's reason and leaves nothing running.
import type { ObjectMeta, OwnerReference } from '../api/index.ts';
import type { AbortSignalLike } from '../base/index.ts';

export type { ObjectMeta, OwnerReference };

export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
}

/** A served resource. The type parameter only tells the compiler what the objects look like. */
export interface Resource<T extends KubeObject = KubeObject> {
  /** Empty for the core group. */
  group: string;
  version: string;
  plural: string;
  kind: string;
  namespaced: boolean;
  readonly objectType?: T;
}

/** Names one object; `namespace` is required exactly for namespaced resources. */
export interface ObjectRef {
  name: string;
  namespace?: string;
}

export interface CallOptions {
  signal?: AbortSignalLike;
}

export interface ListOptions extends CallOptions {
  /** Absent: all namespaces. */
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  limit?: number;
  continue?: string;
  resourceVersion?: string;
  resourceVersionMatch?: 'Exact' | 'NotOlderThan';
}

export interface KubeList<T> {
  items: T[];
  resourceVersion: string;
  /** Token of the next page; absent on the last. */
  continue?: string;
  remainingItemCount?: number;
}

export interface WatchOptions extends CallOptions {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  resourceVersion?: string;
  /** Streaming list: the current objects come first as ADDED, then a BOOKMARK marked `initialEventsEnd`. */
  sendInitialEvents?: boolean;
  /** The server ends the watch after this long. */
  timeoutSeconds?: number;
}

export type WatchEvent<T> =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: T }
  | { type: 'BOOKMARK'; resourceVersion: string; initialEventsEnd: boolean };

export type Subresource = 'status' | 'scale';

export interface WriteOptions extends CallOptions {
  subresource?: Subresource;
  dryRun?: boolean;
  fieldManager?: string;
}

export type Patch =
  | { type: 'merge'; body: unknown }
  | { type: 'strategic'; body: unknown }
  | { type: 'json'; body: readonly unknown[] }
  /** Server-side apply; needs a field manager. */
  | { type: 'apply'; body: unknown; force?: boolean };

export interface DeleteOptions extends CallOptions {
  gracePeriodSeconds?: number;
  propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  preconditions?: { uid?: string; resourceVersion?: string };
  dryRun?: boolean;
}

export interface Kube {
  get<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, options?: CallOptions): Promise<T>;
  list<T extends KubeObject>(resource: Resource<T>, options?: ListOptions): Promise<KubeList<T>>;
  watch<T extends KubeObject>(resource: Resource<T>, options?: WatchOptions): AsyncIterable<WatchEvent<T>>;
  create<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T>;
  replace<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T>;
  patch<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef, patch: Patch, options?: WriteOptions): Promise<T>;
  /** Resolves once the server accepted the deletion; the object may live on until its finalizers are gone. */
  delete(resource: Resource, ref: ObjectRef, options?: DeleteOptions): Promise<void>;
  /** policy/v1 Eviction. A disruption budget that says no is a KubeError with reason `TooManyRequests`. */
  evict(ref: ObjectRef & { namespace: string }, options?: DeleteOptions): Promise<void>;
  /** Binds a pod to a node, as a scheduler does. */
  bind(ref: ObjectRef & { namespace: string }, node: string, options?: CallOptions): Promise<void>;
}
