// What is stored has agreed with a cache lately. A drain is looked at every second, and what it rests on is asked for once a
// minute: before its first step, and again in case the API server is restored or the cache falls behind meanwhile.
import { type Clock, ExpiringMap } from '../../base/index.ts';

const countsMs = 60_000;

export class Proofs {
  private readonly proven: ExpiringMap<string, true>;

  constructor(clock: Clock) {
    this.proven = new ExpiringMap(clock, countsMs);
  }

  /** Only agreement is remembered: what is not proven is asked for again each time. */
  async holds(key: string, prove: () => Promise<boolean>): Promise<boolean> {
    if (this.proven.has(key)) return true;
    const isProven = await prove();
    if (isProven) this.proven.set(key, true);
    return isProven;
  }
}
