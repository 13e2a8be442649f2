// A NodePool whose launches keep failing is left alone for a while: until when, and why. A controller says so in the
// snapshot; a pause that is over by the snapshot's clock is none.

import { parseTime } from '../../base/index.ts';
import type { PoolStateEntry } from '../snapshot.ts';

export interface Pause {
  readonly until: string;
  readonly code: string;
  readonly message: string;
}

export function pauseOf(state: PoolStateEntry | undefined, nowMs: number): Pause | undefined {
  const until = state?.pausedUntil;
  if (state === undefined || until === undefined) return undefined;
  // A time that cannot be read does not open a pool that someone closed.
  if ((parseTime(until) ?? Number.POSITIVE_INFINITY) <= nowMs) return undefined;
  return { until, code: state.pausedBecause?.code ?? '', message: state.pausedBecause?.message ?? '' };
}

/** `launches are paused until …: LaunchFailed, no subnet has room`. */
export function pauseText({ until, code, message }: Pause): string {
  const why = [code, message].filter((part) => part !== '').join(', ');
  return `launches are paused until ${until}${why === '' ? '' : `: ${why}`}`;
}
