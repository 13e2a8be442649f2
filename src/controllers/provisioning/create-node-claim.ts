// Room under a pool's limits, taken before a claim is written: whoever makes claims, and however many do so at once, their
// pool never has more than it may. What counts is every machine that stays, every claim that is still to become one (as
// the largest it may become), and the room others have taken for claims that are being written right now.
import type { NodeClaim, NodePool } from '../../api/index.ts';
import { KerfError } from '../../base/index.ts';
import { exceededLimit, type InstanceTypeSpec } from '../../core/index.ts';
import { isKubeError } from '../../ports/index.ts';
import { limitsInUse } from '../../state/index.ts';
import type { ControllerContext } from '../context.ts';
import { nodeClaims } from '../own-resources.ts';
import { settleLaunches } from '../planning.ts';

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

/** Writes a claim in room of its own; from then on the model and the ledger speak for it. */
export async function createNodeClaim(
  context: Pick<ControllerContext, 'clock' | 'cluster' | 'kube' | 'ledger'>,
  wanted: Wanted,
  claim: NodeClaim,
  pods: readonly string[],
): Promise<NodeClaim> {
  const { clock, cluster, kube, ledger } = context;
  const giveBack = holdLimits(context, wanted);
  try {
    const written = await kube.create(nodeClaims, claim);
    ledger.add(written.metadata.name ?? '', wanted.pool.metadata.name ?? '', pods, wanted.chosen);
    cluster.setClaim(written);
    giveBack();
    return written;
  } catch (error) {
    // Without an answer it may be there all the same: its room is no one else's until the watch must have shown it.
    if (isKubeError(error) && error.status >= 400 && error.status < 500) giveBack();
    else clock.after(unheardMs, giveBack);
    throw error;
  }
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
