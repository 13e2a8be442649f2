// Keeps a store equal to what the API says about one resource: lists, then follows changes, and recovers from everything
// in between. Written over the Kube port and a Clock, so the real API server and the embedded cluster share it.
//
// Promises:
// 1. The store only ever holds states the server had, and moves forward: an event at or before what was already seen is
//    dropped. After the last fault it converges to the server's state.
// 2. A new listing replaces the store in one step; handlers then hear exactly what changed.
// 3. Handlers hear each object's changes in order, with the old and the new object, after the store has them. A handler
//    that throws harms neither the others nor the store.
// 4. `isSynced` turns true when the first complete listing is in the store and its handlers have run; never false again.
// 5. Failures are retried for ever, ever more rarely, until the signal given to `run` is aborted.
import { type Clock, isAtOrBefore, messageOf } from '../base/index.ts';
import { isKubeError, type Kube, KubeError, type KubeObject, type Resource, type WatchEvent } from '../ports/index.ts';
import { JitterBackoff } from './backoff.ts';
import { type Change, type Indexer, keyOf, ObjectStore, type ReadableStore } from './object-store.ts';
import type { Slimming } from './slimming.ts';
import { type Staging, stage } from './streaming-list.ts';
import { Watchdog } from './watchdog.ts';

export interface ReflectorOptions<T extends KubeObject> {
  kube: Kube;
  clock: Clock;
  resource: Resource<T>;
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  /** Slims an object before it is kept; must not change its name, namespace, uid or resource version. */
  transform?: Slimming<T>;
  indexers?: Readonly<Record<string, Indexer<T>>>;
  /** False: never ask for a streaming list. Default: ask, and list in pages where the server refuses. */
  streaming?: boolean;
  /** True: a resource the server does not (or no longer) serve counts as one without objects, not as a failure to sync. */
  optional?: boolean;
  /** True: so does a resource that we may not read. */
  dispensable?: boolean;
  /** Objects per page of a list. */
  pageSize?: number;
  random?: () => number;
  /** Receives every failure and how long until the next try. */
  onFailure?: (error: unknown, retryInMs: number) => void;
}

export interface ReflectorCounters {
  lists: number;
  watches: number;
  events: number;
  bookmarks: number;
  /** Events dropped because something at least as new was already seen. */
  stale: number;
  /** Times the server no longer had our resource version. */
  expired: number;
  failures: number;
  handlerFailures: number;
}

/** As client-go: a page this size is answered quickly, and small clusters need one. */
const defaultPageSize = 500;
/** The server ends a watch after five to ten minutes, spread so that not all come back at once. */
const watchSeconds = { least: 300, most: 600 };
/** Servers send a bookmark every minute; two and a half without a word means that the connection is dead. */
const quietLimitMs = 150_000;
/** A watch that lived this long was healthy: the next failure starts with short waits again. */
const healthyMs = 30_000;
/** A watch the server ends sooner than this would make a storm of requests if it were reopened at once. */
const shortestWatchMs = 1_000;
/** Streaming lists that end early before we give up on them. */
const mostStreamingFailures = 2;
const backoffLimits = { baseMs: 200, maxMs: 30_000 };
/** A server, or what is before it, may ask for patience, but not for a cache that is hours old. */
const longestAskedMs = 60_000;
/** Handlers get this many changes at a time, so that a first listing does not hold up timers and probes. */
const changesPerTurn = 2_000;
/** Events taken before others get their turn: one at a time, a cache beside busy controllers would fall ever further behind. */
const eventsPerBreath = 64;

export class Reflector<T extends KubeObject> {
  readonly counters: ReflectorCounters = {
    lists: 0,
    watches: 0,
    events: 0,
    bookmarks: 0,
    stale: 0,
    expired: 0,
    failures: 0,
    handlerFailures: 0,
  };
  /** What went wrong last, and when; undefined while all is well. */
  lastFailure: { message: string; atMs: number } | undefined;
  private readonly options: ReflectorOptions<T>;
  private readonly objects: ObjectStore<T>;
  private readonly backoff: JitterBackoff;
  private readonly handlers = new Set<(change: Change<T>) => void>();
  private readonly syncWaiters: (() => void)[] = [];
  private synced = false;
  /** When the server last said anything, by elapsed time. */
  private heardMs: number;
  /** Where to resume; undefined when only a new listing helps. */
  private version: string | undefined;
  /** The last watch ended by a failure, and no one has asked since where the server's history is. */
  private wasInterrupted = false;
  /** The last watch said nothing at all: another one may not either, and only a listing shows what changed. */
  private wasMute = false;
  private streaming: boolean;
  private streamingFailures = 0;

  constructor(options: ReflectorOptions<T>) {
    this.options = options;
    this.objects = new ObjectStore(options.indexers);
    this.backoff = new JitterBackoff(backoffLimits, options.random ?? Math.random);
    this.streaming = options.streaming ?? true;
    this.heardMs = options.clock.elapsed();
  }

  /** The resource, as the API names it. */
  get name(): string {
    return this.options.resource.plural;
  }

  get store(): ReadableStore<T> {
    return this.objects;
  }

