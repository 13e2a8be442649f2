// A token bucket: `qps` calls per second on average, `burst` at once. Waiters are served in the order in which they came,
// each learns its moment when it arrives; giving up returns the place to the bucket.
import type { AbortSignalLike, Clock } from './clock.ts';

export interface RateLimit {
  /** Calls per second; zero or less means no limit. */
  qps: number;
  burst: number;
}

export class RateLimiter {
  private limit: RateLimit;
  private readonly clock: Clock;
  /** Below zero: that many calls are waiting for their moment. */
  private tokens: number;
  private filledAtMs: number;

  constructor(limit: RateLimit, clock: Clock) {
    this.limit = limit;
    this.clock = clock;
    this.tokens = limit.burst;
    this.filledAtMs = clock.elapsed();
  }

  /** From now on; whoever waits already keeps the moment it was given. */
  setRate(qps: number): void {
    this.fill();
    this.limit = { ...this.limit, qps };
  }

  /** Resolves when the next call may be made. */
  async take(signal?: AbortSignalLike): Promise<void> {
    const { qps } = this.limit;
    if (qps <= 0) return;
    this.fill();
    this.tokens -= 1;
    if (this.tokens >= 0) return;
    try {
      await this.clock.sleep((-this.tokens / qps) * 1000, signal);
    } catch (aborted) {
      this.tokens++;
      throw aborted;
    }
  }

  private fill(): void {
    const nowMs = this.clock.elapsed();
    const { qps, burst } = this.limit;
    this.tokens = Math.min(burst, this.tokens + ((nowMs - this.filledAtMs) / 1000) * qps);
    this.filledAtMs = nowMs;
  }
}
