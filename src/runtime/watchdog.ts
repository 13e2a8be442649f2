// Notices silence. One timer however many events there are: they only note the time, so a busy watch costs nothing.
import type { Clock, Timer } from '../base/index.ts';

/** Calls `onQuiet` once nothing was heard for `limitMs`. */
export class Watchdog {
  private readonly clock: Clock;
  private readonly limitMs: number;
  private readonly onQuiet: () => void;
  private heardAtMs: number;
  private timer: Timer;

  constructor(clock: Clock, limitMs: number, onQuiet: () => void) {
    this.clock = clock;
    this.limitMs = limitMs;
    this.onQuiet = onQuiet;
    this.heardAtMs = clock.elapsed();
    this.timer = clock.after(limitMs, () => this.check());
  }

  heard(): void {
    this.heardAtMs = this.clock.elapsed();
  }

  dispose(): void {
    this.timer.dispose();
  }

  private check(): void {
    const leftMs = this.heardAtMs + this.limitMs - this.clock.elapsed();
    if (leftMs <= 0) this.onQuiet();
    else this.timer = this.clock.after(leftMs, () => this.check());
  }
}
