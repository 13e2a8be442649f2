// Keys to be worked on, each at most once at a time. The queue carries names, never events: whoever takes a key looks at
// the world as it is, so repeats and missed events cost nothing.
//
// Promises:
// 1. A key that is waiting is not queued twice; a key added while it is being worked on comes again afterwards.
// 2. The same key is never given to two workers at once.
// 3. Ready keys come out in the order in which they became ready.
// 4. Of several delayed additions of a key the earliest counts; adding it at once makes the delayed ones void.
import type { Clock, Timer } from '../base/index.ts';
import { type BackoffLimits, KeyedBackoff } from './backoff.ts';

export interface WorkQueueOptions {
  clock: Clock;
  /** Waits after failures, per key. */
  backoff?: BackoffLimits;
}

/** controller-runtime's waits start at 5 ms, too eager for calls over a network; its longest is 1000 s. */
const defaultBackoff: BackoffLimits = { baseMs: 100, maxMs: 300_000 };

export class WorkQueue {
  private readonly clock: Clock;
  private readonly backoff: KeyedBackoff;
  /** Waiting for a worker, with when they became ready; a Map keeps them in order. */
  private readonly ready = new Map<string, number>();
  private readonly working = new Set<string>();
  /** Added while being worked on. */
  private readonly again = new Set<string>();
  private readonly delayed = new Map<string, { dueMs: number; timer: Timer }>();
  private readonly takers: (() => void)[] = [];
  private isClosed = false;
  private added = 0;

  constructor({ clock, backoff = defaultBackoff }: WorkQueueOptions) {
    this.clock = clock;
    this.backoff = new KeyedBackoff(backoff);
  }

  /** Keys ready and waiting for a worker. */
  get depth(): number {
    return this.ready.size;
  }

  /** Keys put in since the beginning, repeats left out. */
  get adds(): number {
    return this.added;
  }

  /** Keys waiting for their time. */
  get delayedCount(): number {
    return this.delayed.size;
  }

  add(key: string): void {
    if (this.isClosed) return;
    this.undelay(key);
    if (this.working.has(key)) this.again.add(key);
    else if (!this.ready.has(key)) {
      this.added++;
      this.ready.set(key, this.clock.elapsed());
      this.takers.shift()?.();
    }
  }

  addAfter(key: string, delayMs: number): void {
    if (delayMs <= 0) {
      this.add(key);
      return;
    }
    const dueMs = this.clock.elapsed() + delayMs;
    const waiting = this.delayed.get(key);
    if (this.isClosed || this.ready.has(key) || this.again.has(key) || (waiting && waiting.dueMs <= dueMs)) return;
    this.undelay(key);
    const timer = this.clock.after(delayMs, () => {
      this.delayed.delete(key);
      this.add(key);
    });
    this.delayed.set(key, { dueMs, timer });
  }

  /** Adds a key that failed, later each time; returns how much later. */
  retry(key: string): number {
    const delayMs = this.backoff.nextMs(key);
    this.addAfter(key, delayMs);
    return delayMs;
  }

  /** The key succeeded: its next failure is the first again. */
  forget(key: string): void {
    this.backoff.forget(key);
  }

  failuresOf(key: string): number {
    return this.backoff.failuresOf(key);
  }

  /** The next key, with how long it waited; undefined once the queue is closed. `done` must follow. */
  async take(): Promise<{ key: string; waitedMs: number } | undefined> {
    while (!this.isClosed) {
      const [next] = this.ready;
      if (next !== undefined) {
        const [key, readyAtMs] = next;
        this.ready.delete(key);
        this.working.add(key);
        return { key, waitedMs: this.clock.elapsed() - readyAtMs };
      }
      await new Promise<void>((resolve) => this.takers.push(resolve));
    }
    return undefined;
  }

  done(key: string): void {
    this.working.delete(key);
    if (this.again.delete(key)) this.add(key);
  }

  /** Gives nothing out any more; keys waiting are dropped, timers disposed. */
  close(): void {
    this.isClosed = true;
    for (const { timer } of this.delayed.values()) timer.dispose();
    this.delayed.clear();
    this.ready.clear();
    for (const wake of this.takers.splice(0)) wake();
  }

  private undelay(key: string): void {
    this.delayed.get(key)?.timer.dispose();
    this.delayed.delete(key);
  }
}
