// nodeclaim.consistency: every ten minutes, whether an initialized node really has what its instance type promised. Only
// tells: an event and the condition ConsistentStateFound; nothing acts on it.
import { conditionReason, conditionType, type NodeClaim } from '../../api/index.ts';
import { formatQuantity, parseQuantity } from '../../base/index.ts';
import { type Node, resources } from '../../ports/index.ts';
import { done, type Outcome } from '../../runtime/index.ts';
import { again, type Controller, type ControllerContext, source } from '../context.ts';
import { aboutClaim } from '../event-subjects.ts';
import { nodesOfClaim } from '../node-and-claim.ts';
import { nodeClaims } from '../own-resources.ts';
import { patchStatus } from '../writes.ts';
import { claimCondition, withCondition } from './claim-conditions.ts';
import { claimController } from './claim-controller.ts';

const everyMs = 600_000;
/** Below this share of the promise something is wrong; above it, it is the usual difference to what kernels report. */
const leastShare = 0.9;

export function consistencyController(context: ControllerContext): Controller {
  const { clock, cluster, kube, recorder } = context;
  /** When each claim was last looked at: claims change more often than every ten minutes. */
  const checkedMs = new Map<string, number>();

  const check = async (claim: NodeClaim): Promise<Outcome> => {
    const { deletionTimestamp, name = '' } = claim.metadata;
    if (deletionTimestamp !== undefined || claimCondition(claim, conditionType.initialized)?.status !== 'True')
      return done;
    const [node] = nodesOfClaim(context, claim);
    if (node === undefined) return done;
    const leftMs = (checkedMs.get(name) ?? Number.NEGATIVE_INFINITY) + everyMs - clock.elapsed();
    if (leftMs > 0) return again(leftMs);
    const shortages = shortagesOf(claim, node);
    for (const message of shortages)
      recorder.publish({ subject: aboutClaim(claim), type: 'Warning', reason: 'FailedConsistencyCheck', message });
    const change =
      shortages.length === 0
        ? ({ status: 'True' } as const)
        : ({
            status: 'False',
            reason: conditionReason.consistencyCheckFailed,
            message: 'Consistency Check Failed',
          } as const);
    const next = withCondition(claim, { type: conditionType.consistentStateFound, ...change }, clock.now());
    cluster.setClaim(await patchStatus(kube, nodeClaims, claim, next));
    checkedMs.set(name, clock.elapsed());
    return again(everyMs);
  };

  const arrivals = source(resources.nodes, ({ before, after }) =>
    before === undefined
      ? cluster.claims.filedUnder(after?.spec?.providerID ?? '').map(({ metadata }) => metadata.name ?? '')
      : [],
  );
  const controller = claimController('nodeclaim.consistency', context, check, [arrivals]);
  return {
    ...controller,
    async reconcile(key, signal) {
      if (cluster.claims.get(key) === undefined) checkedMs.delete(key);
      return controller.reconcile(key, signal);
    },
  };
}

/** What the node has too little of, among what was asked for. */
function shortagesOf(claim: NodeClaim, node: Node): string[] {
  return Object.keys(claim.spec.resources?.requests ?? {}).flatMap((name) => {
    const expected = parseQuantity(claim.status?.capacity?.[name] ?? '0');
    const found = parseQuantity(node.status?.capacity?.[name] ?? '0');
    if (expected.nano === 0n) return [];
    const share = Number(found.nano) / Number(expected.nano);
    if (share >= leastShare) return [];
    const percent = (share * 100).toFixed(1);
    return [
      `expected ${formatQuantity(expected)} of resource ${name}, but found ${formatQuantity(found)} (${percent}% of expected)`,
    ];
  });
}
