// The last look before the nodes of a command go, at what is stored. A command was decided on caches, and minutes may have
// passed since; marks keep new pods away, but a pod that came just before them may be in no cache yet. So right before the
// claims are deleted each node is read anew, and the command is put back if it does not hold any more:
//
// 1. the node says that it must not be disrupted (repaired);
// 2. it has a pod that no place was found for, or one that may not be moved any more; a broken node goes with its pods;
// 3. it was to be repaired and is well again.
import { annotation, type NodeClaim } from '../../api/index.ts';
import { type Command, RepairPolicies } from '../../core/index.ts';
import { type Node, type Pod, resources } from '../../ports/index.ts';
import { isActive, isDoNotDisruptActive, isDrainable, isReschedulable, keyOf } from '../../state/index.ts';
import type { ControllerContext } from '../context.ts';
import { healthOf } from '../health/health.ts';
import { storedObject, storedPods } from '../ownership/stored.ts';

/** Why the node of the claim may not go after all; undefined if it may. Throws if that cannot be known. */
export async function lastLook(
  context: ControllerContext,
  command: Command,
  claim: NodeClaim,
): Promise<string | undefined> {
  const member = command.members.find(({ machine }) => machine.claim?.metadata.name === claim.metadata.name);
  const machine = context.cluster.machines.ofClaim(claim.metadata.name ?? '');
  // The cache may have lost the Node since the command was decided.
  const name = (machine?.node ?? member?.machine.node)?.metadata.name;
  const node = name === undefined ? undefined : await storedObject(context, resources.nodes, name);
  if (member === undefined || node === undefined || node.spec?.providerID !== claim.status?.providerID)
    return undefined;
  const isRepair = command.reason === 'Unhealthy';
  const kept = isRepair ? annotation.doNotRepair : annotation.doNotDisrupt;
  if (node.metadata.annotations?.[kept] === 'true') return `Node ${name} has annotation ${kept}`;
  if (isRepair) return isWellAgain(context, node) ? `Node ${name} is well again` : undefined;
  return podProblem(context, command, claim, await storedPods(context, node.metadata.name ?? ''), member.pods);
}

function podProblem(
  { time }: ControllerContext,
  { reason }: Command,
  claim: NodeClaim,
  stored: readonly Pod[],
  planned: Command['members'][number]['pods'],
): string | undefined {
  const nowMs = time.cautiousNow();
  const known = new Set(planned.map(({ metadata }) => metadata.uid));
  const moving = stored.filter((pod) => isReschedulable(pod) && isDrainable(pod, nowMs));
  const unplanned = moving.find(({ metadata }) => !known.has(metadata.uid));
  if (unplanned !== undefined) return `pod ${keyOf(unplanned)} came to it, and no place was found for that one`;
  // What drifted goes by the deadline of its claim, whatever its pods say.
  if (reason === 'Drifted' && claim.spec.terminationGracePeriod !== undefined) return undefined;
  const kept = moving.find((pod) => isActive(pod) && isDoNotDisruptActive(pod, nowMs));
  return kept === undefined ? undefined : `pod ${keyOf(kept)} has annotation ${annotation.doNotDisrupt} now`;
}

/** Well for good, or well while the cache has yet to hear of it: a condition that comes and goes was judged before. */
function isWellAgain(context: ControllerContext, node: Node): boolean {
  const policies = new RepairPolicies(context.cloud.repairPolicies());
  if (policies.isUnhealthy(node as never)) return false;
  const name = node.metadata.name ?? '';
  const cached = context.cluster.nodes.get(name);
  const isBehind = cached !== undefined && policies.isUnhealthy(cached as never);
  return isBehind || healthOf(context).since(name) === undefined;
}
