// The nodes that a command brings before others go: all of them are created, or the command does not begin.
import type { NodeClaim } from '../../api/index.ts';
import { KerfError } from '../../base/index.ts';
import type { Command, Replacement } from '../../core/index.ts';
import { isOwnedByDaemonSet } from '../../state/index.ts';
import type { ControllerContext } from '../context.ts';
import { endClaim } from '../nodeclaim/end-claim.ts';
import { storedPods } from '../ownership/stored.ts';
import { createFromTemplate, createNodeClaim } from '../provisioning/create-node-claim.ts';
import { provisioningMetrics } from '../provisioning/metrics.ts';
import { nodeClaimFor } from '../provisioning/node-claim.ts';
import type { NodeCounts } from '../static/node-counts.ts';
import { templateClaim } from '../static/provisioning.ts';

/** Names of the NodeClaims, in the order of the command's replacements; none stays if one cannot be created. */
export async function createReplacements(
  context: ControllerContext,
  counts: NodeCounts,
  command: Command,
): Promise<{ name: string; isReady: boolean }[]> {
  const outcomes = await Promise.allSettled(command.replacements.map((each) => create(context, counts, each, command)));
  const created = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value.metadata.name ?? ''] : []));
  const failure = outcomes.find((each) => each.status === 'rejected');
  if (failure !== undefined) {
    await withdrawReplacements(context, command, created);
    throw failure.reason;
  }
  return created.map((name) => ({ name, isReady: false }));
}

/**
 * Replacements that came in vain: consolidation needs all of them or none, so what nothing runs on is removed again.
 * Drifted nodes go anyway, and the next try finds room on what has come.
 */
export async function withdrawReplacements(
  context: ControllerContext,
  { reason }: Command,
  names: readonly string[],
): Promise<void> {
  const { cluster, log } = context;
  if (reason !== 'Underutilized') return;
  for (const name of names) {
    const claim = cluster.claims.get(name);
    const machine = cluster.machines.ofClaim(name);
    if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) continue;
    const isUsed =
      machine !== undefined &&
      (cluster.isNominated(machine) ||
        [...cluster.pods.on(machine.node?.metadata.name ?? '')].some((pod) => !isOwnedByDaemonSet(pod)));
    // Pods have come to it meanwhile: consolidation decides about it like about any other.
    if (isUsed) continue;
    const message = 'came with others that could not come, so nothing was replaced';
    try {
      const node = machine?.node?.metadata.name;
      const stored = node === undefined ? [] : await storedPods(context, node);
      if (stored.some((pod) => !isOwnedByDaemonSet(pod))) continue;
      await endClaim(context, claim, { code: 'ReplacementWithdrawn', message, silent: true });
    } catch (error) {
      // It is empty: emptiness removes it later.
      log.error('cannot withdraw a replacement', error, { controller: 'disruption.queue', NodeClaim: { name } });
    }
  }
}

async function create(
  context: ControllerContext,
  counts: NodeCounts,
  replacement: Replacement,
  command: Command,
): Promise<NodeClaim> {
  const { cluster, cloud } = context;
  const poolName = replacement.kind === 'planned' ? replacement.node.nodePool : replacement.nodePool;
  const pool = cluster.nodePools.get(poolName);
  if (pool === undefined) throw new KerfError('NodePoolGone', `NodePool ${poolName} was deleted while deciding`);
  const { created } = provisioningMetrics(context.metrics);
  const author = { controller: 'disruption', reason: command.reason.toLowerCase(), created };
  if (replacement.kind === 'template') {
    if (counts.reserve(pool, 1) === 0) {
      throw new KerfError('LimitExceeded', `NodePool ${poolName} is at its node limit`);
    }
    try {
      return await createFromTemplate(context, templateClaim(pool, cloud.facts), author);
    } finally {
      counts.release(pool, 1);
    }
  }
  const { node: planned } = replacement;
  const types = await cloud.instanceTypes(pool);
  const names = new Set(planned.instanceTypes);
  const chosen = types.filter((type) => names.has(type.name));
  const claim = nodeClaimFor(planned, { pool, instanceTypes: types, facts: cloud.facts });
  const replaced = new Set(command.members.map((member) => member.machine.claim?.metadata.name ?? ''));
  const room = { pool, chosen, offered: types, replaced };
  return createNodeClaim(context, room, { claim, planned, pods: planned.pods }, author);
}
