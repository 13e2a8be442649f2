// The API as one replica sees it. Watches fall silent without ending, listings come empty or cut short, histories expire,
// answers are late or lost; the true cluster goes on meanwhile. Writes always reach the true cluster, or fail openly.
import type { AbortSignalLike, Clock } from '../../../src/base/index.ts';
import {
  type Kube,
  KubeError,
  type KubeList,
  type KubeObject,
  type ListOptions,
  type Resource,
  type WatchEvent,
  type WatchOptions,
} from '../../../src/ports/index.ts';

/** What listings of a resource say instead of the truth. */
export type Lie = 'empty' | 'truncated';

export class LyingKube {
  /** Plurals whose watches say nothing; `*` for all. */
  readonly frozen = new Set<string>();
  readonly lies = new Map<string, Lie>();
  /** Out of reach: every call fails as if no one listened. */
  isCutOff = false;
  /** Requests that arrived, refused ones included. */
  requests = 0;
  /** Hears the API server's time with every answer. */
  onServerTime: (serverMs: number) => void = () => {};
  private readonly clock: Clock;
  private waiting: (() => void)[] = [];
  private cutting = new AbortController();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  thaw(): void {
    this.frozen.clear();
    for (const wake of this.waiting.splice(0)) wake();
  }

  /** Every watch ends with an error: 410 makes its reflector list again. */
  endWatches(reason: 'Expired' | 'Transport'): void {
    const status = reason === 'Expired' ? 410 : 0;
    this.cutting.abort(new KubeError({ status, reason, message: 'the watch was ended by the campaign' }));
    this.cutting = new AbortController();
    for (const wake of this.waiting.splice(0)) wake();
  }

  kube(world: Kube): Kube {
    const call = async <T>(carryOut: () => Promise<T>): Promise<T> => {
      this.requests += 1;
      if (this.isCutOff) {
        await this.clock.sleep(10);
        throw new KubeError({ status: 0, reason: 'Transport', message: 'connection refused' });
      }
      this.onServerTime(this.clock.now());
      return carryOut();
    };
    return {
      get: (resource, ref, options) => call(() => world.get(resource, ref, options)),
      list: (resource, options) => call(() => this.list(world, resource, options)),
      watch: <T extends KubeObject>(resource: Resource<T>, options: WatchOptions = {}) =>
        this.watch(world, resource, options),
      create: (resource, object, options) => call(() => world.create(resource, object, options)),
      replace: (resource, object, options) => call(() => world.replace(resource, object, options)),
      patch: (resource, ref, patch, options) => call(() => world.patch(resource, ref, patch, options)),
      delete: (resource, ref, options) => call(() => world.delete(resource, ref, options)),
      evict: (ref, options) => call(() => world.evict(ref, options)),
      bind: (ref, node, options) => call(() => world.bind(ref, node, options)),
    };
  }

  private async list<T extends KubeObject>(
    world: Kube,
    resource: Resource<T>,
    options: ListOptions | undefined,
  ): Promise<KubeList<T>> {
    const list = await world.list(resource, options);
    const lie = this.lies.get(resource.plural);
    if (lie === undefined) return list;
    return { items: lie === 'empty' ? [] : list.items.slice(0, 1), resourceVersion: list.resourceVersion };
  }

  private async *watch<T extends KubeObject>(
    world: Kube,
    resource: Resource<T>,
    options: WatchOptions,
  ): AsyncGenerator<WatchEvent<T>> {
    this.requests += 1;
    if (this.isCutOff) {
      await this.clock.sleep(10);
      throw new KubeError({ status: 0, reason: 'Transport', message: 'connection refused' });
    }
    const cut = this.cutting.signal;
    const signal = options.signal === undefined ? cut : AbortSignal.any([options.signal as AbortSignal, cut]);
    let shown = 0;
    let isListing = options.sendInitialEvents === true;
    for await (const event of world.watch(resource, { ...options, signal })) {
      while (this.isFrozen(resource.plural)) await this.woken(signal);
      if (isListing && event.type === 'BOOKMARK') isListing = !event.initialEventsEnd;
      const lie = isListing ? this.lies.get(resource.plural) : undefined;
      if (lie !== undefined && (lie === 'empty' || ++shown > 1)) continue;
      yield event;
    }
  }

  private isFrozen(plural: string): boolean {
    return this.frozen.has(plural) || this.frozen.has('*');
  }

  /** Resolves when something may have changed; rejects when the watch is given up. */
  private woken(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const wake = (): void => {
        (signal as AbortSignalLike).removeEventListener('abort', wake);
        if (signal.aborted) reject(signal.reason as Error);
        else resolve();
      };
      if (signal.aborted) return wake();
      signal.addEventListener('abort', wake, { once: true });
      this.waiting.push(wake);
    });
  }
}
