// Third step: the node is ready for pods. Its taints are gone and everything that was asked for has appeared. Only a
// reboot takes that back, and then it is asked again.
import { conditionReason, conditionType, label, type NodeClaim } from '../../../api/index.ts';
import { parseQuantity } from '../../../base/index.ts';
import { describeTaint, isEphemeral, sameTaint } from '../../../core/index.ts';
import { type Node, resources } from '../../../ports/index.ts';
import type { ControllerContext } from '../../context.ts';
import { nodesOfClaim } from '../../node-and-claim.ts';
import { patchObject } from '../../writes.ts';
import { claimCondition, restamped, withCondition } from '../claim-conditions.ts';
import { daemonRoom, isHeld, lookAgainMs } from './daemon-room.ts';
import { driversWithoutPool, resourceSlices } from './dra-pools.ts';
import type { Step } from './step.ts';

/** More names than this say nothing more. */
const mostNames = 5;

interface Missing {
  reason: string;
  message: string;
}

export function initialization(context: ControllerContext): Step {
  const { clock, cluster, kube, log, settings } = context;
  const room = daemonRoom(context);

  const whatIsMissing = (claim: NodeClaim, node: Node): Missing | undefined =>
    missingFromNode(claim, node) ?? (settings.ignoreDraRequests ? undefined : missingDevices(claim, node));

  const missingDevices = (claim: NodeClaim, node: Node): Missing | undefined => {
    const slices = context.cacheOf(resourceSlices).values();
    const [driver] = driversWithoutPool(claim, node.metadata.name ?? '', slices);
    if (driver === undefined) return undefined;
    return {
      reason: conditionReason.draDriverPoolsNotPublished,
      message: `DRA driver "${driver}" has not published a complete resource pool`,
    };
  };

  return async (claim) => {
    if (claimCondition(claim, conditionType.initialized)?.status !== 'Unknown') {
      return { claim: restamped(claim, conditionType.initialized, clock.now()) };
    }
    // The boot that is about to end may look ready.
    if (claimCondition(claim, conditionType.rebooting)?.status === 'True') return { claim };
    if (claimCondition(claim, conditionType.registered)?.status !== 'True') return { claim };
    const unknown = ({ reason, message }: Missing): { claim: NodeClaim } => ({
      claim: withCondition(claim, { type: conditionType.initialized, status: 'Unknown', reason, message }, clock.now()),
    });
    const [found, ...others] = nodesOfClaim(context, claim);
    if (found === undefined || others.length > 0) {
      return unknown({ reason: conditionReason.nodeNotFound, message: 'Node not registered with cluster' });
    }
    const daemons = isHeld(found) ? room.waitsFor(found) : undefined;
    if (daemons !== undefined) {
      const message = `pods of DaemonSets are not bound yet: ${daemons.slice(0, mostNames).join(', ')}`;
      return { ...unknown({ reason: conditionReason.daemonSetsNotBound, message }), againMs: lookAgainMs };
    }
    const node = isHeld(found) ? await room.release(found) : found;
    const missing = whatIsMissing(claim, node);
    if (missing !== undefined) return unknown(missing);
    const labels = { ...node.metadata.labels, [label.initialized]: 'true' };
    const written = await patchObject(kube, resources.nodes, node, { ...node, metadata: { ...node.metadata, labels } });
    cluster.setNode(written);
    const afterWrite = (): void =>
      log.info('initialized nodeclaim', {
        controller: 'nodeclaim.lifecycle',
        NodeClaim: { name: claim.metadata.name },
        Node: { name: node.metadata.name },
        'provider-id': claim.status?.providerID,
        allocatable: node.status?.allocatable,
      });
    return {
      claim: withCondition(claim, { type: conditionType.initialized, status: 'True' }, clock.now()),
      afterWrite,
    };
  };
}

/** The first thing that keeps a node from being initialized, in the order in which they are reported. */
function missingFromNode(claim: NodeClaim, node: Node): Missing | undefined {
  const isReady = node.status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True');
  if (!isReady) return { reason: conditionReason.nodeNotReady, message: 'Node status is NotReady' };
  const taints = node.spec?.taints ?? [];
  const startup = taints.find((each) => claim.spec.startupTaints?.some((wanted) => sameTaint(wanted, each)));
  if (startup !== undefined) {
    return {
      reason: conditionReason.startupTaintsExist,
      message: `StartupTaint "${describeTaint(startup)}" still exists`,
    };
  }
  const ephemeral = taints.find((each) => isEphemeral(each));
  if (ephemeral !== undefined) {
    return {
      reason: conditionReason.knownEphemeralTaintsExist,
      message: `KnownEphemeralTaint "${describeTaint(ephemeral)}" still exists`,
    };
  }
  for (const [name, wanted] of Object.entries(claim.spec.resources?.requests ?? {})) {
    if (isZero(wanted) || !isZero(node.status?.allocatable?.[name] ?? '0')) continue;
    return {
      reason: conditionReason.resourceNotRegistered,
      message: `Resource "${name}" was requested but not registered`,
    };
  }
  return undefined;
}

function isZero(quantity: string | number): boolean {
  return parseQuantity(quantity).nano === 0n;
}
