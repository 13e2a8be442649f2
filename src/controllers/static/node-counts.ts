// How many nodes a pool has, wants and may have. Counts come from the claims themselves; only two things are remembered
// here: claims a disruption command is about to replace, and room under the pool's node limit that someone took but has
// not turned into a claim yet. Whoever creates nodes for a static pool asks here first, so that two of them together stay
// within the limit.
import { label, type NodeClaim, type NodePool } from '../../api/index.ts';
import { countsWhileLeaving, isClaimLeaving, nodesLeft } from '../../core/index.ts';
import type { Cluster } from '../../state/index.ts';

export interface PoolNodes {
  /** Staying: also those not launched or not initialized yet. */
  active: NodeClaim[];
  deleting: number;
  pendingDisruption: number;
}

export class NodeCounts {
  private readonly cluster: Cluster;
  private readonly pending = new Set<string>();
  private readonly taken = new Map<string, number>();

  constructor(cluster: Cluster) {
    this.cluster = cluster;
  }

  of(pool: string): PoolNodes {
    const nodes: PoolNodes = { active: [], deleting: 0, pendingDisruption: 0 };
    for (const claim of this.cluster.claims.list()) {
      if (claim.metadata.labels?.[label.nodePool] !== pool) continue;
      if (this.isLeaving(claim)) nodes.deleting += 1;
      else if (this.pending.has(claim.metadata.uid ?? '')) nodes.pendingDisruption += 1;
      else nodes.active.push(claim);
    }
    return nodes;
  }

  /** A command will replace these claims, or no longer will. */
  setPendingDisruption(claims: Iterable<NodeClaim>, isPending: boolean): void {
    for (const { metadata } of claims) {
      if (isPending) this.pending.add(metadata.uid ?? '');
      else this.pending.delete(metadata.uid ?? '');
    }
  }

  /** Takes room for up to `wanted` new nodes; returns how many were granted. Each is given back by `release`. */
  reserve(pool: NodePool, wanted: number): number {
    const name = pool.metadata.name ?? '';
    const { active, deleting, pendingDisruption } = this.of(name);
    const taken = this.taken.get(name) ?? 0;
    const room = nodesLeft(pool, active.length + (countsWhileLeaving(pool) ? deleting : 0) + pendingDisruption + taken);
    const granted = Math.max(0, Math.min(wanted, room));
    this.taken.set(name, taken + granted);
    return granted;
  }

  /** A node that room was taken for now counts by itself, or did not come to be. */
  release(pool: NodePool, nodes: number): void {
    const name = pool.metadata.name ?? '';
    const left = (this.taken.get(name) ?? 0) - nodes;
    if (left > 0) this.taken.set(name, left);
    else this.taken.delete(name);
  }

  private isLeaving(claim: NodeClaim): boolean {
    return isClaimLeaving(claim) || this.cluster.machines.ofClaim(claim.metadata.name ?? '')?.marked === true;
  }
}
