// What commands add to the metrics: once when they start, and once for each node that goes.
import { label, type NodeClaim } from '../../api/index.ts';
import { type Command, decisionOf, podCount, policyOf } from '../../core/index.ts';
import { type ClaimMetrics, snakeCase, terminationMode } from '../nodeclaim/claim-metrics.ts';
import type { DisruptionMetrics } from './metrics.ts';

/** Labels that the metrics of commands share. */
export const commandLabels = (command: Command) => ({
  decision: decisionOf(command),
  reason: command.reason.toLowerCase(),
  consolidation_type: command.consolidationType,
});

export function countStarted(metrics: DisruptionMetrics, command: Command): void {
  const labels = commandLabels(command);
  metrics.decisions.add(labels);
  for (const nodepool of new Set(command.members.map((member) => member.poolName ?? ''))) {
    metrics.decisionsByPool.add({ nodepool, ...labels });
    if (command.terminateFirst === undefined) continue;
    const { reason } = labels;
    metrics.terminateFirst.add({ nodepool, reason, terminate_first_reason: command.terminateFirst });
  }
}

export function countDisrupted(claims: ClaimMetrics, command: Command, claim: NodeClaim): void {
  const { name = '', labels } = claim.metadata;
  claims.countDisrupted(claim, command.reason.toLowerCase(), movedBy(command, name));
  const { repair } = command;
  if (repair === undefined) return;
  const bound = repair.graceMs === 0 ? 'forceful' : 'eventual';
  claims.unhealthyDisrupted.add({
    condition: snakeCase(repair.condition),
    nodepool: labels?.[label.nodePool] ?? '',
    capacity_type: labels?.[label.capacityType] ?? '',
    image_id: claim.status?.imageID ?? '',
    termination_mode: repair.graceMs === undefined ? terminationMode(claim) : bound,
  });
}

/** The policy that let a node go, and the pods that move. */
function movedBy({ members, consolidationType }: Command, claim: string): { policy: string; pods: number } {
  const member = members.find((each) => each.machine.claim?.metadata.name === claim);
  if (member === undefined) return { policy: '', pods: 0 };
  return {
    policy: consolidationType === '' ? '' : snakeCase(policyOf(member)),
    pods: podCount({ members: [member] }),
  };
}
