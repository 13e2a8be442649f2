// The story of a claim that is not a machine yet, for a terminal.
import type { ClaimStory } from '../../view/index.ts';
import { counted, type Paint, wrapText } from '../output/index.ts';

export function renderClaimStory(story: ClaimStory, { paint, columns }: { paint: Paint; columns: number }): string {
  const { nodeClaim, nodePool, message, conditions, instanceTypes, pausedUntil } = story;
  const lines = [`${paint.bold(nodeClaim)}  ${nodePool ?? 'no NodePool'}  ${message}`];
  const indented = (text: string): string[] => wrapText(text, Math.max(40, columns - 2)).map((line) => `  ${line}`);
  for (const { type, status, reason, message: said } of conditions)
    lines.push(...indented(`${type} is ${status}: ${reason}${said ? `, ${said}` : ''}`));
  if (instanceTypes > 0) lines.push(`  it may become one of ${counted(instanceTypes, 'instance type')}`);
  if (pausedUntil !== undefined) lines.push(`  launches of NodePool ${nodePool} are paused until ${pausedUntil}`);
  return `${lines.join('\n')}\n`;
}
