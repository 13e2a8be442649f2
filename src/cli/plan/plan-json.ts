// A plan as JSON on one line, in pieces: the text JSON.stringify gives, without ever holding all of it. Thousands of nodes
// share a few lists of hundreds of instance types each, so every list is written out once and repeated from then on.
import type { Plan, PlannedNode } from '../../core/index.ts';

/** Long enough that writing it is worth a call. */
const pieceLength = 256 * 1024;

export function* planJson(plan: Plan): Generator<string> {
  const { newNodes, existingNodes, unschedulable, ...head } = plan;
  const listTexts = new Map<object, string>();
  let text = `${JSON.stringify(head).slice(0, -1)},"newNodes":[`;
  for (const [at, node] of newNodes.entries()) {
    if (at > 0) text += ',';
    text += nodeJson(node, listTexts);
    if (text.length < pieceLength) continue;
    yield text;
    text = '';
  }
  yield `${text}],"existingNodes":${JSON.stringify(existingNodes)},"unschedulable":${JSON.stringify(unschedulable)}}`;
}

function nodeJson(node: PlannedNode, listTexts: Map<object, string>): string {
  let text = '';
  for (const key in node) {
    const value = node[key as keyof PlannedNode];
    const isShared = value === node.instanceTypes || value === node.requirements;
    let own = isShared ? listTexts.get(value) : undefined;
    if (own === undefined) {
      own = JSON.stringify(value);
      if (isShared) listTexts.set(value, own);
    }
    text += `${text === '' ? '{' : ','}"${key}":${own}`;
  }
  return `${text}}`;
}
