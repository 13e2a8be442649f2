// Whether our wall clock can be believed. Every answer of the API server carries its time; objects are stamped by it, and
// ages are ours minus theirs. While the two disagree by more than a minute, a node's age means nothing: whoever takes
// something away for its age asks here first. Between answers the server's time goes on by elapsed time, so a clock that is
// set is noticed at once, not with the next answer.
import type { Clock } from '../base/index.ts';

/** Clocks that are kept by anything agree to the second. Ages that matter here are minutes and more. */
const mostDisagreementMs = 60_000;

export class ServerTime {
  private readonly clock: Clock;
  private last: { serverMs: number; atMs: number } | undefined;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** The API server said that it is this late. */
  heard(serverMs: number): void {
    if (Number.isFinite(serverMs)) this.last = { serverMs, atMs: this.clock.elapsed() };
  }

  /** How far our clock is ahead of the server's; below zero it is behind. Undefined until the server said anything. */
  aheadMs(): number | undefined {
    if (this.last === undefined) return undefined;
    return this.clock.now() - (this.last.serverMs + this.clock.elapsed() - this.last.atMs);
  }

  /** Now; while the clocks disagree, by the one that is behind: what is over by it is over, whichever is wrong. */
  cautiousNow(): number {
    const nowMs = this.clock.now();
    return this.problem() === undefined ? nowMs : nowMs - Math.max(0, this.aheadMs() ?? 0);
  }

  /** Why our clock cannot be believed, in a sentence; undefined while it can. */
  problem(): string | undefined {
    const aheadMs = this.aheadMs() ?? 0;
    if (Math.abs(aheadMs) <= mostDisagreementMs) return undefined;
    const seconds = Math.round(Math.abs(aheadMs) / 1000);
    const where = aheadMs > 0 ? 'ahead of' : 'behind';
    return `the clock of this machine is ${seconds} s ${where} the API server's, more than ${mostDisagreementMs / 1000} s: nothing is disrupted, expired or collected until they agree; set the clock that is wrong`;
  }
}
