// Which Node and which NodeClaim are the same machine. The provider id alone does not say so: a kubelet may write any when it
// joins, and a Node that names the machine of another must not speak for it. A claim says which Node it registered.
import type { NodeClaim } from '../api/index.ts';
import type { Node } from '../ports/index.ts';
import type { ControllerContext } from './context.ts';

type Known = Pick<ControllerContext, 'cluster'>;

/** Claims with the provider id of the Node that do not name another Node. */
export function claimsOfNode({ cluster }: Known, { metadata, spec }: Node): NodeClaim[] {
  return cluster.claims
    .filedUnder(spec?.providerID ?? '')
    .filter(({ status }) => !status?.nodeName || status.nodeName === metadata.name);
}

/** Nodes with the provider id of the claim: the one that it names, if that is among them. */
export function nodesOfClaim({ cluster }: Known, { status }: NodeClaim): Node[] {
  const nodes = cluster.nodes.filedUnder(status?.providerID ?? '');
  const named = nodes.filter(({ metadata }) => metadata.name === status?.nodeName);
  return named.length > 0 ? named : nodes;
}
