// How the last launches of each NodePool went. The last four outcomes decide: two failures among them are unhealthy. In
// memory only; a restart starts from what the condition NodeRegistrationHealthy says.
export type Health = 'unknown' | 'healthy' | 'unhealthy';

const remembered = 4;
const unhealthyFailures = 2;

export class RegistrationHealth {
  private readonly outcomes = new Map<string, boolean[]>();

  /** By the NodePool's UID, so that a pool made again under the same name starts afresh. */
  of(poolUid: string): Health {
    return healthOf(this.outcomes.get(poolUid) ?? []);
  }

  /** What the pool's health would be with one more outcome; nothing is remembered. */
  after(poolUid: string, success: boolean): Health {
    return healthOf([...(this.outcomes.get(poolUid) ?? []), success].slice(-remembered));
  }

  record(poolUid: string, success: boolean): Health {
    const next = [...(this.outcomes.get(poolUid) ?? []), success].slice(-remembered);
    this.outcomes.set(poolUid, next);
    return healthOf(next);
  }

  clear(poolUid: string): void {
    this.outcomes.delete(poolUid);
  }

  /** Starts from a condition that an earlier process wrote: True is one success, False two failures. */
  prefill(poolUid: string, status: 'True' | 'False'): void {
    if (!this.outcomes.has(poolUid)) this.outcomes.set(poolUid, status === 'True' ? [true] : [false, false]);
  }

  has(poolUid: string): boolean {
    return this.outcomes.has(poolUid);
  }
}

function healthOf(outcomes: readonly boolean[]): Health {
  if (outcomes.length === 0) return 'unknown';
  return outcomes.filter((success) => !success).length >= unhealthyFailures ? 'unhealthy' : 'healthy';
}
