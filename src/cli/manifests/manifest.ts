// One manifest as read from somewhere: its plain value, what was wrong with its text, and where each field stands.
// Places are worked out only when someone asks, because most manifests have nothing to report.
import type { Chunk } from './chunks.ts';
import type { FieldPath } from './field-path.ts';

export interface Position {
  /** Both count from 1, in the file the manifest came from. */
  line: number;
  column: number;
}

export interface SyntaxProblem extends Position {
  /** `syntax`, `duplicate-key`, `alias`; stable. */
  code: 'syntax' | 'duplicate-key' | 'alias';
  message: string;
  /** What to write instead, when that is known. */
  fix?: string;
  field: FieldPath;
}

export interface Manifest {
  /** The file as the user named it; `stdin` for standard input. */
  file: string;
  /** Line of the manifest's first word. */
  line: number;
  format: 'yaml' | 'json';
  /** Set for samples inside a text document: the line of the fence that opens the code block. */
  fenceLine?: number;
  /** The manifest's own text, without the indent of an embedding document. */
  text: string;
  /** Plain data; undefined when the text could not be understood at all. */
  value: unknown;
  problems: readonly SyntaxProblem[];
  /** Where a field stands, or the nearest field around it that is written. */
  locate(path: FieldPath): Position;
  /** The lines that a field and what is below it take, comments included. */
  sourceOf(path: FieldPath): string;
}

/** Offset in a chunk to line and column in its file. */
export function positionAt(chunk: Chunk, offset: number): Position {
  const starts = lineStarts(chunk);
  // The last line that starts at the offset or before it.
  let [low, high] = [0, starts.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle;
  }
  return { line: low + 1 + chunk.lineOffset, column: offset - (starts[low] ?? 0) + 1 + chunk.columnOffset };
}

/** Counted once: a chunk of many megabytes may hold many objects, with something to report in each. */
const knownStarts = new WeakMap<Chunk, number[]>();

function lineStarts(chunk: Chunk): number[] {
  const known = knownStarts.get(chunk);
  if (known !== undefined) return known;
  const starts = [0];
  const { text } = chunk;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  knownStarts.set(chunk, starts);
  return starts;
}

/** The line of `offset`, the comments right above it, and the lines below that belong to the same field or list item. */
export function blockAt(text: string, offset: number): string {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  const column = offset - lineStart;
  const isItem = /- *$/.test(text.slice(lineStart, offset));
  let end = endOfLine(text, offset);
  while (end < text.length) {
    const nextEnd = endOfLine(text, end + 1);
    const line = text.slice(end + 1, nextEnd);
    const indent = line.search(/[^ ]/);
    const content = line.slice(Math.max(0, indent));
    const belongs = indent < 0 || content.startsWith('#') || indent > column;
    // The item's other fields stand in its own column; a key's list may stand in the key's column.
    if (!belongs && !(indent === column && (isItem || content.startsWith('- ')))) break;
    end = nextEnd;
  }
  return text.slice(startOfComments(text, lineStart), end);
}

function startOfComments(text: string, lineStart: number): number {
  let start = lineStart;
  while (start > 0) {
    const above = text.lastIndexOf('\n', start - 2) + 1;
    if (!/^\s*#/.test(text.slice(above, start))) break;
    start = above;
  }
  return start;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}
