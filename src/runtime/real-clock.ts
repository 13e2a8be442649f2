// The clock of the machine. It follows wall time forwards (also over a suspended machine) and, when wall time is set
// back, goes on at the monotonic clock's pace instead: elapsed time is never under-counted, so a lease's local deadline
// passes when it should. Until wall time catches up, `now` is then ahead of it.
import { type AbortSignalLike, type Clock, sleepWith, type Timer, TimerQueue } from '../base/index.ts';

/** setTimeout takes 31 bits; longer waits are made of several. */
const longestTimeoutMs = 2 ** 31 - 1;

export class RealClock implements Clock {
  private readonly timers = new TimerQueue();
  private lastMs = Date.now();
  private lastMonotonicMs = performance.now();
  private armed: NodeJS.Timeout | undefined;
  private armedForMs = Number.POSITIVE_INFINITY;

  now(): number {
    const monotonicMs = performance.now();
    this.lastMs = Math.max(Date.now(), this.lastMs + (monotonicMs - this.lastMonotonicMs));
    this.lastMonotonicMs = monotonicMs;
    return Math.floor(this.lastMs);
  }

  after(delayMs: number, task: () => void): Timer {
    const timer = this.timers.add(this.now() + Math.max(0, delayMs), task);
    this.arm();
    return {
      dispose: () => {
        timer.dispose();
        // Without timers there must be no timeout either: it would keep the process alive.
        if (this.timers.nextDueMs() === undefined) this.disarm();
      },
    };
  }

  sleep(delayMs: number, signal?: AbortSignalLike): Promise<void> {
    return sleepWith((delay, task) => this.after(delay, task), delayMs, signal);
  }

  private arm(): void {
    const dueMs = this.timers.nextDueMs();
    if (dueMs === undefined || dueMs >= this.armedForMs) return;
    this.disarm();
    this.armedForMs = dueMs;
    const delayMs = Math.min(longestTimeoutMs, Math.max(0, Math.ceil(dueMs - this.now())));
    this.armed = setTimeout(() => this.fire(), delayMs);
  }

  private disarm(): void {
    clearTimeout(this.armed);
    this.armed = undefined;
    this.armedForMs = Number.POSITIVE_INFINITY;
  }

  private fire(): void {
    this.disarm();
    // Only what was due on entry: a task that sets a timer for now must not starve the event loop.
    const nowMs = this.now();
    try {
      for (let timer = this.timers.takeDue(nowMs); timer !== undefined; timer = this.timers.takeDue(nowMs))
        timer.task();
    } finally {
      this.arm();
    }
  }
}
