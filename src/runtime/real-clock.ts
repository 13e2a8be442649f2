// The clock of the machine: `now` is its wall clock as it is, right again as soon as someone corrects it; lengths of time
// and timers go by the monotonic clock, which no one sets. That one stands still while a machine is suspended: who must not
// under-count then (a leader's own term) looks at both.
import { type AbortSignalLike, AlarmedTimers, type Clock, sleepWith, type Timer } from '../base/index.ts';

/** A turn of the event loop longer than this is long: whoever works breathes then. */
const turnMs = 10;
/** Timers fired between two looks at the time. */
const timersPerLook = 64;

/** setTimeout takes 31 bits; longer waits are made of several. */
const longestTimeoutMs = 2 ** 31 - 1;

export class RealClock implements Clock {
  private readonly timers = new AlarmedTimers((dueMs) => this.alarm(dueMs));
  private turnStartMs = performance.now();
  private nextTurn: Promise<void> | undefined;

  now(): number {
    return Date.now();
  }

  elapsed(): number {
    return performance.now();
  }

  after(delayMs: number, task: () => void): Timer {
    return this.timers.add(this.elapsed() + Math.max(0, delayMs), task);
  }

  sleep(delayMs: number, signal?: AbortSignalLike): Promise<void> {
    return sleepWith((delay, task) => this.after(delay, task), delayMs, signal);
  }

  /** One turn for all who ask: it began when the last one of them was let go, or long ago. */
  breathe(): Promise<void> | undefined {
    if (this.nextTurn !== undefined) return this.nextTurn;
    if (performance.now() - this.turnStartMs < turnMs) return undefined;
    this.nextTurn = new Promise((resolve) => {
      setImmediate(() => {
        this.nextTurn = undefined;
        this.turnStartMs = performance.now();
        resolve();
      });
    });
    return this.nextTurn;
  }

  private alarm(dueMs: number): Timer {
    const delayMs = Math.min(longestTimeoutMs, Math.max(0, Math.ceil(dueMs - this.elapsed())));
    const timeout = setTimeout(() => this.fire(), delayMs);
    return { dispose: () => clearTimeout(timeout) };
  }

  private fire(): void {
    this.timers.disarm();
    // Only what was due on entry: a task that sets a timer for now must not starve the event loop.
    const nowMs = this.elapsed();
    let fired = 0;
    try {
      for (let timer = this.timers.takeDue(nowMs); timer !== undefined; timer = this.timers.takeDue(nowMs)) {
        timer.task();
        // Thousands due at once are fired over several turns.
        if (++fired % timersPerLook === 0 && this.elapsed() - nowMs >= turnMs) break;
      }
    } finally {
      this.timers.arm();
    }
  }
}
