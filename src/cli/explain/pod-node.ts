// What a pod that runs has to do with its node: whether it keeps it, and what becomes of that.
import { atOnce } from '../../base/index.ts';
import { type NodeVerdict, nodeVerdicts, type Round } from '../../core/index.ts';
import { counted, type Paint } from '../output/index.ts';
import { isOnItsWayOut } from './render-verdict.ts';

export interface PodsNode {
  nodeVerdict: NodeVerdict;
  /** Those of the node's blockers that are about this pod. */
  keepsNode: NodeVerdict['blockers'];
}

/** `pod` is `namespace/name`; undefined for a node that nobody knows. */
export function nodeOfPod(round: Round, pod: string, node: string): PodsNode | undefined {
  const isIts = nodeVerdicts(round, ({ machine }) => machine.node?.metadata.name === node);
  const [nodeVerdict] = atOnce(isIts);
  if (nodeVerdict === undefined) return undefined;
  const keepsNode = nodeVerdict.blockers.filter(
    ({ pods, message }) => pods?.includes(pod) === true || message.includes(`(Pod=${pod})`),
  );
  return { nodeVerdict, keepsNode };
}

export function renderNodeOfPod({ nodeVerdict, keepsNode }: PodsNode, paint: Paint): string {
  const lines = keepsNode.flatMap(({ code, message, suggestion }) => [
    `  keeps its node: ${message} (${code})`,
    ...(suggestion === undefined ? [] : [`     ${paint.dim(suggestion)}`]),
  ]);
  lines.push(`  ${nodeText(nodeVerdict)}; kerf explain node ${nodeVerdict.node}`);
  return `${lines.join('\n')}\n`;
}

function nodeText(about: NodeVerdict): string {
  if (isOnItsWayOut(about)) return 'its node is on its way out';
  const { verdict, reason, blockers } = about;
  if (verdict === 'keep') return `its node stays: ${counted(blockers.length, 'thing')} would have to change`;
  return `its node would be ${verdict === 'remove' ? 'removed' : 'replaced'} (${reason})`;
}
