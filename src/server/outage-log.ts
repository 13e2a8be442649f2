// A log that does not repeat itself. While the API server cannot be reached, everything fails for the same reason: the first
// failure is written as it is, then a summary after ten seconds and at growing intervals, and one line when the server
// answers again. A server that answers, and refuses the same resource or Lease in the same words again and again, is
// written down the first time and at growing intervals, with how often. Other lines pass as they are.
import { type Clock, messageOf } from '../base/index.ts';
import { isKubeError, type Log } from '../ports/index.ts';

const firstSummaryMs = 10_000;
const longestSummaryMs = 600_000;

export interface OutageLog {
  log: Log;
  /** A request was answered, whatever the answer. */
  answered(): void;
}

export function outageLog(inner: Log, clock: Pick<Clock, 'now'>): OutageLog {
  const outage = new Outage(inner, clock);
  return { log: quiet(inner, outage), answered: () => outage.end() };
}

function quiet(inner: Log, outage: Outage): Log {
  return {
    debug: (message, fields) => inner.debug(message, fields),
    info: (message, fields) => inner.info(message, fields),
    error: (message, error, fields) => {
      const isUnreachable = isKubeError(error, 'Transport') && error.status === 0;
      if (isUnreachable) {
        if (outage.begins()) inner.error(message, error, fields);
        else outage.repeats(error.message);
        return;
      }
      const subject = isKubeError(error) ? (fields?.['resource'] ?? fields?.['lease']) : undefined;
      const repeated = subject === undefined ? 0 : outage.refusals.count(`${message} ${subject} ${messageOf(error)}`);
      if (repeated !== undefined) inner.error(message, error, repeated === 0 ? fields : { ...fields, repeated });
    },
    with: (fields) => quiet(inner.with(fields), outage),
  };
}

/** The same refusal again and again: how often it came since it was last written, undefined if it is not time yet. */
class Refusals {
  private readonly clock: Pick<Clock, 'now'>;
  private readonly known = new Map<string, { count: number; lastMs: number; nextMs: number; intervalMs: number }>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.clock = clock;
  }

  count(refusal: string): number | undefined {
    const nowMs = this.clock.now();
    const known = this.known.get(refusal);
    // What was well for longer than any retry takes is news again.
    if (known === undefined || nowMs - known.lastMs > forgottenMs) {
      if (this.known.size >= mostRefusals) this.known.clear();
      this.known.set(refusal, { count: 0, lastMs: nowMs, nextMs: nowMs + firstSummaryMs, intervalMs: firstSummaryMs });
      return 0;
    }
    known.lastMs = nowMs;
    known.count += 1;
    if (nowMs < known.nextMs) return undefined;
    const { count } = known;
    known.count = 0;
    known.intervalMs = Math.min(longestSummaryMs, known.intervalMs * 2);
    known.nextMs = nowMs + known.intervalMs;
    return count;
  }
}
const forgottenMs = 120_000;
const mostRefusals = 1_000;

class Outage {
  readonly refusals: Refusals;
  private readonly log: Log;
  private readonly clock: Pick<Clock, 'now'>;
  private sinceMs: number | undefined;
  private nextMs = 0;
  private intervalMs = firstSummaryMs;
  private failures = 0;

  constructor(log: Log, clock: Pick<Clock, 'now'>) {
    this.log = log;
    this.clock = clock;
    this.refusals = new Refusals(clock);
  }

  /** True for the first failure. */
  begins(): boolean {
    this.failures += 1;
    if (this.sinceMs !== undefined) return false;
    this.sinceMs = this.clock.now();
    this.intervalMs = firstSummaryMs;
    this.nextMs = this.sinceMs + firstSummaryMs;
    return true;
  }

  repeats(error: string): void {
    const nowMs = this.clock.now();
    if (this.sinceMs === undefined || nowMs < this.nextMs) return;
    this.intervalMs = Math.min(longestSummaryMs, this.intervalMs * 2);
    this.nextMs = nowMs + this.intervalMs;
    this.log.error('API server is still unreachable', error, this.facts(nowMs));
  }

  end(): void {
    const { failures } = this;
    if (this.sinceMs === undefined) return;
    if (failures > 1) this.log.info('API server is reachable again', this.facts(this.clock.now()));
    this.sinceMs = undefined;
    this.failures = 0;
  }

  private facts(nowMs: number): { seconds: number; failures: number } {
    return { seconds: Math.round((nowMs - (this.sinceMs ?? nowMs)) / 1000), failures: this.failures };
  }
}
