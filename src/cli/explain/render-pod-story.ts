// A pod's story in words for a terminal.
import type { PodStory } from '../../view/index.ts';
import { counted, type Paint, wrapText } from '../output/index.ts';
import { price } from '../plan/money.ts';
import { reasonLines } from '../plan/render-reasons.ts';

export function renderPodStory(story: PodStory, { paint, columns }: { paint: Paint; columns: number }): string {
  const lines = [`${paint.bold(story.pod)}  ${story.message}`];
  const { newNode, doesWithout = [], reasons = [] } = story;
  if (newNode !== undefined) {
    const { instanceType, zone, capacityType, pricePerHour } = newNode.chosen;
    const others = newNode.instanceTypes.length - 1;
    lines.push(
      `  ${instanceType} in ${zone}, ${capacityType}, ${price(pricePerHour)}` +
        `${others > 0 ? `, or one of ${counted(others, 'other type')}` : ''}; shared by ${counted(newNode.pods.length, 'pod')}`,
    );
  }
  const indented = (text: string, by: number): string[] =>
    wrapText(text, Math.max(40, columns - by)).map((line) => ' '.repeat(by) + line);
  lines.push(...reasonLines(reasons, { paint, columns, indent: 2, withCodes: true }));
  if (doesWithout.length > 0) {
    lines.push(`  ${reasons.length > 0 ? 'even without what it prefers:' : 'it does without what it prefers:'}`);
    for (const each of doesWithout) lines.push(...indented(each.replace(/^removing: /, ''), 4).map(paint.dim));
  }
  return `${lines.join('\n')}\n`;
}
