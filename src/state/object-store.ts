// The objects of one kind as last seen, by `namespace/name`. Objects are never copied or changed: a new version
// replaces the old one, and the list handed out is shared until the next change.
import { objectKey } from '../base/index.ts';
import type { KubeObject } from '../ports/index.ts';

/** `namespace/name`, or the name of a cluster-scoped object. */
export function keyOf(object: KubeObject): string {
  const { name = '', namespace } = object.metadata;
  return objectKey(namespace, name);
}

export class ObjectStore<T extends KubeObject> {
  private readonly objects = new Map<string, T>();
  private readonly filed = new Map<string, Set<string>>();
  private readonly fileUnder: (object: T) => string | undefined;
  private listed: readonly T[] | undefined;

  /** With `fileUnder`, objects can also be asked for by that value. */
  constructor(fileUnder: (object: T) => string | undefined = () => undefined) {
    this.fileUnder = fileUnder;
  }

  get size(): number {
    return this.objects.size;
  }

  get(key: string): T | undefined {
    return this.objects.get(key);
  }

  /** Every object, in the order in which they were first seen. The array is shared: never change it. */
  list(): readonly T[] {
    this.listed ??= [...this.objects.values()];
    return this.listed;
  }

  /** The objects filed under a value, in the order in which they came there. */
  filedUnder(value: string): T[] {
    return [...(this.filed.get(value) ?? [])].map((key) => this.objects.get(key) as T);
  }

  /** Returns the version it replaces. */
  set(object: T): T | undefined {
    const key = keyOf(object);
    const previous = this.objects.get(key);
    this.objects.set(key, object);
    this.refile(key, previous, object);
    this.listed = undefined;
    return previous;
  }

  delete(key: string): T | undefined {
    const previous = this.objects.get(key);
    if (previous === undefined) return undefined;
    this.objects.delete(key);
    this.refile(key, previous, undefined);
    this.listed = undefined;
    return previous;
  }

  private refile(key: string, before: T | undefined, after: T | undefined): void {
    const from = before === undefined ? undefined : this.fileUnder(before);
    const to = after === undefined ? undefined : this.fileUnder(after);
    if (from === to) return;
    if (from !== undefined) {
      const keys = this.filed.get(from);
      keys?.delete(key);
      if (keys?.size === 0) this.filed.delete(from);
    }
    if (to === undefined) return;
    const keys = this.filed.get(to);
    if (keys === undefined) this.filed.set(to, new Set([key]));
    else keys.add(key);
  }
}
