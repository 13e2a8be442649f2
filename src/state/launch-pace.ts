// How fast launches go while capacity is short. In memory only: after a restart everything may be tried once.
//
// 1. Launches whose every offering failed within the last half hour are troubled. Of those that could get the same types
//    in a pool, one is under way at a time; each that succeeds doubles the number, a failure makes it one again, and the
//    next comes a minute later, then two, up to ten.
// 2. A probe is a launch for pods that could use nothing else than what failed. Its claim outlives its failures, so that
//    a shortage of hours costs a handful of claims; it ends when none of its pods waits, or after half an hour.
// 3. Where nothing was launched lately, the first launches of a large burst go ahead of the others (see `isProven`).
import { doubledMs } from '../base/index.ts';
import type { FailedOffering } from '../core/index.ts';

export interface Probe {
  /** Pods that wait for it, as `namespace/name`. */
  pods: readonly string[];
  startedMs: number;
}

interface Allowance {
  /** Launches at once. */
  most: number;
  failures: number;
  /** Of launches that are not probes. */
  notBeforeMs: number;
}

interface Troubled {
  pool: string;
  types: ReadonlySet<string>;
}

const troubleMs = 30 * 60_000;
const provenMs = 10 * 60_000;
/** A probe is planned anew after this long: prices, types and pools may have changed. */
export const probeLifeMs = 30 * 60_000;
const pauseMs = { first: 60_000, most: 10 * 60_000 };
/** From here on launches are not counted any more. */
const fullPace = 64;

export class LaunchPace {
  private readonly probes = new Map<string, Probe>();
  private readonly underWay = new Map<string, Troubled>();
  /** When each offering last failed or was last launched, in the order of those times. */
  private readonly failures = new Map<string, number>();
  private readonly successes = new Map<string, number>();
  private readonly allowances = new Map<string, Allowance>();
  private readonly listeners = new Set<(isLaunched: boolean) => void>();

  get hasFailures(): boolean {
    return this.failures.size > 0;
  }

  /** `listener` receives every launch and whether it worked, until the result is called. */
  onAnswer(listener: (isLaunched: boolean) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  failed(pool: string, failed: readonly FailedOffering[], nowMs: number): void {
    const { failures = 0, notBeforeMs = 0 } = this.allowances.get(pool) ?? {};
    // Launches that ran side by side, and probes, fail together: one failure.
    const isNew = nowMs >= notBeforeMs;
    const nextMs = nowMs + doubledMs(pauseMs, failures);
    this.allowances.set(pool, {
      most: 1,
      failures: isNew ? failures + 1 : failures,
      notBeforeMs: isNew ? nextMs : notBeforeMs,
    });
    for (const each of failed) touch(this.failures, offeringKey(each), nowMs);
    drop(this.failures, nowMs - troubleMs);
    for (const listener of this.listeners) listener(false);
  }

  succeeded(pool: string, offering: FailedOffering, nowMs: number): void {
    const key = offeringKey(offering);
    touch(this.successes, key, nowMs);
    drop(this.successes, nowMs - provenMs);
    drop(this.failures, nowMs - troubleMs);
    const allowed = this.allowances.get(pool);
    if (allowed !== undefined) {
      const most = allowed.most * 2;
      if (most < fullPace) this.allowances.set(pool, { most, failures: 0, notBeforeMs: 0 });
      else this.allowances.delete(pool);
    }
    for (const listener of this.listeners) listener(true);
  }

  /** Whether all of them failed within the last half hour. */
  isTroubled(keys: readonly string[], nowMs: number): boolean {
    drop(this.failures, nowMs - troubleMs);
    return this.failures.size > 0 && keys.length > 0 && keys.every((key) => this.failures.has(key));
  }

  /** Whether one of them was launched within the last ten minutes, and did not fail since. */
  isProven(keys: readonly string[], nowMs: number): boolean {
    drop(this.successes, nowMs - provenMs);
    return keys.some((key) => {
      const launchedMs = this.successes.get(key);
      return launchedMs !== undefined && (this.failures.get(key) ?? Number.NEGATIVE_INFINITY) < launchedMs;
    });
  }

  /** Whether the pool's last launch found no capacity. */
  isFailing(pool: string): boolean {
    return (this.allowances.get(pool)?.failures ?? 0) > 0;
  }

  /** Whether one more troubled launch that could get these types may begin. */
  hasRoom(pool: string, types: readonly string[], nowMs: number, { isProbe = false } = {}): boolean {
    const allowed = this.allowances.get(pool);
    if (allowed === undefined) return true;
    if (!isProbe && nowMs < allowed.notBeforeMs) return false;
    let count = 0;
    for (const each of this.underWay.values())
      if (each.pool === pool && types.some((type) => each.types.has(type))) count += 1;
    return count < allowed.most;
  }

  begin(claim: string, pool: string, types: readonly string[]): void {
    this.underWay.set(claim, { pool, types: new Set(types) });
  }

  isUnderWay(claim: string): boolean {
    return this.underWay.has(claim);
  }

  /** The claim was launched, or is gone. */
  settle(claim: string): void {
    this.underWay.delete(claim);
    this.probes.delete(claim);
  }

  addProbe(claim: string, probe: Probe): void {
    this.probes.set(claim, probe);
  }

  probe(claim: string): Probe | undefined {
    return this.probes.get(claim);
  }

  /** As a copy: settling while going through them is fine. */
  allProbes(): [string, Probe][] {
    return [...this.probes];
  }
}

export const offeringKey = ({ instanceType, zone, capacityType }: Omit<FailedOffering, 'until' | 'reason'>): string =>
  `${capacityType}:${instanceType}:${zone}`;

function touch(times: Map<string, number>, key: string, nowMs: number): void {
  times.delete(key);
  times.set(key, nowMs);
}

/** Of times in order those before `beforeMs`. */
function drop(times: Map<string, number>, beforeMs: number): void {
  for (const [key, atMs] of times) {
    if (atMs >= beforeMs) return;
    times.delete(key);
  }
}
