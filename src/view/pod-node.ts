// What a pod that runs has to do with its node: whether it keeps it, and what becomes of that.
import { atOnce } from '../base/index.ts';
import { type NodeVerdict, nodeVerdicts, type Round } from '../core/index.ts';

export interface PodsNode {
  nodeVerdict: NodeVerdict;
  /** Those of the node's blockers that are about this pod. */
  keepsNode: NodeVerdict['blockers'];
}

/** `pod` is `namespace/name`; undefined for an unknown node. */
export function nodeOfPod(round: Round, pod: string, node: string): PodsNode | undefined {
  const isIts = nodeVerdicts(round, ({ machine }) => machine.node?.metadata.name === node);
  const [nodeVerdict] = atOnce(isIts);
  if (nodeVerdict === undefined) return undefined;
  const keepsNode = nodeVerdict.blockers.filter(
    ({ pods, message }) => pods?.includes(pod) === true || message.includes(`(Pod=${pod})`),
  );
  return { nodeVerdict, keepsNode };
}
