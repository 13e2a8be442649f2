// The one place where NodeClaims are created and announced (model, metric, log). A planned one takes room under its pool's
// limits first: whoever creates them, and however many do so at once, their pool never has more than it may. What counts is
// every machine that stays, every claim that is still to become one (as the largest it may become), and the room others
// have taken for claims that are being written right now.
import { label, type NodeClaim, type NodePool } from '../../api/index.ts';
import { KerfError, shortList } from '../../base/index.ts';
import { exceededLimit, type InstanceTypeSpec, type PlannedNode } from '../../core/index.ts';
import { isKubeError } from '../../ports/index.ts';
import { limitsInUse } from '../../state/index.ts';
import type { ControllerContext } from '../context.ts';
import { nodeClaims } from '../own-resources.ts';
import { settleLaunches } from '../planning.ts';
import type { ProvisioningMetrics } from './metrics.ts';

type Room = Pick<ControllerContext, 'cluster' | 'ledger'>;

export interface Wanted {
  pool: NodePool;
  /** What the new claim may become. */
  chosen: readonly InstanceTypeSpec[];
  /** Everything the pool may have, to look up what earlier claims may become. */
  offered: readonly InstanceTypeSpec[];
  /** Claims that go when the new one has come. */
  replaced?: ReadonlySet<string>;
}

/** As long as the news of a claim may take that was written without an answer. */
const unheardMs = 10_000;

type Parts = Pick<ControllerContext, 'clock' | 'cluster' | 'kube' | 'ledger' | 'log'>;

/** Who creates a NodeClaim and why, as logs and metrics say it. */
export interface Author {
  controller: string;
  reason: string;
  created: ProvisioningMetrics['created'];
}

export interface PlannedClaim {
  claim: NodeClaim;
  planned: PlannedNode;
  /** Pods that it is made for; those of a probe stay in every plan. */
  pods: readonly string[];
}

/** Writes a claim in room of its own; from then on the model and the ledger speak for it. */
export async function createNodeClaim(
  context: Parts,
  wanted: Wanted,
  { claim, planned, pods }: PlannedClaim,
  author: Author,
): Promise<NodeClaim> {
  const { clock, cluster, kube, ledger } = context;
  const giveBack = holdLimits(context, wanted);
  try {
    const written = await kube.create(nodeClaims, claim);
    ledger.add(written.metadata.name ?? '', planned.nodePool, pods, wanted.chosen);
    cluster.setClaim(written);
    giveBack();
    announce(context, written, author, planned);
    return written;
  } catch (error) {
    // Without an answer it may be there all the same: its room is no one else's until the watch must have shown it.
    if (isKubeError(error) && error.status >= 400 && error.status < 500) giveBack();
    else clock.after(unheardMs, giveBack);
    throw error;
  }
}

/** Writes a claim of a static pool, whose nodes are counted before (`NodeCounts`). */
export async function createFromTemplate(context: Parts, claim: NodeClaim, author: Author): Promise<NodeClaim> {
  const written = await context.kube.create(nodeClaims, claim);
  context.cluster.setClaim(written);
  announce(context, written, author);
  return written;
}

function announce(
  { log }: Parts,
  claim: NodeClaim,
  { controller, reason, created }: Author,
  planned?: PlannedNode,
): void {
  const nodepool = claim.metadata.labels?.[label.nodePool] ?? '';
  created.add({
    reason,
    nodepool,
    min_values_relaxed: planned?.annotations['karpenter.sh/nodeclaim-min-values-relaxed'] ?? 'false',
  });
  log.info('created nodeclaim', {
    controller,
    NodePool: { name: nodepool },
    NodeClaim: { name: claim.metadata.name },
    ...(planned && { requests: planned.requests, 'instance-types': shortList(planned.instanceTypes, 5) }),
  });
}

/** Throws if there is no room; otherwise it is held until the result is called. */
export function holdLimits(context: Room, wanted: Wanted): () => void {
  const { pool, chosen } = wanted;
  settleLaunches(context);
  const name = pool.metadata.name ?? '';
  const { cluster, ledger } = context;
  const giveBack = ledger.hold(name, chosen);
  const exceeded =
    pool.spec.limits === undefined
      ? undefined
      : exceededLimit(pool, limitsInUse(pool, { cluster, ledger, offered: wanted.offered, replaced: wanted.replaced }));
  if (exceeded === undefined) return giveBack;
  giveBack();
  const { limit, resource, usage } = exceeded;
  throw new KerfError(
    'LimitExceeded',
    `resource usage exceeds limit (limit=${limit}, resource-name=${resource}, usage=${usage})`,
    { subject: `NodePool ${name}`, retryable: true },
  );
}
