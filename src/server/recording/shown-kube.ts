// Objects in memory as an API server shows them, for whoever reads a cluster that is not one: a recording that is played.
// Only what reflectors ask for: lists, and watches that stream. Nothing can be written through it.
import type { SnapshotObject } from '../../core/index.ts';
import type { Kube, KubeObject, Resource, WatchEvent, WatchOptions } from '../../ports/index.ts';
import { KubeError } from '../../ports/index.ts';

export type ShownObject = SnapshotObject & KubeObject;

export class ShownKube {
  private readonly objects = new Map<string, Map<string, ShownObject>>();
  /** As it was given, so that what is the same need not be shown again. */
  private readonly given = new Map<string, SnapshotObject>();
  private readonly watchers = new Map<string, Set<(event: WatchEvent<ShownObject>) => void>>();
  private version = 1;

  set(item: ShownObject): void {
    const known = this.of(item.kind);
    const key = nameOf(item);
    const type = known.has(key) ? 'MODIFIED' : 'ADDED';
    const object = { ...item, metadata: { ...item.metadata, resourceVersion: String(++this.version) } };
    known.set(key, object);
    this.report(item.kind, { type, object });
  }

  delete(item: ShownObject): void {
    this.of(item.kind).delete(nameOf(item));
    const metadata = { ...item.metadata, resourceVersion: String(++this.version) };
    this.report(item.kind, { type: 'DELETED', object: { ...item, metadata } });
  }

  /** From now on these, and no others: what differs from before is reported to whoever watches. */
  show(items: readonly SnapshotObject[]): void {
    const gone = new Map(this.given);
    for (const item of items) {
      const key = `${item.kind} ${nameOf(item)}`;
      gone.delete(key);
      if (this.given.get(key) === item) continue;
      this.given.set(key, item);
      this.set(item);
    }
    for (const [key, item] of gone) {
      this.given.delete(key);
      this.delete(item);
    }
  }

  kube(): Kube {
    const refuse = (): Promise<never> =>
      Promise.reject(new KubeError({ reason: 'Forbidden', status: 403, message: 'read only' }));
    return {
      get: refuse,
      list: async (resource: Resource) => ({
        items: [...this.of(resource.kind).values()] as never[],
        resourceVersion: String(this.version),
      }),
      watch: (resource: Resource, options?: WatchOptions) => this.watch(resource.kind, options) as never,
      create: refuse,
      replace: refuse,
      patch: refuse,
      delete: refuse,
      evict: refuse,
      bind: refuse,
    };
  }

  private async *watch(kind: string, options: WatchOptions = {}): AsyncGenerator<WatchEvent<ShownObject>> {
    const waiting: WatchEvent<ShownObject>[] = [];
    let wake: () => void = () => undefined;
    const listen = (event: WatchEvent<ShownObject>): void => {
      waiting.push(event);
      wake();
    };
    const own = this.watchers.get(kind) ?? new Set();
    this.watchers.set(kind, own);
    own.add(listen);
    options.signal?.addEventListener('abort', () => wake(), { once: true });
    try {
      if (options.sendInitialEvents === true) {
        for (const object of this.of(kind).values()) yield { type: 'ADDED', object };
        yield { type: 'BOOKMARK', resourceVersion: String(this.version), initialEventsEnd: true };
      }
      while (options.signal?.aborted !== true) {
        for (const event of waiting.splice(0)) yield event;
        await new Promise<void>((resolve) => {
          wake = resolve;
          if (waiting.length > 0) resolve();
        });
      }
    } finally {
      own.delete(listen);
    }
  }

  private of(kind: string): Map<string, ShownObject> {
    const known = this.objects.get(kind) ?? new Map<string, ShownObject>();
    this.objects.set(kind, known);
    return known;
  }

  private report(kind: string, event: WatchEvent<ShownObject>): void {
    for (const listen of this.watchers.get(kind) ?? []) listen(event);
  }
}

const nameOf = ({ metadata }: SnapshotObject): string => `${metadata.namespace ?? ''}/${metadata.name}`;
