// The clock of one replica's machine: its wall time may be set forwards and back, and the whole process may stand still
// (SIGSTOP, a frozen hypervisor) while the world goes on. Timers run by elapsed time, as a monotonic clock's do.
import { type AbortSignalLike, type Clock, sleepWith, type Timer } from '../../../src/base/index.ts';

export class ReplicaClock implements Clock {
  /** Wall time minus true time. */
  offsetMs = 0;
  private readonly world: Clock;
  private frozenUntilMs = 0;

  constructor(world: Clock, before?: ReplicaClock) {
    this.world = world;
    this.offsetMs = before?.offsetMs ?? 0;
  }

  now(): number {
    return this.world.now() + this.offsetMs;
  }

  elapsed(): number {
    return this.world.elapsed();
  }

  /** Nothing of this process runs for so long; afterwards everything that was due does. */
  freeze(durationMs: number): void {
    this.frozenUntilMs = Math.max(this.frozenUntilMs, this.world.now() + durationMs);
  }

  get isFrozen(): boolean {
    return this.world.now() < this.frozenUntilMs;
  }

  after(delayMs: number, task: () => void): Timer {
    let timer: Timer;
    const due = (): void => {
      const leftMs = this.frozenUntilMs - this.world.now();
      if (leftMs > 0) timer = this.world.after(leftMs, due);
      else task();
    };
    timer = this.world.after(delayMs, due);
    return { dispose: () => timer.dispose() };
  }

  sleep(delayMs: number, signal?: AbortSignalLike): Promise<void> {
    return sleepWith((delay, task) => this.after(delay, task), delayMs, signal);
  }

  /** Resolves at once unless the process stands still. */
  async awake(): Promise<void> {
    while (this.isFrozen) await this.world.sleep(this.frozenUntilMs - this.world.now());
  }
}
