// How long the turns of this process's event loop take, in time of its own thread: on a machine shared with others, the
// wall clock would measure them too.

export class Turns {
  private readonly lengthsMs: number[] = [];
  private lastMs = 0;
  private isSampling = false;

  start(): void {
    this.lengthsMs.length = 0;
    this.lastMs = threadMs();
    this.isSampling = true;
    setImmediate(() => this.sample());
  }

  /**
   * The length of the turn that something arriving at a busy moment has to wait for: 99 of 100 such moments are in a turn
   * at most this long. (Of all turns, the long ones are few, and hide behind thousands of tiny ones.)
   */
  stop(): { p99Ms: number; longestMs: number; busyMs: number } {
    this.isSampling = false;
    const sorted = this.lengthsMs.filter((length) => length > 0.05).sort((left, right) => left - right);
    const busyMs = sorted.reduce((sum, length) => sum + length, 0);
    let below = 0;
    const p99Ms = sorted.find((length) => (below += length) >= 0.99 * busyMs) ?? 0;
    return { p99Ms, longestMs: sorted.at(-1) ?? 0, busyMs };
  }

  private sample(): void {
    const nowMs = threadMs();
    this.lengthsMs.push(nowMs - this.lastMs);
    this.lastMs = nowMs;
    // Often enough to tell turns apart, rarely enough not to be the load itself.
    if (this.isSampling) setImmediate(() => this.sample());
  }
}

export function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
