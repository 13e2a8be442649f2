// A Kube for tests of this room: lists and watches come from functions the test gives; everything else is refused.
import type { Kube, KubeList, ListOptions, Pod, WatchEvent, WatchOptions } from '../ports/index.ts';

/** A watch the test feeds by hand. */
export class FedWatch {
  readonly options: WatchOptions;
  private readonly queue: (WatchEvent<Pod> | { fail: unknown } | { end: true })[] = [];
  private wake: () => void = () => {};

  constructor(options: WatchOptions) {
    this.options = options;
    options.signal?.addEventListener('abort', () => this.fail(options.signal?.reason));
  }

  send(...events: WatchEvent<Pod>[]): void {
    this.queue.push(...events);
    this.wake();
  }

  fail(error: unknown): void {
    this.queue.push({ fail: error });
    this.wake();
  }

  end(): void {
    this.queue.push({ end: true });
    this.wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchEvent<Pod>, void> {
    for (;;) {
      const next = this.queue.shift();
      if (next === undefined) {
        await new Promise<void>((resolve) => {
          this.wake = resolve;
        });
      } else if ('fail' in next) throw next.fail;
      else if ('end' in next) return;
      else yield next;
    }
  }
}

export class ScriptedKube {
  readonly lists: ListOptions[] = [];
  readonly watches: FedWatch[] = [];
  onList: (options: ListOptions) => KubeList<Pod> = () => ({ items: [], resourceVersion: '1' });
  /** May throw to refuse the watch. */
  onWatch: (watch: FedWatch) => void = () => {};

  asKube(): Kube {
    const refused = (): never => {
      throw new Error('not part of this test');
    };
    const kube = {
      get: refused,
      create: refused,
      replace: refused,
      patch: refused,
      delete: refused,
      evict: refused,
      bind: refused,
      list: async (_resource: unknown, options: ListOptions = {}) => {
        this.lists.push(options);
        return this.onList(options);
      },
      watch: (_resource: unknown, options: WatchOptions = {}) => this.watch(options),
    };
    return kube as unknown as Kube;
  }

  get lastWatch(): FedWatch {
    return this.watches.at(-1) as FedWatch;
  }

  private async *watch(options: WatchOptions): AsyncGenerator<WatchEvent<Pod>, void> {
    const watch = new FedWatch(options);
    this.watches.push(watch);
    this.onWatch(watch);
    yield* watch;
  }
}

export function podAt(name: string, version: number, uid = `uid-${name}`): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', uid, resourceVersion: String(version) },
  };
}
