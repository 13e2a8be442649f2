// A log that does not repeat itself while the API server cannot be reached: everything that fails then fails for the same
// reason. The first failure is written as it is, then a summary after ten seconds and at growing intervals, and one line
// when the server answers again. Other lines pass as they are.
import type { Clock } from '../base/index.ts';
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
      if (!isUnreachable || outage.begins()) inner.error(message, error, fields);
      else outage.repeats(error.message);
    },
    with: (fields) => quiet(inner.with(fields), outage),
  };
}

class Outage {
  private readonly log: Log;
  private readonly clock: Pick<Clock, 'now'>;
  private sinceMs: number | undefined;
  private nextMs = 0;
  private intervalMs = firstSummaryMs;
  private failures = 0;

  constructor(log: Log, clock: Pick<Clock, 'now'>) {
    this.log = log;
    this.clock = clock;
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
