// Workers that take keys from a queue and bring the object behind each one closer to what it should be. What an outcome
// means (again when, counted as what) is decided in one place here, not in each controller.
import { type Clock, KerfError } from '../base/index.ts';
import type { BackoffLimits } from './backoff.ts';
import { WorkQueue } from './work-queue.ts';

export type Outcome =
  /** Nothing more to do until something changes. */
  | { kind: 'done' }
  /** Look again after this long, whatever happens. */
  | { kind: 'again'; afterMs: number }
  /** Not yet possible, for an expected reason: try again with growing waits. */
  | { kind: 'retry' };

export const done: Outcome = { kind: 'done' };

export interface ReconcilerOptions {
  /** As in logs and metrics: `nodeclaim.lifecycle`. */
  name: string;
  clock: Clock;
  workers: number;
  /** A throw is a failure: tried again with growing waits, unless it is a KerfError that says that this cannot help. */
  reconcile: (key: string, signal: AbortSignal) => Promise<Outcome>;
  backoff?: BackoffLimits;
  observer?: ReconcilerObserver;
}

/** What happened to one key. `retryInMs` is absent when nothing is scheduled. */
export interface Reconciled {
  key: string;
  result: 'success' | 'requeue_after' | 'requeue' | 'error' | 'terminal_error';
  error?: unknown;
  retryInMs?: number;
  waitedMs: number;
  tookMs: number;
}

export interface ReconcilerObserver {
  onReconciled(facts: Reconciled, by: Reconciler): void;
}

export class Reconciler {
  readonly name: string;
  readonly queue: WorkQueue;
  private readonly options: ReconcilerOptions;
  /** When each key under way was begun. */
  private readonly begun = new Map<string, number>();

  constructor(options: ReconcilerOptions) {
    const { clock, backoff } = options;
    this.name = options.name;
    this.options = options;
    this.queue = new WorkQueue({ clock, ...(backoff === undefined ? {} : { backoff }) });
  }

  get activeWorkers(): number {
    return this.begun.size;
  }

  get workers(): number {
    return this.options.workers;
  }

  /** How long each key under way has been worked on. */
  underWayMs(): number[] {
    const nowMs = this.options.clock.elapsed();
    return [...this.begun.values()].map((startedMs) => nowMs - startedMs);
  }

  /** Works until `signal` is aborted and every key under way has been finished. Runs once. */
  async run(signal: AbortSignal): Promise<void> {
    const close = (): void => this.queue.close();
    if (signal.aborted) close();
    signal.addEventListener('abort', close, { once: true });
    await Promise.all(Array.from({ length: this.options.workers }, () => this.work(signal)));
    signal.removeEventListener('abort', close);
  }

  private async work(signal: AbortSignal): Promise<void> {
    for (let taken = await this.queue.take(); taken !== undefined; taken = await this.queue.take()) {
      const { key, waitedMs } = taken;
      const startedMs = this.options.clock.elapsed();
      this.begun.set(key, startedMs);
      const outcome = await this.outcomeOf(key, signal);
      this.begun.delete(key);
      const facts = { ...this.settle(key, outcome), waitedMs, tookMs: this.options.clock.elapsed() - startedMs };
      this.queue.done(key);
      this.options.observer?.onReconciled(facts, this);
      // Many reconciles wait for nothing: ten thousand of them would be one turn of the event loop.
      const turn = this.options.clock.breathe?.();
      if (turn !== undefined) await turn;
    }
  }

  private async outcomeOf(key: string, signal: AbortSignal): Promise<Outcome | { kind: 'failed'; error: unknown }> {
    try {
      return await this.options.reconcile(key, signal);
    } catch (error) {
      return { kind: 'failed', error };
    }
  }

  /** The one place that says what an outcome means. */
  private settle(
    key: string,
    outcome: Outcome | { kind: 'failed'; error: unknown },
  ): Omit<Reconciled, 'waitedMs' | 'tookMs'> {
    switch (outcome.kind) {
      case 'done':
        this.queue.forget(key);
        return { key, result: 'success' };
      case 'again':
        this.queue.forget(key);
        this.queue.addAfter(key, outcome.afterMs);
        return { key, result: 'requeue_after', retryInMs: outcome.afterMs };
      case 'retry':
        return { key, result: 'requeue', retryInMs: this.queue.retry(key) };
      case 'failed': {
        const { error } = outcome;
        if (isHopeless(error)) {
          this.queue.forget(key);
          return { key, result: 'terminal_error', error };
        }
        return { key, result: 'error', error, retryInMs: this.queue.retry(key) };
      }
    }
  }
}

/** Trying again without a change gives the same. */
function isHopeless(error: unknown): boolean {
  return error instanceof KerfError && error.isFinal;
}
