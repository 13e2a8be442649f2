// A fast reader for the YAML people write as manifests: block maps and lists, one-line scalars and flow collections,
// literal blocks, comments. It is about twenty times faster than the full parser, which matters for files of many
// megabytes. It promises one thing: either the same value as the full parser, or `unsure` (anchors, tags, folded text,
// values over several lines, duplicate keys, tabs, anything broken), and then the full parser decides.
import { inlineValue, isBlankOrComment, quotedEnd, quotedValue, type Unsure, unsure } from './yaml-scalar.ts';

/** Receives the offset of every map entry and list item, in reading order. */
export type PlaceRecorder = (container: object, key: string | number, offset: number) => void;

class Doubt extends Error {}
// One instance, because making a stack trace for each odd document would cost more than reading it.
const doubt = new Doubt();

export function readQuickYaml(text: string, record?: PlaceRecorder): unknown | Unsure {
  if (text.includes('\t') || text.includes('\u2028') || text.includes('\u0085')) return unsure;
  try {
    return new QuickReader(text, record).document();
  } catch (thrown) {
    if (thrown instanceof Doubt) return unsure;
    throw thrown;
  }
}

class QuickReader {
  private readonly text: string;
  private readonly record: PlaceRecorder | undefined;
  /** The current line that says something: its content's offset, its end, and the column the content starts in. */
  private start = 0;
  private end = 0;
  private indent = -1;
  private next = 0;

  constructor(text: string, record: PlaceRecorder | undefined) {
    this.text = text;
    this.record = record;
  }