  get isSynced(): boolean {
    return this.synced;
  }

  /** For how long the server has said nothing, not even that nothing changed: the store may be that much behind. */
  get silentMs(): number {
    return this.options.clock.elapsed() - this.heardMs;
  }

  whenSynced(): Promise<void> {
    return this.synced ? Promise.resolve() : new Promise((resolve) => this.syncWaiters.push(resolve));
  }

  /** `handler` first hears of the objects already there, then of every change. */
  subscribe(handler: (change: Change<T>) => void): { dispose(): void } {
    for (const object of this.objects.values()) this.tell(handler, { kind: 'added', object });
    this.handlers.add(handler);
    return { dispose: () => void this.handlers.delete(handler) };
  }

  /** Follows the server until `signal` is aborted; then resolves. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.options;
    while (!signal.aborted) {
      const startedMs = clock.elapsed();
      let waitMs = 0;
      try {
        await this.session(signal);
        if (clock.elapsed() - startedMs < shortestWatchMs) waitMs = this.backoff.nextMs();
        else this.backoff.reset();
      } catch (thrown) {
        if (signal.aborted) return;
        // A connection that is cut after it worked says nothing about the server: proxies do it to every watch.
        const healthyAfterMs = isKubeError(thrown, 'Transport') ? shortestWatchMs : healthyMs;
        if (clock.elapsed() - startedMs >= healthyAfterMs) this.backoff.reset();
        waitMs = this.afterFailure(thrown);
        // Asked for again all the same: someone may install it any time.
        if (this.isAbsence(thrown)) await this.empty();
      }
      try {
        if (waitMs > 0) await clock.sleep(waitMs, signal);
      } catch {
        return;
      }
    }
  }

  private isAbsence(thrown: unknown): boolean {
    if (!(thrown instanceof KubeError)) return false;
    const { optional = false, dispensable = false } = this.options;
    return ((optional || dispensable) && thrown.status === 404) || (dispensable && thrown.status === 403);
  }

  private async empty(): Promise<void> {
    const failure = this.lastFailure;
    await this.replace(new Map(), undefined);
    this.lastFailure = failure;
  }

  /** Notes a failure and says how long to wait before the next session. */
  private afterFailure(thrown: unknown): number {
    const { clock, onFailure } = this.options;
    this.counters.failures++;
    this.lastFailure = { message: messageOf(thrown), atMs: clock.now() };
    if (isKubeError(thrown, 'Expired')) {
      this.counters.expired++;
      this.version = undefined;
    } else this.wasInterrupted = true;
    const asked = thrown instanceof KubeError ? Math.min(longestAskedMs, (thrown.retryAfterSeconds ?? 0) * 1000) : 0;
    const waitMs = Math.max(asked, this.backoff.nextMs());
    onFailure?.(thrown, waitMs);
    return waitMs;
  }

  /** A listing if one is needed, then one watch to its end. */
  private async session(signal: AbortSignal): Promise<void> {
    if (this.wasInterrupted && this.version !== undefined) await this.compareHistory(signal, this.version);
    if (this.version !== undefined && !this.wasMute) return this.watch(signal, undefined);
    if (this.streaming && !this.wasMute) {
      const staging: Staging<T> = { objects: new Map(), deletedAt: new Map() };
      try {
        await this.watch(signal, staging);
        if (this.version !== undefined) return;
        throw new KubeError({
          status: 0,
          reason: 'Transport',
          message: 'the streaming list ended before its end mark',
        });
      } catch (thrown) {
        if (signal.aborted || this.version !== undefined) throw thrown;
        const isRefused = thrown instanceof KubeError && (thrown.status === 400 || thrown.status === 422);
        if (isRefused || ++this.streamingFailures >= mostStreamingFailures) this.streaming = false;
        if (!isRefused) throw thrown;
      }
    }
    await this.listPages(signal);
    await this.watch(signal, undefined);
  }

  /**
   * After a connection was lost the server may be one that was restored from a backup. If its history ends before ours it
   * knows nothing of what we saw last; once it has grown past that, a watch could no longer tell.
   */
  private async compareHistory(signal: AbortSignal, version: string): Promise<void> {
    const { kube, resource } = this.options;
    const { resourceVersion } = await kube.list(resource, { ...this.selection(), limit: 1, signal });
    this.wasInterrupted = false;
    if (resourceVersion === version || !isAtOrBefore(resourceVersion, version)) return;
    this.counters.expired++;
    this.version = undefined;
  }

  private async listPages(signal: AbortSignal): Promise<void> {
    const { pageSize = defaultPageSize } = this.options;
    this.counters.lists++;
    const { objects, version } = await this.collect(signal, pageSize).catch((thrown: unknown) => {
      // Listing took longer than the server keeps its pages: ask for everything at once instead.
      if (isKubeError(thrown, 'Expired')) return this.collect(signal, undefined);
      throw thrown;
    });
    this.wasMute = false;
    await this.replace(objects, version);
  }

