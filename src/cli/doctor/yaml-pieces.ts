// A YAML file of any size in pieces that stand alone: the documents of a stream, and the items of a List as kubectl prints
// it, while its bytes come in. A hundred thousand pods never stand in memory as one text.
import type { Chunk } from '../manifests/chunks.ts';

/** Longest piece that is waited for: beyond it a file is not made of objects. */
const longestPiece = 64 * 1024 ** 2;

/** A List whose items stand at this depth; what comes before the first is its head. */
const listHead = /^(?:---[^\n]*\n)?(?:(?:#[^\n]*|[a-z]\w*:[^\n]*|[ ]+[^\n]*)?\r?\n)*?items:[ \t]*\r?\n( *)- /;

/** Half an object would be one that lacks fields: the last piece of what was cut off is left out. */
export async function* yamlPieces(
  chunks: AsyncIterable<Uint8Array>,
  isCutOff: () => boolean = () => false,
): AsyncGenerator<Chunk> {
  const decoder = new TextDecoder();
  const cutter = new Cutter();
  for await (const chunk of chunks) yield* cutter.push(decoder.decode(chunk, { stream: true }));
  yield* cutter.push(decoder.decode());
  if (!isCutOff()) yield* cutter.end();
}

class Cutter {
  private text = '';
  /** Lines before `text`. */
  private line = 0;
  /** Blanks before the dashes of the items; undefined outside of a List. */
  private indent: string | undefined;

  *push(more: string): Generator<Chunk> {
    this.text += more;
    let start = 0;
    for (;;) {
      if (this.indent === undefined) {
        const list = this.text.startsWith('- ', start) ? null : listHead.exec(this.text.slice(start, start + 4096));
        if (list !== null) {
          // The head says nothing that its items do not say.
          const from = start + list[0].length - 2 - (list[1] ?? '').length;
          this.skip(start, from);
          start = from;
          this.indent = list[1] ?? '';
          continue;
        }
      }
      const end = this.indent === undefined ? this.nextDocument(start) : this.nextItem(start, this.indent);
      if (end === undefined) break;
      yield this.piece(start, end.at);
      start = end.at;
      if (end.isLast) this.indent = undefined;
    }
    this.text = this.text.slice(start);
    if (this.text.length > longestPiece) throw new Error('one object of many megabytes');
  }

  *end(): Generator<Chunk> {
    if (this.text.trim() !== '') yield this.piece(0, this.text.length);
    this.text = '';
  }

  /** Where the next document of a stream begins. */
  private nextDocument(start: number): { at: number; isLast: boolean } | undefined {
    const found = this.text.indexOf('\n---', start);
    // What follows the dashes must be there to be seen.
    return found < 0 || found + 5 > this.text.length ? undefined : { at: found + 1, isLast: false };
  }

  /** Where the item that begins here ends: at the next dash, or at the first line of what follows the List. */
  private nextItem(start: number, indent: string): { at: number; isLast: boolean } | undefined {
    let at = this.text.indexOf('\n', start);
    while (at >= 0 && at + indent.length + 2 < this.text.length) {
      const code = this.text.charCodeAt(at + 1);
      if (this.text.startsWith(`${indent}- `, at + 1)) return { at: at + 1, isLast: false };
      // A key of the List, a new document: neither blank nor comment.
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x23) return { at: at + 1, isLast: true };
      at = this.text.indexOf('\n', at + 1);
    }
    return undefined;
  }

  private piece(start: number, end: number): Chunk {
    const lineOffset = this.line;
    this.skip(start, end);
    return {
      text: this.text.slice(start, end),
      format: 'yaml',
      lineOffset,
      columnOffset: 0,
      ...(this.indent === undefined ? {} : { part: 'item' as const }),
    };
  }

  private skip(start: number, end: number): void {
    for (let at = this.text.indexOf('\n', start); at >= 0 && at < end; at = this.text.indexOf('\n', at + 1))
      this.line += 1;
  }
}
