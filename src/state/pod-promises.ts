// Which waiting pods a NodeClaim was made for, so that they can be notified when it fails. Only a memory of this process: after
// a restart the next plan makes new promises.

/** Claims that are remembered; the oldest go first. */
const most = 5_000;

export class PodPromises {
  private readonly byClaim = new Map<string, readonly string[]>();

  promise(claim: string, pods: readonly string[]): void {
    this.byClaim.set(claim, pods);
    for (const oldest of this.byClaim.keys()) {
      if (this.byClaim.size <= most) return;
      this.byClaim.delete(oldest);
    }
  }

  /** `namespace/name` of each pod. */
  of(claim: string): readonly string[] {
    return this.byClaim.get(claim) ?? [];
  }

  forget(claim: string): void {
    this.byClaim.delete(claim);
  }
}
