// How long to wait before trying again. Two kinds: for one connection, where many clients must not come back in step; and
// per key, for objects that fail one by one.

import { doubledMs } from '../base/index.ts';

export interface BackoffLimits {
  baseMs: number;
  maxMs: number;
}

/**
 * Decorrelated jitter: each wait is random between the base and three times the last one, up to the limit. Clients that
 * failed together spread out, and a long outage is asked about rarely.
 */
export class JitterBackoff {
  private readonly limits: BackoffLimits;
  private readonly random: () => number;
  private lastMs: number;

  constructor(limits: BackoffLimits, random: () => number) {
    this.limits = limits;
    this.random = random;
    this.lastMs = limits.baseMs;
  }

  nextMs(): number {
    const { baseMs, maxMs } = this.limits;
    this.lastMs = Math.min(maxMs, baseMs + this.random() * (this.lastMs * 3 - baseMs));
    return this.lastMs;
  }

  reset(): void {
    this.lastMs = this.limits.baseMs;
  }
}

/** Exponential per key: base, twice that, four times… up to the limit; forgotten when the key succeeds. */
export class KeyedBackoff {
  private readonly limits: BackoffLimits;
  private readonly failures = new Map<string, number>();

  constructor(limits: BackoffLimits) {
    this.limits = limits;
  }

  nextMs(key: string): number {
    const count = this.failures.get(key) ?? 0;
    this.failures.set(key, count + 1);
    return doubledMs({ first: this.limits.baseMs, most: this.limits.maxMs }, count);
  }

  failuresOf(key: string): number {
    return this.failures.get(key) ?? 0;
  }

  forget(key: string): void {
    this.failures.delete(key);
  }
}
