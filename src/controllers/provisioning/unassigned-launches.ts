// Claims that are still to be launched and whose room is not spoken for. Either the ledger does not know them: an earlier
// process wrote them, or this one without hearing the answer. Or a pod they were made for is gone or found a place elsewhere,
// as kube-scheduler exchanges pods that are alike. Who fits there is not known until they are launched; planning before that
// would launch once more for the same pods. So a pass waits for them, for a while and once for each: a launch that hangs must
// not hold up everybody else.
import { label, type NodeClaim } from '../../api/index.ts';
import type { AbortSignalLike } from '../../base/index.ts';
import { keyOf, needsPlace } from '../../state/index.ts';
import type { ControllerContext } from '../context.ts';

/** Without any launch coming to its end. */
const longestMs = 10_000;
const lookEveryMs = 200;

export class UnassignedLaunches {
  private readonly context: ControllerContext;
  private readonly waitedFor = new Set<string>();

  constructor(context: ControllerContext) {
    this.context = context;
  }

  /** Resolves when there are none, or none worth waiting for any longer. */
  async settled(signal: AbortSignalLike): Promise<void> {
    const { clock, cluster } = this.context;
    let endMs = 0;
    let fewest = Number.POSITIVE_INFINITY;
    for (let left = this.unspoken(); left.length > 0; left = this.unspoken()) {
      const { launchingCount } = cluster.machines;
      if (launchingCount < fewest) endMs = clock.elapsed() + longestMs;
      fewest = Math.min(fewest, launchingCount);
      if (clock.elapsed() >= endMs) for (const uid of left) this.waitedFor.add(uid);
      else await clock.sleep(lookEveryMs, signal);
    }
  }

  private unspoken(): string[] {
    const { cluster, ledger } = this.context;
    if (cluster.machines.launchingCount === 0) {
      this.waitedFor.clear();
      return [];
    }
    const unspoken: string[] = [];
    const virtual = new Set(cluster.getBufferPods().map(keyOf));
    const stillWaits = (key: string): boolean => {
      const pod = cluster.pods.store.get(key);
      return pod === undefined ? virtual.has(key) : needsPlace(cluster, pod);
    };
    for (const claim of cluster.machines.launching()) {
      const { name = '', uid = '', deletionTimestamp } = claim.metadata;
      if (deletionTimestamp !== undefined || this.waitedFor.has(uid)) continue;
      if (ledger.podsOf(name)?.every(stillWaits)) continue;
      if (this.isForPods(claim)) unspoken.push(uid);
    }
    return unspoken;
  }

  /** Not made by hand, by a static pool or for another provider. */
  private isForPods({ metadata, spec }: NodeClaim): boolean {
    const { cluster, isManaged } = this.context;
    const pool = cluster.nodePools.get(metadata.labels?.[label.nodePool] ?? '');
    return pool !== undefined && pool.spec.replicas === undefined && isManaged(spec.nodeClassRef);
  }
}
