// Whether a Node is the claim's own. A claim's status names its machine, and whoever may write it could name any, as a kubelet
// may name any machine; before a Node is given the claim's labels, taints and finalizer, or deleted with it, it has to be the
// claim's: marked as such already, no other claim's, and on a machine that the provider launched for this cluster.
import type { NodeClaim } from '../../../api/index.ts';
import type { Node } from '../../../ports/index.ts';
import type { ControllerContext } from '../../context.ts';
import { aboutClaim } from '../../event-subjects.ts';
import { claimNamesOf, storedClaim } from '../../ownership/stored.ts';

/** Why the Node is not the claim's, in a clause that an event and the log also say; undefined when it is. */
export async function whyForeignNode(
  context: ControllerContext,
  claim: NodeClaim,
  node: Node,
): Promise<string | undefined> {
  const why = await foreignReason(context, claim, node);
  if (why === undefined) return undefined;
  const message = `Node ${node.metadata.name} is left alone: ${why}`;
  context.recorder.publish({ subject: aboutClaim(claim), type: 'Warning', reason: 'InstanceForeign', message });
  context.log.error('leaving a foreign Node alone', message, { NodeClaim: { name: claim.metadata.name } });
  return message;
}

/** The same without a word. */
export async function foreignReason(
  context: ControllerContext,
  claim: NodeClaim,
  node: Node,
): Promise<string | undefined> {
  const { name = '' } = claim.metadata;
  const providerID = node.spec?.providerID ?? '';
  const owners = claimNamesOf(node);
  if (owners.includes(name)) return undefined;
  for (const owner of owners)
    if ((await storedClaim(context, owner))?.providerID === providerID) return `it belongs to NodeClaim ${owner}`;
  return context.cloud.whyForeign?.(providerID);
}
