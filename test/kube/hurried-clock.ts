// The machine's clock with every wait shortened, for tests that need real connections but not real patience.
import { type AbortSignalLike, type Clock, sleepWith, type Timer } from '../../src/base/index.ts';
import { RealClock } from '../../src/runtime/index.ts';

export class HurriedClock implements Clock {
  private readonly clock = new RealClock();
  private readonly startMs = this.clock.now();
  private readonly factor: number;

  constructor(factor: number) {
    this.factor = factor;
  }

  now(): number {
    return this.startMs + (this.clock.now() - this.startMs) * this.factor;
  }

  elapsed(): number {
    return this.clock.elapsed() * this.factor;
  }

  after(delayMs: number, task: () => void): Timer {
    return this.clock.after(delayMs / this.factor, task);
  }

  sleep(delayMs: number, signal?: AbortSignalLike): Promise<void> {
    return sleepWith((delay, task) => this.after(delay, task), delayMs, signal);
  }
}
