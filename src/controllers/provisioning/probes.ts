// Pods for which only offerings that failed lately would do. One pod of each workload is planned as if those that failed a
// minute ago or earlier had not: a single small node may become almost anything that is sold. Of the launches that could
// get the same types one begins, as a probe (see LaunchPace): its claim stays, and its launch is tried again and again
// until it works or none of the workload's pods needs it.
import type { Plan, PlannedNode, PoolInstanceTypes, Snapshot } from '../../core/index.ts';
import { probeTickMs } from '../../core/index.ts';
import type { ControllerContext } from '../context.ts';
import { endClaim } from '../nodeclaim/end-claim.ts';
import { instanceTypesOfPools, snapshotFor } from '../planning.ts';

/** With a probe under way already, others are looked for less often. */
const lookAgainMs = 4 * probeTickMs;

export interface ProbePlan {
  plan: Plan;
  snapshot: Snapshot;
  instanceTypes: PoolInstanceTypes[];
  /** With all pods that wait for the same, not only the one that was planned. */
  nodes: PlannedNode[];
}

/** Workloads that are looked at together, and pods of one that are reported. */
const mostWorkloads = 20;
const mostPods = 500;

export class Probes {
  private readonly context: ControllerContext;
  private lookedMs = Number.NEGATIVE_INFINITY;

  constructor(context: ControllerContext) {
    this.context = context;
  }

  /** What to probe for pods that a plan left without a place, or whose launches are held back. */
  async next(waiting: readonly string[]): Promise<ProbePlan | undefined> {
    const { cloud, clock, cluster, ledger } = this.context;
    const { pace } = ledger;
    const blocked = new Set(waiting.filter((pod) => cluster.pods.store.get(pod) !== undefined));
    await this.endNeedless(blocked);
    if (blocked.size === 0) return undefined;
    const failed = cloud.failedOfferings?.().length ?? 0;
    if (failed === 0 || failed === cloud.failedOfferings?.({ probing: true }).length) return undefined;
    const nowMs = clock.elapsed();
    if (nowMs - this.lookedMs < (pace.allProbes().length === 0 ? probeTickMs : lookAgainMs)) return undefined;
    this.lookedMs = nowMs;
    const workloads = this.workloadsOf(blocked);
    const instanceTypes = await instanceTypesOfPools(this.context, { probing: true });
    const all = snapshotFor(this.context, instanceTypes, { probing: true });
    const first = new Set([...workloads.values()].map((pods) => pods[0]));
    const items = all.objects.items.filter(({ kind, metadata }) => {
      const key = `${metadata['namespace']}/${metadata.name}`;
      return kind !== 'Pod' || !blocked.has(key) || first.has(key);
    });
    const snapshot = { ...all, objects: { ...all.objects, items } };
    const plan = await this.context.plan(snapshot);
    const nodes = plan.newNodes.flatMap((node) => {
      const { name, nodePool, instanceTypes: types, pods } = node;
      if (!pods.some((pod) => blocked.has(pod)) || !pace.hasRoom(nodePool, types, nowMs, { isProbe: true })) return [];
      pace.begin(name, nodePool, types);
      const together = [...workloads.values()].filter(([pod]) => pod !== undefined && pods.includes(pod)).flat();
      return [{ ...node, pods: [...new Set([...pods, ...together])].slice(0, mostPods) }];
    });
    for (const { name } of nodes) pace.settle(name);
    return nodes.length === 0 ? undefined : { plan: { ...plan, newNodes: nodes }, snapshot, instanceTypes, nodes };
  }

  /** The pods by what owns them. */
  private workloadsOf(pods: ReadonlySet<string>): Map<string, string[]> {
    const workloads = new Map<string, string[]>();
    for (const key of pods) {
      const owner = this.context.cluster.pods.store.get(key)?.metadata.ownerReferences?.[0]?.uid ?? key;
      const known = workloads.get(owner);
      if (known !== undefined) known.push(key);
      else if (workloads.size < mostWorkloads) workloads.set(owner, [key]);
    }
    return workloads;
  }

  /** Probes whose pods have found another place, or are gone. */
  private async endNeedless(blocked: ReadonlySet<string>): Promise<void> {
    const { cluster, ledger } = this.context;
    for (const [name, { pods }] of ledger.pace.allProbes()) {
      if (pods.some((pod) => blocked.has(pod))) continue;
      const claim = cluster.claims.get(name);
      ledger.pace.settle(name);
      if (claim === undefined || claim.status?.providerID || claim.metadata.deletionTimestamp !== undefined) continue;
      await endClaim(this.context, claim, { code: 'NotNeeded', message: 'no pod waits for it any more' });
    }
  }
}
