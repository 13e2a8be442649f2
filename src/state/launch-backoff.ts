// Which NodePools are left alone for a while because their launches keep failing. Two rounds that fail in the same way
// start a pause; every further one doubles it. Other pools are not held back: pods that fit them go there at once.
//
// 1. A round is what was launched before the last failure that counted: fifty claims that fail together count once.
// 2. A failure of another kind starts counting anew, and so does any success or any change of pool or node class.
// 3. Lack of capacity does not count here: it is known per offering, and the next choice is tried at once.
// In memory only: a restarted process tries once before it pauses again.
import { type Clock, doubledMs } from '../base/index.ts';

export interface LaunchFailure {
  /** What went wrong, as a condition's reason. */
  kind: string;
  message: string;
  /** When the claim that failed was made. */
  claimMs: number;
}

export interface LaunchPause {
  kind: string;
  message: string;
  failures: number;
  untilMs: number;
}

const failuresBeforePause = 2;
/** The first pause is a little longer than the time after which waiting pods ask again; the last is a registration's time. */
const pauseMs = { first: 15_000, most: 900_000 };

interface Entry extends Omit<LaunchPause, 'untilMs'> {
  countedMs: number;
  /** By elapsed time: a clock that is set must not make a pause last for days. */
  endsMs: number;
}

export class LaunchBackoff {
  private readonly clock: Clock;
  private readonly entries = new Map<string, Entry>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Counts a failure of a pool, by UID; returns the pause it started, if any. */
  failed(poolUid: string, { kind, message, claimMs }: LaunchFailure): LaunchPause | undefined {
    const now = this.clock.now();
    const known = this.entries.get(poolUid);
    const isSameKind = known?.kind === kind;
    if (isSameKind && claimMs <= known.countedMs) return undefined;
    const failures = (isSameKind ? known.failures : 0) + 1;
    const isPaused = failures >= failuresBeforePause;
    const lengthMs = doubledMs(pauseMs, failures - failuresBeforePause);
    const endsMs = isPaused ? this.clock.elapsed() + lengthMs : Number.NEGATIVE_INFINITY;
    this.entries.set(poolUid, { kind, message, failures, endsMs, countedMs: now });
    return this.pauseOf(poolUid);
  }

  /** A node of the pool registered, or the pool or its node class changed. */
  clear(poolUid: string): void {
    this.entries.delete(poolUid);
  }

  /** The pause a pool is in now. */
  pauseOf(poolUid: string): LaunchPause | undefined {
    const entry = this.entries.get(poolUid);
    const leftMs = entry === undefined ? 0 : entry.endsMs - this.clock.elapsed();
    if (entry === undefined || leftMs <= 0) return undefined;
    const { kind, message, failures } = entry;
    return { kind, message, failures, untilMs: this.clock.now() + leftMs };
  }
}
