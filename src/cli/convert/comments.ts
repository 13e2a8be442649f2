// Comments are people's words: those on fields that went away are kept at the end of their document.
import { type Document, isNode, isPair, type Node, visit } from 'yaml';

/** Every line of comment in a tree, in order, without its blanks. */
export function commentLines(tree: Document | Node): string[] {
  const lines: string[] = [];
  const add = (text: string | null | undefined): void => {
    for (const line of (text ?? '').split('\n')) if (line.trim() !== '') lines.push(line.trim());
  };
  if (!isNode(tree)) {
    add(tree.commentBefore);
    add(tree.comment);
  }
  visit(tree, (_key, node) => {
    if (isPair(node) || !isNode(node)) return;
    add(node.commentBefore);
    add(node.comment);
  });
  return lines;
}

/** Appends what of `before` is nowhere in `after`; true if there was something. */
export function keepComments(document: Document, before: readonly string[], after: ReadonlySet<string>): boolean {
  const lost = before.filter((line) => !after.has(line));
  if (lost.length === 0) return false;
  const old = document.comment ? `${document.comment}\n` : '';
  document.comment = `${old}${[...new Set(lost)].map((line) => ` ${line}`).join('\n')}`;
  return true;
}
