// A clock that runs faster (or slower) than the machine's: an hour of the cluster in a minute of a person's.
import { type AbortSignalLike, type Clock, sleepWith, type Timer } from '../../base/index.ts';

export class ScaledClock implements Clock {
  private readonly real: Clock;
  private readonly speed: number;
  private readonly startMs: number;

  constructor(real: Clock, speed: number) {
    this.real = real;
    this.speed = speed;
    this.startMs = real.now();
  }

  now(): number {
    return Math.floor(this.startMs + (this.real.now() - this.startMs) * this.speed);
  }

  after(delayMs: number, task: () => void): Timer {
    return this.real.after(delayMs / this.speed, task);
  }

  breathe(): Promise<void> | undefined {
    return this.real.breathe?.();
  }

  sleep(delayMs: number, signal?: AbortSignalLike): Promise<void> {
    return sleepWith((delay, task) => this.after(delay, task), delayMs, signal);
  }
}
