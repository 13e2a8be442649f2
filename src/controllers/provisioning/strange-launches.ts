// Claims that are still to be launched and that the ledger does not know: written by an earlier process, or by this one when
// the answer to the write was lost. For which pods is not known until they are launched and have room; planning before that
// would launch for the same pods once more. So a pass waits for them, for a while and once for each: a launch that hangs
// must not hold up everybody else.
import { label, type NodeClaim } from '../../api/index.ts';
import type { AbortSignalLike } from '../../base/index.ts';
import type { ControllerContext } from '../context.ts';

const longestMs = 10_000;
const lookEveryMs = 200;

export class StrangeLaunches {
  private readonly context: ControllerContext;
  private readonly waitedFor = new Set<string>();

  constructor(context: ControllerContext) {
    this.context = context;
  }

  /** Resolves when there are none, or none worth waiting for any longer. */
  async settled(signal: AbortSignalLike): Promise<void> {
    const { clock } = this.context;
    const endMs = clock.now() + longestMs;
    for (let left = this.unknown(); left.length > 0; left = this.unknown()) {
      if (clock.now() >= endMs) for (const uid of left) this.waitedFor.add(uid);
      else await clock.sleep(lookEveryMs, signal);
    }
  }

  private unknown(): string[] {
    const { cluster, ledger } = this.context;
    if (cluster.machines.launchingCount === 0) {
      this.waitedFor.clear();
      return [];
    }
    const known = new Set(ledger.claims());
    const unknown: string[] = [];
    for (const claim of cluster.machines.launching()) {
      const { name = '', uid = '', deletionTimestamp } = claim.metadata;
      if (deletionTimestamp !== undefined || known.has(name) || this.waitedFor.has(uid)) continue;
      if (this.isForPods(claim)) unknown.push(uid);
    }
    return unknown;
  }

  /** Not made by hand, by a static pool or for somebody else's provider. */
  private isForPods({ metadata, spec }: NodeClaim): boolean {
    const { cluster, isManaged } = this.context;
    const pool = cluster.nodePools.get(metadata.labels?.[label.nodePool] ?? '');
    return pool !== undefined && pool.spec.replicas === undefined && isManaged(spec.nodeClassRef);
  }
}
