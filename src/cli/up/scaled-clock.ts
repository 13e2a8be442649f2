// A clock that runs faster (or slower) than the machine's: an hour of the cluster in a minute of a person's. A machine
// that cannot keep up slows the cluster down; it does not make kubelets late.
//
// Invariants, beyond those of every Clock:
// 1. Time never passes a timer that has not run, and stands still while one does: however long the process was held up,
//    what was due in between runs at its own time, in its order.
// 2. Between two timers everything in this process settles, as on the virtual clock.
// 3. What cannot be caught up with is let go: time goes on at its pace from where it is.
// 4. Paused, or at another speed, time goes on from where it is: nothing is skipped, nothing happens twice.
import { setImmediate as settle } from 'node:timers/promises';
import { type AbortSignalLike, AlarmedTimers, type Clock, sleepWith, type Timer } from '../../base/index.ts';

/** How far behind, in time of the machine, the cluster may be before it gives up catching up. */
const longestLagMs = 500;

/** The clock of a cluster that has seen `latestMs`: its time never goes back, whatever speed it had before. */
export function clockFrom(real: Clock, speed: number, latestMs: number | undefined): ScaledClock {
  return new ScaledClock(real, speed, Math.max(real.now(), latestMs ?? 0));
}

export class ScaledClock implements Clock {
  private readonly real: Clock;
  private pace: number;
  private isPaused = false;
  private readonly timers = new AlarmedTimers((dueMs) => this.alarm(dueMs));
  /** The moment from which time is counted: the cluster's, and the machine's. */
  private startMs: number;
  private realStartMs: number;
  private lastMs: number;
  private running = false;

  constructor(real: Clock, speed: number, startMs = real.now()) {
    this.real = real;
    this.pace = speed;
    this.realStartMs = real.elapsed();
    this.startMs = this.lastMs = startMs;
  }

  get speed(): number {
    return this.pace;
  }

  get paused(): boolean {
    return this.isPaused;
  }

  /** From now on. */
  setSpeed(speed: number): void {
    this.countFromHere();
    this.pace = speed;
    this.rearm();
  }

  setPaused(paused: boolean): void {
    if (paused === this.isPaused) return;
    this.countFromHere();
    this.isPaused = paused;
    this.rearm();
  }

  now(): number {
    if (this.running) return this.lastMs;
    const reachedMs = Math.min(this.pacedMs(), this.timers.nextDueMs() ?? Number.POSITIVE_INFINITY);
    this.lastMs = Math.max(this.lastMs, Math.floor(reachedMs));
    return this.lastMs;
  }

  /** Its own time never goes back. */
  elapsed(): number {
    return this.now();
  }

  after(delayMs: number, task: () => void): Timer {
    return this.timers.add(this.now() + Math.max(0, delayMs), task);
  }

  sleep(delayMs: number, signal?: AbortSignalLike): Promise<void> {
    return sleepWith((delay, task) => this.after(delay, task), delayMs, signal);
  }

  breathe(): Promise<void> | undefined {
    return this.real.breathe?.();
  }

  /** Where time would be if nothing ever held it up. */
  private pacedMs(): number {
    return this.isPaused ? this.startMs : this.startMs + (this.real.elapsed() - this.realStartMs) * this.pace;
  }

  private countFromHere(): void {
    this.startMs = this.running ? this.lastMs : this.now();
    this.realStartMs = this.real.elapsed();
  }

  private rearm(): void {
    this.timers.disarm();
    this.timers.arm();
  }

  private alarm(dueMs: number): Timer | undefined {
    if (this.running || this.isPaused) return undefined;
    return this.real.after((dueMs - this.pacedMs()) / this.pace, () => void this.run());
  }

  private async run(): Promise<void> {
    this.timers.disarm();
    this.running = true;
    try {
      for (let next = this.next(); next !== undefined; next = this.next()) {
        next.task();
        await settle();
      }
    } finally {
      this.running = false;
      this.timers.arm();
    }
  }

  private next(): { dueMs: number; task: () => void } | undefined {
    const timer = this.timers.takeDue(this.pacedMs());
    if (timer === undefined) return undefined;
    this.lastMs = Math.max(this.lastMs, Math.floor(timer.dueMs));
    if (this.pacedMs() - timer.dueMs > longestLagMs * this.pace) {
      this.startMs = timer.dueMs;
      this.realStartMs = this.real.elapsed();
    }
    return timer;
  }
}
