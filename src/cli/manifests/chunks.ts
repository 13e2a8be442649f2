// Cuts text into manifests without parsing it, so that one broken manifest does not hide the others and a file of many
// megabytes is never held as one tree. Knows `---` streams, `v1` Lists (in YAML, when long), concatenated JSON, and
// code blocks in Markdown or plain text.

export interface Chunk {
  text: string;
  format: 'yaml' | 'json';
  /** Lines of the file before this chunk, and blanks cut off before each of its lines. */
  lineOffset: number;
  columnOffset: number;
  fenceLine?: number;
  /** A piece of a long List: one item (a list with one element), or what stands before and after the items. */
  part?: 'item' | 'head' | 'tail';
}

/** From this size on a YAML List is cut into its items instead of being read as one document. */
const longList = 100_000;

const textExtensions = /\.(md|markdown|mdx|txt|rst|adoc)$/i;

/** With `keepRest` the chunks of a file, put together, are the whole file again. */
export function* chunksOf(file: string, text: string, { keepRest = false } = {}): Generator<Chunk> {
  if (isProse(file, text)) {
    for (const block of codeBlocks(text)) yield* blockChunks(block);
  } else if (/^\s*[{[]/.test(text) && !/^\s*\{\{/.test(text))
    yield { text, format: 'json', lineOffset: 0, columnOffset: 0 };
  else {
    for (const part of yamlDocuments(text)) {
      const chunk: Chunk = { text: part.text, format: 'yaml', lineOffset: part.lineOffset, columnOffset: 0 };
      for (const piece of listItems(chunk))
        if (keepRest || piece.part === undefined || piece.part === 'item') yield piece;
    }
  }
}

/** A document for people: only its code blocks hold manifests. */
export function isProse(file: string, text: string): boolean {
  const fenced = /^ {0,8}(```|~~~)/m.test(text);
  if (textExtensions.test(file)) return fenced || !/^(apiVersion|kind):/m.test(text);
  // A line that starts with backticks is never YAML, so piped Markdown shows itself.
  return /^```/m.test(text) && !/\.(ya?ml|json)$/i.test(file);
}

interface Part {
  text: string;
  /** Offset of the text in what it was cut from. */
  start: number;
  lineOffset: number;
}

/** The documents of a YAML stream. Comments and directives before a `---` stay with the document after it. */
export function* yamlDocuments(text: string): Generator<Part> {
  let start = 0;
  let startLine = 0;
  let line = 0;
  let hasContent = false;
  let hasMarker = false;
  for (let at = 0; at < text.length; ) {
    let end = text.indexOf('\n', at);
    if (end < 0) end = text.length;
    const first = text.charCodeAt(at);
    const isMarker = first === 0x2d && text.startsWith('---', at) && isMarkerEnd(text, at + 3);
    const isEnd = first === 0x2e && text.startsWith('...', at) && isMarkerEnd(text, at + 3);
    if ((isMarker || isEnd) && hasContent) {
      yield { text: text.slice(start, at), start, lineOffset: startLine };
      // The end marker itself belongs to no one.
      start = isEnd ? end + 1 : at;
      startLine = isEnd ? line + 1 : line;
      hasContent = false;
      hasMarker = false;
    }
    if (isMarker && hasMarker) {
      // An empty document between two markers: start over.
      start = at;
      startLine = line;
    }
    hasMarker ||= isMarker;
    if (isMarker) hasContent ||= /^ +[^#\s]/.test(text.slice(at + 3, end));
    else if (!isEnd && !hasContent) hasContent = /^[^#%]/.test(text.slice(at, end).trim());
    at = end + 1;
    line += 1;
  }
  if (hasContent) yield { text: text.slice(start), start, lineOffset: startLine };
}

function isMarkerEnd(text: string, at: number): boolean {
  return at >= text.length || ' \n\r\t'.includes(text.charAt(at));
}

/** A long `kind: List` in pieces: its head, each item, its tail; any other chunk as it is. */
function* listItems(chunk: Chunk): Generator<Chunk> {
  const { text } = chunk;
  const items = text.length < longList ? null : /^items:[ \t]*\r?\n( *)- /m.exec(text);
  // Anchors may be shared between items, so such lists are read whole.
  if (items === null || !/^kind: *["']?\w*List["']? *(?:#.*)?\r?$/m.test(text) || /[:-] [&*]\w/.test(text)) {
    yield chunk;
    return;
  }
  const indent = items[1] ?? '';
  let start = 0;
  let startLine = 0;
  let part: 'item' | 'head' | 'tail' = 'head';
  const piece = (end: number): Chunk => ({
    ...chunk,
    text: text.slice(start, end),
    lineOffset: chunk.lineOffset + startLine,
    part,
  });
  let at = text.indexOf('\n', items.index) + 1;
  let line = countLines(text, 0, at);
  while (at < text.length && part !== 'tail') {
    let end = text.indexOf('\n', at);
    if (end < 0) end = text.length;
    const isItem = text.startsWith(`${indent}-`, at) && isMarkerEnd(text, at + indent.length + 1);
    const isOver = !isItem && /^[^\s#]/.test(text.slice(at, at + 1));
    if (isItem || isOver) {
      yield piece(at);
      start = at;
      startLine = line;
      part = isItem ? 'item' : 'tail';
    }
    at = end + 1;
    line += 1;
  }
  yield piece(text.length);
}

interface CodeBlock extends Omit<Part, 'start'> {
  language: string;
  fenceLine: number;
  columnOffset: number;
}

/** Fenced code blocks, with the fence's indent taken off. A fence may close deeper than it opened. */
function* codeBlocks(text: string): Generator<CodeBlock> {
  const lines = text.split('\n');
  for (let index = 0; index < lines.length; index += 1) {
    const open = /^([ \t]*)(`{3,}|~{3,})[ \t]*([\w+-]*)/.exec(lines[index] ?? '');
    if (open === null) continue;
    const fence = open[2] ?? '';
    const close = new RegExp(`^\\s*${fence.charAt(0)}{${fence.length},}\\s*$`);
    const body: string[] = [];
    let end = index + 1;
    while (end < lines.length && !close.test(lines[end] ?? '')) {
      body.push(lines[end] ?? '');
      end += 1;
    }
    const indent = (open[1] ?? '').length;
    yield {
      text: `${body.map((line) => (line.slice(0, indent).trim() === '' ? line.slice(indent) : line)).join('\n')}\n`,
      language: (open[3] ?? '').toLowerCase(),
      fenceLine: index + 1,
      lineOffset: index + 1,
      columnOffset: indent,
    };
    index = end;
  }
}

/** The manifests of one code block: YAML by its label, or anything that says `apiVersion:` at the start of a line. */
function* blockChunks(block: CodeBlock): Generator<Chunk> {
  const isYaml = ['yaml', 'yml', 'k8s', 'kubernetes'].includes(block.language);
  const looksLikeManifest =
    /^(- )?["']?apiVersion["']?:/m.test(block.text) || /^\s*\{\s*"(apiVersion|kind)"/.test(block.text);
  if (!isYaml && !(['', 'json', 'text'].includes(block.language) && looksLikeManifest)) return;
  const { fenceLine, columnOffset } = block;
  if (/^\s*\{/.test(block.text)) {
    yield { text: block.text, format: 'json', lineOffset: block.lineOffset, columnOffset, fenceLine };
    return;
  }
  for (const part of yamlDocuments(block.text)) {
    for (const piece of splitAtRepeatedKeys(part.text)) {
      const lineOffset = block.lineOffset + part.lineOffset + piece.lineOffset;
      yield { text: piece.text, format: 'yaml', lineOffset, columnOffset, fenceLine };
    }
  }
}

/** "Before … after …" samples repeat their top-level keys in one block; each repetition starts a new piece. */
function* splitAtRepeatedKeys(text: string): Generator<Part> {
  let seen = new Set<string>();
  let start = 0;
  let startLine = 0;
  let line = 0;
  // The comments and blank lines above a repeated key belong to the new piece.
  let leadStart = 0;
  let leadLine = 0;
  for (let at = 0; at < text.length; ) {
    let end = text.indexOf('\n', at);
    if (end < 0) end = text.length;
    const content = text.slice(at, end);
    const key = /^([A-Za-z][\w-]*):( |\r?$)/.exec(content)?.[1];
    if (key !== undefined && seen.has(key)) {
      yield { text: text.slice(start, leadStart), start, lineOffset: startLine };
      start = leadStart;
      startLine = leadLine;
      seen = new Set();
    }
    if (key !== undefined) seen.add(key);
    at = end + 1;
    line += 1;
    if (content.trim() !== '' && !content.startsWith('#')) {
      leadStart = at;
      leadLine = line;
    }
  }
  yield { text: text.slice(start), start, lineOffset: startLine };
}

function countLines(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