  document(): unknown {
    this.advance();
    if (this.indent === 0 && /^---( +#.*)?$/.test(this.line())) this.advance();
    if (this.indent < 0) return null;
    const value = this.node(this.indent);
    if (this.indent >= 0) throw doubt;
    return value;
  }

  private line(): string {
    return this.text.slice(this.start, this.end);
  }

  /** Moves to the next line that is neither blank nor a comment; `#indent` is -1 after the last. */
  private advance(): void {
    while (this.next < this.text.length) {
      const lineStart = this.next;
      const { contentStart, contentEnd } = this.scanLine(lineStart);
      if (contentStart >= contentEnd || this.text.charCodeAt(contentStart) === 0x23) continue;
      this.start = contentStart;
      this.end = contentEnd;
      this.indent = contentStart - lineStart;
      return;
    }
    this.indent = -1;
  }

  private scanLine(lineStart: number): { contentStart: number; contentEnd: number } {
    let lineEnd = this.text.indexOf('\n', lineStart);
    if (lineEnd < 0) lineEnd = this.text.length;
    this.next = lineEnd + 1;
    let contentStart = lineStart;
    while (contentStart < lineEnd && this.text.charCodeAt(contentStart) === 0x20) contentStart += 1;
    let contentEnd = lineEnd;
    if (contentEnd > contentStart && this.text.charCodeAt(contentEnd - 1) === 0x0d) contentEnd -= 1;
    while (contentEnd > contentStart && this.text.charCodeAt(contentEnd - 1) === 0x20) contentEnd -= 1;
    return { contentStart, contentEnd };
  }

  private node(indent: number): unknown {
    if (this.isListItem()) return this.list(indent);
    return this.map(indent);
  }

  private isListItem(): boolean {
    if (this.text.charCodeAt(this.start) !== 0x2d) return false;
    return this.start + 1 === this.end || this.text.charCodeAt(this.start + 1) === 0x20;
  }

  private list(indent: number): unknown[] {
    const list: unknown[] = [];
    while (this.indent === indent && this.isListItem()) {
      const index = list.length;
      let at = this.start + 1;
      while (at < this.end && this.text.charCodeAt(at) === 0x20) at += 1;
      this.record?.(list, index, at < this.end ? at : this.start);
      if (at >= this.end || isBlankOrComment(this.text.slice(this.start + 1, this.end), 0)) {
        list.push(this.nested(indent, false));
        continue;
      }
      // What follows the dash is a node of its own, in the column where it starts.
      const column = indent + (at - this.start);
      this.start = at;
      this.indent = column;
      const firstCharacter = this.text.charCodeAt(at);
      if (this.isListItem()) list.push(this.list(column));
      else if (firstCharacter !== 0x5b && firstCharacter !== 0x7b && this.keyEnd() >= 0) list.push(this.map(column));
      else list.push(this.scalar(this.start, indent));
    }
    if (this.indent > indent) throw doubt;
    return list;
  }

  private map(indent: number): Record<string, unknown> {
    const map: Record<string, unknown> = {};
    while (this.indent === indent) {
      if (this.isListItem()) break;
      const colon = this.keyEnd();
      if (colon < 0) throw doubt;
      const key = this.key(colon);
      if (Object.hasOwn(map, key)) throw doubt;
      this.record?.(map, key, this.start);
      let at = colon + 1;
      while (at < this.end && this.text.charCodeAt(at) === 0x20) at += 1;
      if (at >= this.end || (this.text.charCodeAt(at) === 0x23 && at > colon + 1)) map[key] = this.nested(indent, true);
      else map[key] = this.scalar(at, indent);
    }
    if (this.indent > indent) throw doubt;
    return map;
  }

  /** Offset of the colon that ends the key of the current line, or -1. */
  private keyEnd(): number {
    const first = this.text.charCodeAt(this.start);
    let from = this.start;
    if (first === 0x22 || first === 0x27) {
      const line = this.line();
      const end = quotedEnd(line, 0);
      if (end < 0) return -1;
      from += end;
      return this.text.charCodeAt(from) === 0x3a && this.isColonEnd(from) ? from : -1;
    }
    for (let at = from; at < this.end; at += 1) {
      const code = this.text.charCodeAt(at);
      if (code === 0x3a && this.isColonEnd(at)) return at;
      if (code === 0x23 && this.text.charCodeAt(at - 1) === 0x20) return -1;
    }
    return -1;
  }

  private isColonEnd(at: number): boolean {
    return at + 1 >= this.end || this.text.charCodeAt(at + 1) === 0x20;
  }

  private key(colon: number): string {
    const text = this.text.slice(this.start, colon);
    const first = text.charCodeAt(0);
    let key: string | Unsure = text;
    if (first === 0x22 || first === 0x27) key = quotedValue(text, 0, text.length);
    else if (!/^[A-Za-z_][A-Za-z0-9_./-]*$/.test(text) || /^null$/i.test(text)) key = unsure;
    if (key === unsure || key === '__proto__') throw doubt;
    return key;
  }

  /** The value below a key or dash that has none on its line; lists may stand in the key's own column. */
  private nested(indent: number, afterKey: boolean): unknown {
    this.advance();
    if (this.indent > indent) return this.node(this.indent);
    if (afterKey && this.indent === indent && this.isListItem()) return this.list(indent);
    return null;
  }

  private scalar(at: number, parentIndent: number): unknown {
    const text = this.text.slice(at, this.end);
    if (text.charCodeAt(0) === 0x7c) return this.literal(text, parentIndent);
    const value = inlineValue(text);
    if (value === unsure) throw doubt;
    this.advance();
    // A deeper line would continue the scalar (or be an error): both are for the full parser.
    if (this.indent > parentIndent) throw doubt;
    return value;
  }

  /** `|`, `|-` and `|+` blocks whose indent is that of their first line. */
  private literal(header: string, parentIndent: number): string {
    const match = /^\|([-+]?)( +#.*)?$/.exec(header);
    if (match === null) throw doubt;
    const lines: string[] = [];
    let blockIndent = -1;
    while (this.next < this.text.length) {
      const lineStart = this.next;
      const { contentStart, contentEnd } = this.scanLine(lineStart);
      const isBlank = contentStart >= contentEnd;
      const indent = contentStart - lineStart;
      if (blockIndent < 0) {
        if (isBlank) throw doubt;
        if (indent <= parentIndent) {
          this.next = lineStart;
          break;
        }
        blockIndent = indent;
      }
      if (!isBlank && indent < blockIndent) {
        this.next = lineStart;
        break;
      }
      const lineEnd = this.next - 1;
      if (this.text.charCodeAt(lineEnd - 1) === 0x0d) throw doubt;
      lines.push(lineEnd - lineStart > blockIndent ? this.text.slice(lineStart + blockIndent, lineEnd) : '');
    }
    if (this.next > this.text.length && !this.text.endsWith('\n')) throw doubt;
    this.advance();
    if (this.indent > parentIndent) throw doubt;
    return joinLiteral(lines, match[1] ?? '');
  }
}

function joinLiteral(lines: string[], chomp: string): string {
  let last = lines.length;
  while (last > 0 && lines[last - 1] === '') last -= 1;
  if (chomp === '-') return lines.slice(0, last).join('\n');
  const kept = chomp === '+' ? lines : lines.slice(0, last);
  return kept.length === 0 ? '' : `${kept.join('\n')}\n`;
}
