// A clock whose time passes only on demand, from event to event: a day of a simulated cluster takes seconds, and two
// runs from the same start are alike to the last event.
//
// Invariants, beyond those of every Clock:
// 1. `now` changes only inside a run; while a timer's task runs, it is that timer's due time (or later, if it was overdue).
// 2. Timers run by due time, then in the order in which they were set, wherever they were set from.
// 3. A timer set during a run, due before the run's end, runs in the same run, at its place.
// 4. Before a timer runs, everything that earlier ones started in this process has settled: promise chains run to their
//    next wait on a timer or on the outside world.
// 5. A run ends with `now` at the asked time exactly, also when no timer was due.
// 6. A task that throws ends the run with its error; the other timers stay, and a later run continues with them.
// 7. Runs do not nest: starting one inside another is an error.
import { type AbortSignalLike, type Clock, sleepWith, type Timer } from './clock.ts';
import { KerfError } from './errors.ts';
import { TimerQueue } from './timer-queue.ts';

export interface VirtualClockOptions {
  /** Where time starts; default 2026-01-01T00:00:00Z. */
  startMs?: number;
  /**
   * Resolves once all promise chains in flight have run as far as they can: `setImmediate` of `node:timers/promises`.
   * Given from outside because this room is compiled without the platform.
   */
  settle: () => Promise<unknown>;
}

const defaultStartMs = 1_767_225_600_000;

export class VirtualClock implements Clock {
  private readonly timers = new TimerQueue();
  private readonly settle: () => Promise<unknown>;
  private readonly startMs: number;
  private timeMs: number;
  /** How far the wall clock was set away. */
  private wallMs = 0;
  private running = false;

  constructor(options: VirtualClockOptions) {
    this.settle = options.settle;
    this.timeMs = this.startMs = options.startMs ?? defaultStartMs;
  }

  now(): number {
    return this.timeMs + this.wallMs;
  }

  elapsed(): number {
    return this.timeMs - this.startMs;
  }

  /** Sets the wall clock forward or back, as an operator or a faulty time server does; timers do not care. */
  step(byMs: number): void {
    this.wallMs += byMs;
  }

  after(delayMs: number, task: () => void): Timer {
    return this.timers.add(this.timeMs + Math.max(0, delayMs), task);
  }

  sleep(delayMs: number, signal?: AbortSignalLike): Promise<void> {
    return sleepWith((delay, task) => this.after(delay, task), delayMs, signal);
  }

  /** When the next timer is due; undefined if none is set. */
  nextDueMs(): number | undefined {
    return this.timers.nextDueMs();
  }

  async runFor(durationMs: number): Promise<void> {
    await this.runUntil(this.timeMs + durationMs);
  }

  /** Runs every timer due by `timeMs`, then stands at `timeMs`. */
  async runUntil(timeMs: number): Promise<void> {
    await this.run(timeMs, () => false);
    this.timeMs = Math.max(this.timeMs, timeMs);
  }

  /** Runs timers until `isDone` holds (checked when all is settled) or `limitMs` has passed; true if it came to hold. */
  async runUntilTrue(isDone: () => boolean, limitMs: number): Promise<boolean> {
    return this.run(this.timeMs + limitMs, isDone);
  }

  private async run(endMs: number, isDone: () => boolean): Promise<boolean> {
    if (this.running) {
      throw new KerfError('ClockRunning', 'the virtual clock is already running; wait for that run to end first');
    }
    this.running = true;
    try {
      for (;;) {
        await this.settle();
        if (isDone()) return true;
        const timer = this.timers.takeDue(endMs);
        if (timer === undefined) return false;
        this.timeMs = Math.max(this.timeMs, timer.dueMs);
        timer.task();
      }
    } finally {
      this.running = false;
    }
  }
}
