// What is being worked on, and for how long. Every call that work waits for ends within minutes, so work that has not
// ended after many of them hangs: on a lock, a promise no one keeps, a bug. The process says so to whoever may restart it,
// instead of looking healthy while a controller does nothing any more.
import type { Clock } from '../base/index.ts';

/** The longest honest work is a chain of calls that each run into their deadline: 4 minutes a call, a few calls. */
const longestWorkMs = 20 * 60_000;

export class UnderWay {
  private readonly clock: Clock;
  /** In the order in which they began. */
  private readonly begun = new Map<symbol, { what: string; atMs: number }>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  async during<T>(what: string, work: () => Promise<T>): Promise<T> {
    const key = Symbol(what);
    this.begun.set(key, { what, atMs: this.clock.elapsed() });
    try {
      return await work();
    } finally {
      this.begun.delete(key);
    }
  }

  /** What hangs, in a sentence; undefined while nothing does. */
  problem(): string | undefined {
    const oldest = this.begun.values().next().value;
    if (oldest === undefined) return undefined;
    const tookMs = this.clock.elapsed() - oldest.atMs;
    return tookMs <= longestWorkMs ? undefined : `${oldest.what} has not ended for ${Math.round(tookMs / 1000)} s`;
  }
}
