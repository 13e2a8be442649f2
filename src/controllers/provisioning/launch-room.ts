// Room under a pool's limits, taken before a claim is written: whoever makes claims, and however many do so at once, their
// pool never has more than it may. What counts is every machine that stays, every claim that is still to become one (as
// the largest it may become), and the room others have taken for claims that are being written right now.
import { label, type NodeClaim, type NodePool } from '../../api/index.ts';
import { addQuantities, compareQuantities, formatQuantity, KerfError, parseQuantity } from '../../base/index.ts';
import type { InstanceTypeSpec } from '../../core/index.ts';
import { isKubeError } from '../../ports/index.ts';
import { capacityOf, isLeaving, largestOf, nodePoolOf } from '../../state/index.ts';
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
export async function createInRoom(
  context: Pick<ControllerContext, 'clock' | 'cluster' | 'kube' | 'ledger'>,
  wanted: Wanted,
  claim: NodeClaim,
  pods: readonly string[],
): Promise<NodeClaim> {
  const { clock, cluster, kube, ledger } = context;
  const giveBack = takeRoom(context, wanted);
  try {
    const written = await kube.create(nodeClaims, claim);
    ledger.add(written.metadata.name ?? '', wanted.pool.metadata.name ?? '', pods, wanted.chosen);
    cluster.setClaim(written);
    giveBack();
    return written;
  } catch (error) {
    // Without an answer it may be there all the same: its room is nobody else's until the watch must have told.
    if (isKubeError(error) && error.status >= 400 && error.status < 500) giveBack();
    else clock.after(unheardMs, giveBack);
    throw error;
  }
}

/** Throws if there is no room; otherwise it is held until the result is called. */
export function takeRoom(context: Room, wanted: Wanted): () => void {
  const { pool, chosen } = wanted;
  settleLaunches(context);
  const name = pool.metadata.name ?? '';
  const limits = Object.entries(pool.spec.limits ?? {});
  const used = limits.length === 0 ? [] : [...usersOf(context, wanted), { ...largestOf(chosen), nodes: '1' }];
  for (const [resource, limit] of limits) {
    const usage = used.reduce(
      (sum, amounts) => addQuantities(sum, parseQuantity(amounts[resource] ?? '0')),
      parseQuantity('0'),
    );
    if (compareQuantities(usage, parseQuantity(limit)) <= 0) continue;
    throw new KerfError(
      'LimitExceeded',
      `resource usage exceeds limit (limit=${limit}, resource-name=${resource}, usage=${formatQuantity(usage)})`,
      { subject: `NodePool ${name}`, retryable: true },
    );
  }
  return context.ledger.hold(name, chosen);
}

function usersOf({ cluster, ledger }: Room, { pool, offered, replaced }: Wanted): Record<string, string | number>[] {
  const name = pool.metadata.name ?? '';
  const users: Record<string, string | number>[] = [];
  for (const machine of cluster.machines.all()) {
    if (nodePoolOf(machine) !== name || isLeaving(machine)) continue;
    if (replaced?.has(machine.claim?.metadata.name ?? '')) continue;
    users.push({ ...capacityOf(machine), nodes: '1' });
  }
  const listed = new Set(ledger.claims());
  for (const claim of cluster.claims.list()) {
    const { name: claimName = '', labels, deletionTimestamp } = claim.metadata;
    if (labels?.[label.nodePool] !== name || deletionTimestamp !== undefined || claim.status?.providerID) continue;
    if (!listed.has(claimName)) users.push({ ...largestOf(typesOf(claim, offered)), nodes: '1' });
  }
  const held = ledger.heldBack(name);
  return held === undefined ? users : [...users, held];
}

function typesOf({ spec }: NodeClaim, offered: readonly InstanceTypeSpec[]): InstanceTypeSpec[] {
  const named = spec.requirements.find(({ key, operator }) => key === label.instanceType && operator === 'In')?.values;
  return named === undefined ? [...offered] : offered.filter((type) => named.includes(type.name));
}
