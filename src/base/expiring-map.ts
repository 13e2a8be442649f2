// A map whose entries are forgotten after a while: what a remote service said, kept for as long as it may be believed.
// Expiry is looked at when an entry is asked for, so there is no timer to stop; expired entries also go when others come.
//
// Promises: an entry set again starts its time anew; `values` and `entries` show only what is still believed.
import type { Clock } from './clock.ts';

export class ExpiringMap<K, V> {
  private readonly clock: Pick<Clock, 'elapsed'>;
  private readonly ttlMs: number;
  private readonly kept = new Map<K, { value: V; untilMs: number }>();
  private nextSweepMs = 0;

  constructor(clock: Pick<Clock, 'elapsed'>, ttlMs: number) {
    this.clock = clock;
    this.ttlMs = ttlMs;
  }

  get(key: K): V | undefined {
    const entry = this.kept.get(key);
    if (entry === undefined) return undefined;
    if (entry.untilMs > this.clock.elapsed()) return entry.value;
    this.kept.delete(key);
    return undefined;
  }

  has(key: K): boolean {
    return this.get(key) !== undefined;
  }

  set(key: K, value: V, ttlMs = this.ttlMs): void {
    const now = this.clock.elapsed();
    this.sweep(now);
    this.kept.set(key, { value, untilMs: now + ttlMs });
  }

  delete(key: K): boolean {
    return this.kept.delete(key);
  }

  clear(): void {
    this.kept.clear();
  }

  entries(): [K, V][] {
    this.sweep(this.clock.elapsed(), true);
    return [...this.kept].map(([key, { value }]) => [key, value]);
  }

  private sweep(now: number, isDue = now >= this.nextSweepMs): void {
    if (!isDue) return;
    this.nextSweepMs = now + this.ttlMs;
    for (const [key, { untilMs }] of this.kept) if (untilMs <= now) this.kept.delete(key);
  }
}
