// What the workload controllers share: a queue each over common caches, and the waiting for one's own writes to come back
// that keeps a controller from doing the same thing twice.
import { type Clock, isEqual } from '../../base/index.ts';
import { isKubeError, type Kube, type KubeObject, type Pod, type Resource, resources } from '../../ports/index.ts';
import { done, keyOf, type Outcome, type ReadableStore, Reconciler } from '../../runtime/index.ts';
import type { Caches } from '../caches.ts';
import type { Tell } from '../events.ts';

export interface WorkloadContext {
  kube: Kube;
  clock: Clock;
  caches: Caches;
  tell: Tell;
}

export interface WorkloadController {
  name: string;
  /** Subscribes to what wakes it; `add` takes keys. */
  follow(add: (key: string, afterMs?: number) => void): { dispose(): void }[];
  reconcile(key: string): Promise<Outcome>;
}

export interface RunningControllers {
  stop(): Promise<void>;
}

export function runControllers(
  { clock, caches }: WorkloadContext,
  controllers: readonly WorkloadController[],
  onFailure?: (error: unknown) => void,
): RunningControllers {
  const stopping = new AbortController();
  const subscriptions: { dispose(): void }[] = [];
  const reconcilers = controllers.map((controller) => {
    const reconciler = new Reconciler({
      name: controller.name,
      clock,
      workers: 4,
      backoff: { baseMs: 100, maxMs: 10_000 },
      reconcile: (key) => unlessOvertaken(controller.reconcile(key)),
      observer: { onReconciled: ({ error }) => (error === undefined ? undefined : onFailure?.(error)) },
    });
    const add = (key: string, afterMs = 0): void => reconciler.queue.addAfter(key, afterMs);
    subscriptions.push(...controller.follow(add));
    return reconciler;
  });
  // A controller that does not know of a pod yet would make another.
  const running = caches
    .whenSynced()
    .then(() => Promise.all(reconcilers.map((reconciler) => reconciler.run(stopping.signal))));
  return {
    async stop() {
      for (const subscription of subscriptions) subscription.dispose();
      stopping.abort();
      await running;
    },
  };
}

/** The object changed or went in between: look at it as it is now. */
async function unlessOvertaken(work: Promise<Outcome>): Promise<Outcome> {
  try {
    return await work;
  } catch (error) {
    if (isKubeError(error, 'Conflict') || isKubeError(error, 'NotFound')) return { kind: 'again', afterMs: 50 };
    throw error;
  }
}

/** Changes of dependents come in crowds; their owner looks at all of them at once, this much later. */
export const crowdMs = 50;

/** Wakes a controller with the keys of its own objects, and of those that own the dependents given. */
export function ownAndOwned(
  caches: Caches,
  resource: Resource,
  dependents: readonly Resource[],
  add: (key: string, afterMs?: number) => void,
): { dispose(): void }[] {
  const wakeOwner = (object: KubeObject): void => {
    const owner = controllerOf(object);
    if (owner?.kind === resource.kind) add(`${object.metadata.namespace}/${owner.name}`, crowdMs);
  };
  return [
    caches.of(resource).subscribe(({ object }) => add(keyOf(object))),
    ...dependents.map((dependent) =>
      caches.of(dependent).subscribe((change) => {
        wakeOwner(change.object);
        if (change.kind === 'updated') wakeOwner(change.old);
      }),
    ),
  ];
}

export const controllerOf = ({ metadata }: KubeObject) =>
  metadata.ownerReferences?.find(({ controller }) => controller === true);

export function ownerReferenceTo(resource: Resource, owner: KubeObject) {
  const { name = '', uid = '' } = owner.metadata;
  const apiVersion = resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
  return { apiVersion, kind: resource.kind, name, uid, controller: true, blockOwnerDeletion: true };
}

export const podsOf = (caches: Caches, owner: KubeObject): Pod[] => [
  ...caches.of(resources.pods).store.filedUnder('owner', owner.metadata.uid ?? ''),
];

type WithStatus = KubeObject & { status?: object };

/** Writes the status if it differs; fields set to undefined are taken away. */
export async function writeStatus<T extends WithStatus>(
  kube: Kube,
  resource: Resource<T>,
  object: T,
  status: object,
): Promise<void> {
  const before = (object.status ?? {}) as Record<string, unknown>;
  const changed = Object.entries(status).filter(([name, value]) => !isSame(before[name], value));
  if (changed.length === 0) return;
  const { name = '', namespace, uid } = object.metadata;
  const body = {
    metadata: { uid },
    status: Object.fromEntries(changed.map(([field, value]) => [field, value ?? null])),
  };
  const ref = namespace === undefined ? { name } : { name, namespace };
  await kube.patch(resource, ref, { type: 'merge', body }, { subresource: 'status' });
}

/** The API leaves out what is zero or empty. */
const isSame = (before: unknown, after: unknown): boolean => isEqual(before ?? 0, after ?? 0);

/** After this long, a write that never showed up was undone by someone. */
const forgetMs = 30_000;

/** Writes whose effect the caches do not show yet. */
export class Unseen {
  private readonly clock: Clock;
  private readonly byOwner = new Map<string, { isSeen: () => boolean; sinceMs: number }[]>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  created(owner: KubeObject, store: ReadableStore<KubeObject>, key: string): void {
    this.note(owner, () => store.get(key) !== undefined);
  }

  deleted(owner: KubeObject, store: ReadableStore<KubeObject>, object: KubeObject): void {
    this.note(owner, () => {
      const now = store.get(keyOf(object));
      return now?.metadata.uid !== object.metadata.uid || now?.metadata.deletionTimestamp !== undefined;
    });
  }

  /** True when everything written for the owner has come back: it is safe to count. */
  isSettled(owner: KubeObject): boolean {
    const uid = owner.metadata.uid ?? '';
    const left = (this.byOwner.get(uid) ?? []).filter(
      ({ isSeen, sinceMs }) => !isSeen() && this.clock.now() - sinceMs < forgetMs,
    );
    if (left.length === 0) this.byOwner.delete(uid);
    else this.byOwner.set(uid, left);
    return left.length === 0;
  }

  private note(owner: KubeObject, isSeen: () => boolean): void {
    const uid = owner.metadata.uid ?? '';
    const known = this.byOwner.get(uid);
    const entry = { isSeen, sinceMs: this.clock.now() };
    if (known === undefined) this.byOwner.set(uid, [entry]);
    else known.push(entry);
  }
}

/** Look again when the caches may have caught up. */
export const settleSoon: Outcome = { kind: 'again', afterMs: 20 };

/** Looks at the object of a key as soon as everything written for it has come back. */
export function onceSettled<T extends KubeObject>(
  caches: Caches,
  unseen: Unseen,
  resource: Resource<T>,
  look: (object: T) => Promise<Outcome>,
): (key: string) => Promise<Outcome> {
  return async (key) => {
    const object = caches.of(resource).store.get(key);
    if (object === undefined) return done;
    return unseen.isSettled(object) ? look(object) : settleSoon;
  };
}