  private async collect(
    signal: AbortSignal,
    limit: number | undefined,
  ): Promise<{ objects: Map<string, T>; version: string }> {
    const { kube, resource } = this.options;
    const objects = new Map<string, T>();
    const asked = { ...this.selection(), signal, ...(limit === undefined ? {} : { limit }) };
    let page = await kube.list(resource, asked);
    for (;;) {
      for (const item of page.items) {
        const key = keyOf(item);
        objects.set(key, this.slimmed(item, key));
      }
      if (page.continue === undefined) return { objects, version: page.resourceVersion };
      page = await kube.list(resource, { ...asked, continue: page.continue });
    }
  }

  private async watch(signal: AbortSignal, staging: Staging<T> | undefined): Promise<void> {
    const { kube, clock, resource, random = Math.random } = this.options;
    this.counters.watches++;
    if (staging !== undefined) this.counters.lists++;
    let heard = 0;
    const stop = new AbortController();
    const forward = (): void => stop.abort(signal.reason);
    signal.addEventListener('abort', forward, { once: true });
    const watchdog = new Watchdog(clock, quietLimitMs, () => {
      this.wasMute = heard === 0;
      const message = `no event or bookmark of ${resource.plural} for ${quietLimitMs / 1000} s`;
      stop.abort(new KubeError({ status: 0, reason: 'Transport', message, call: `watch ${resource.plural}` }));
    });
    try {
      const events = kube.watch(resource, {
        ...this.selection(),
        signal: stop.signal,
        timeoutSeconds: Math.round(watchSeconds.least + random() * (watchSeconds.most - watchSeconds.least)),
        ...(staging === undefined ? { resourceVersion: this.version ?? '' } : { sendInitialEvents: true }),
      });
      let filling = staging;
      let from = this.version;
      for await (const event of events) {
        watchdog.heard();
        this.heardMs = clock.elapsed();
        if (this.lastFailure !== undefined) this.lastFailure = undefined;
        if (filling === undefined) this.apply(event, from);
        else if (stage(filling, event, (object, key) => this.slimmed(object, key), this.counters)) {
          await this.replace(filling.objects, (event as { resourceVersion: string }).resourceVersion);
          filling = undefined;
          from = this.version;
        }
        const turn = ++heard % eventsPerBreath === 0 ? clock.breathe?.() : undefined;
        if (turn !== undefined) await turn;
        // A loop over a buffered stream would not notice that it should end.
        if (stop.signal.aborted) throw stop.signal.reason;
      }
    } finally {
      watchdog.dispose();
      signal.removeEventListener('abort', forward);
      stop.abort();
    }
  }

  /** Takes one event of a watch that was asked to start after `from`. */
  private apply(event: WatchEvent<T>, from: string | undefined): void {
    this.counters.events++;
    const version = event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion;
    // From before the start of the watch: the server's own history was set back, by a restored backup for example.
    if (version !== from && isAtOrBefore(version, from)) {
      const message = `version ${version} came after ${from}: the server's history was set back`;
      throw new KubeError({ status: 410, reason: 'Expired', message, call: `watch ${this.name}` });
    }
    if (event.type === 'BOOKMARK') {
      this.counters.bookmarks++;
      if (!isAtOrBefore(event.resourceVersion, this.version)) this.version = event.resourceVersion;
      return;
    }
    const { resourceVersion } = event.object.metadata;
    if (isAtOrBefore(resourceVersion, this.version)) {
      this.counters.stale++;
      return;
    }
    this.version = resourceVersion;
    const key = keyOf(event.object);
    const object = this.slimmed(event.object, key);
    const change = event.type === 'DELETED' ? this.objects.remove(key, object) : this.objects.put(key, object);
    if (change === undefined) return;
    for (const handler of this.handlers) this.tell(handler, change);
  }

  private async replace(next: Map<string, T>, version: string | undefined): Promise<void> {
    const changes = this.objects.replaceAll(next);
    // Whoever subscribes while this goes on is shown the new objects then, and must not hear of them again.
    const listening = [...this.handlers];
    this.version = version;
    this.heardMs = this.options.clock.elapsed();
    this.streamingFailures = 0;
    this.lastFailure = undefined;
    for (let start = 0; start < changes.length; start += changesPerTurn) {
      if (start > 0) await this.options.clock.sleep(0);
      const heard = listening.filter((handler) => this.handlers.has(handler));
      for (const change of changes.slice(start, start + changesPerTurn)) {
        for (const handler of heard) this.tell(handler, change);
      }
    }
    this.synced = true;
    for (const resolve of this.syncWaiters.splice(0)) resolve();
  }

  private tell(handler: (change: Change<T>) => void, change: Change<T>): void {
    try {
      handler(change);
    } catch (thrown) {
      this.counters.handlerFailures++;
      this.options.onFailure?.(thrown, 0);
    }
  }

  private slimmed(object: T, key: string): T {
    return this.options.transform === undefined ? object : this.options.transform(object, this.objects.get(key));
  }

  private selection(): { namespace?: string; labelSelector?: string; fieldSelector?: string } {
    const { namespace, labelSelector, fieldSelector } = this.options;
    return {
      ...(namespace === undefined ? {} : { namespace }),
      ...(labelSelector === undefined ? {} : { labelSelector }),
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
    };
  }
}
