// What a pod has to do with its node, in words.
import type { NodeVerdict } from '../../core/index.ts';
import type { PodsNode } from '../../view/index.ts';
import { counted, type Paint } from '../output/index.ts';
import { isOnItsWayOut } from './render-verdict.ts';
import { usefulSteps } from './useful-steps.ts';

export function renderNodeOfPod({ nodeVerdict, keepsNode }: PodsNode, paint: Paint): string {
  const useful = new Set(usefulSteps(nodeVerdict));
  const lines = keepsNode.flatMap((blocker) => [
    `  keeps its node: ${blocker.message} (${blocker.code})`,
    // Where the node stays in the end, changing the pod is in vain.
    ...(blocker.suggestion === undefined || !useful.has(blocker) ? [] : [`     ${paint.dim(blocker.suggestion)}`]),
  ]);
  lines.push(`  ${nodeText(nodeVerdict)}; kerf explain node ${nodeVerdict.node}`);
  return `${lines.join('\n')}\n`;
}

function nodeText(about: NodeVerdict): string {
  const { verdict, reason, blockers } = about;
  if (blockers[0]?.code === 'DrainBlocked') return `its node is on its way out, ${blockers[0].message}`;
  if (isOnItsWayOut(about)) return 'its node is on its way out';
  const steps = usefulSteps(about);
  const [first] = steps;
  if (verdict === 'keep' && first?.suggestion?.startsWith('nothing to do') === true)
    return `its node stays: ${first.suggestion.replace(/^nothing to do: /, '')}`;
  if (verdict === 'keep') return `its node stays: ${counted(steps.length, 'thing')} would have to change`;
  return `its node would be ${verdict === 'remove' ? 'removed' : 'replaced'} (${reason})`;
}
