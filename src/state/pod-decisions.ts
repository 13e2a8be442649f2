// What was decided about waiting pods, and when: first seen, first tried, first found a place, first found one in a pool
// whose nodes register. How long pods wait for us, and how long for everybody else, is reported from these times.
//
// Each time is noted once. A pod that loses its place again starts anew; one that is gone, or has a node, is forgotten.
export interface Decisions {
  /** The provisioner heard of the pod. */
  readonly seenMs?: number;
  /** A plan had something to say about it, good or bad. */
  readonly triedMs?: number;
  readonly placedMs?: number;
  /** Placed in a pool whose nodes are known to register. */
  readonly placedWellMs?: number;
}

const nothing: Decisions = {};

export class PodDecisions {
  private readonly byPod = new Map<string, Decisions>();

  /** `namespace/name`. */
  of(pod: string): Decisions {
    return this.byPod.get(pod) ?? nothing;
  }

  see(pod: string, nowMs: number): void {
    this.note(pod, { seenMs: nowMs });
  }

  /** Returns how long the pod waited for its first try, the first time. */
  refuse(pod: string, nowMs: number): number | undefined {
    const waitedMs = this.waitedForTry(pod, nowMs);
    const { placedMs: _placed, placedWellMs: _well, ...kept } = this.of(pod);
    this.byPod.set(pod, { ...kept, triedMs: kept.triedMs ?? nowMs });
    return waitedMs;
  }

  /** Returns how long the pod waited for its first try, the first time. */
  place(pod: string, nowMs: number, poolIsHealthy: boolean): number | undefined {
    const waitedMs = this.waitedForTry(pod, nowMs);
    this.note(pod, { triedMs: nowMs, placedMs: nowMs, ...(poolIsHealthy ? { placedWellMs: nowMs } : {}) });
    return waitedMs;
  }

  forget(pod: string): void {
    this.byPod.delete(pod);
  }

  private waitedForTry(pod: string, nowMs: number): number | undefined {
    const { seenMs, triedMs } = this.of(pod);
    return triedMs !== undefined || seenMs === undefined ? undefined : nowMs - seenMs;
  }

  private note(pod: string, times: Decisions): void {
    this.byPod.set(pod, { ...times, ...this.of(pod) });
  }
}
