// The health of nodes where repair is a disruption method: since when conditions that come and go have been bad, and whether
// some node is due. Reported by every round of the disruption loop.
import { RepairPolicies, type RepairState } from '../../core/index.ts';
import type { ControllerContext } from '../context.ts';
import { claimsOfNode } from '../node-and-claim.ts';
import { Ailments } from './repair-policies.ts';

/** Nodes are repaired by the disruption loop: the gate is on and the older controller was not asked for. */
export function isRepairMethod({
  cloud,
  settings,
}: {
  cloud: Pick<ControllerContext['cloud'], 'repairPolicies'>;
  settings: ControllerContext['settings'];
}): boolean {
  return (
    settings.featureGates['NodeRepair'] === true &&
    settings.legacyNodeRepair !== true &&
    cloud.repairPolicies().length > 0
  );
}

export class Health {
  private readonly context: ControllerContext;
  private readonly policies: RepairPolicies;
  private readonly ailments: Ailments;

  constructor(context: ControllerContext) {
    this.context = context;
    this.policies = new RepairPolicies(context.cloud.repairPolicies());
    this.ailments = new Ailments(context.clock);
  }

  since(node: string): Record<string, string> | undefined {
    return this.ailments.since(node);
  }

  /** Looks at every node; true if one should be repaired now. */
  look(): boolean {
    const { cloud, clock, cluster } = this.context;
    const policies = cloud.repairPolicies();
    const known = new Set(this.ailments.names());
    let isDue = false;
    for (const node of cluster.nodes.list()) {
      const { name = '' } = node.metadata;
      if (!this.policies.isUnhealthy(node as never) && !known.has(name)) continue;
      this.ailments.of(node, policies);
      const [claim] = claimsOfNode(this.context, node);
      const state: RepairState = { nowMs: clock.now(), unhealthySince: this.since(name) };
      isDue ||= claim !== undefined && this.policies.repairOf(node as never, claim as never, state) !== undefined;
    }
    for (const name of known) if (cluster.nodes.get(name) === undefined) this.ailments.forget(name);
    return isDue;
  }
}

const known = new WeakMap<ControllerContext['cluster'], Health>();

/** One for each cluster: the loops share what they have seen. */
export function healthOf(context: ControllerContext): Health {
  const health = known.get(context.cluster) ?? new Health(context);
  known.set(context.cluster, health);
  return health;
}
