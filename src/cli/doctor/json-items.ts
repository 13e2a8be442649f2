// The objects of a JSON file of any size, one at a time: a List (as kubectl prints it) is cut into its items while its bytes
// come in, so that a hundred thousand pods never stand in memory as one text.
const [quote, backslash, newline] = [0x22, 0x5c, 0x0a];
const [open, close, openList, closeList] = [0x7b, 0x7d, 0x5b, 0x5d];

export interface JsonItem {
  value: unknown;
  /** Line of its first character, from 1. */
  line: number;
}

/**
 * Yields what lies directly in the first list of the outermost object, or the outermost values themselves where that is no
 * List. `onRest` gets the text of the outermost object without the items.
 */
export async function* jsonItems(
  chunks: AsyncIterable<Uint8Array>,
  onRest: (text: string) => void,
): AsyncGenerator<JsonItem> {
  const cutter = new Cutter();
  for await (const chunk of chunks) yield* cutter.push(chunk);
  onRest(cutter.rest());
}

/** Line breaks, four bytes at a time: in a large bundle every byte is looked at for this alone. */
export function linesIn(part: Uint8Array): number {
  let count = 0;
  let at = 0;
  const { buffer, byteOffset, length } = part;
  const head = Math.min(length, -byteOffset & 3);
  for (; at < head; at += 1) if (part[at] === newline) count += 1;
  if (at === length) return count;
  const words = new Uint32Array(buffer, byteOffset + at, (length - at) >> 2);
  for (let index = 0; index < words.length; index += 1) {
    // Zero where a byte is a line break; its highest bit is then the only one that is left.
    const byte = (words[index] as number) ^ 0x0a0a0a0a;
    const zeros = ~(((byte & 0x7f7f7f7f) + 0x7f7f7f7f) | byte | 0x7f7f7f7f);
    if (zeros !== 0) count += Math.imul(zeros >>> 7, 0x01010101) >>> 24;
  }
  for (at += words.length * 4; at < length; at += 1) if (part[at] === newline) count += 1;
  return count;
}

/** Where the bytes seen so far leave off. */
class Cutter {
  private readonly decoder = new TextDecoder();
  private readonly outsides: string[] = [];
  private depth = 0;
  /** Depth of the braces of items; -1 until their list begins. */
  private itemDepth = -1;
  private isText = false;
  /** The text was left behind a backslash. */
  private isEscaped = false;
  private line = 1;
  /** The item that is not whole yet, and its first line. */
  private parts: Uint8Array[] = [];
  private startLine = 1;

  push(chunk: Uint8Array): JsonItem[] {
    const items: JsonItem[] = [];
    let { depth, itemDepth } = this;
    let start = this.parts.length > 0 ? 0 : -1;
    let outside = 0;
    let counted = 0;
    let at = 0;
    if (this.isText) at = this.afterText(chunk, 0);
    while (at < chunk.length) {
      const byte = chunk[at] as number;
      if (byte === quote) {
        at = this.afterText(chunk, at + 1);
        continue;
      }
      if (byte === open || byte === openList) {
        depth += 1;
        // The list of items: a list directly in the outermost object.
        if (byte === openList && depth === 2 && itemDepth < 0) itemDepth = 3;
        else if (depth === itemDepth && byte === open) {
          if (outside < at) this.outsides.push(this.decoder.decode(chunk.subarray(outside, at)));
          this.line += linesIn(chunk.subarray(counted, at));
          counted = at;
          start = at;
          this.startLine = this.line;
        }
      } else if (byte === close || byte === closeList) {
        if (depth === itemDepth && byte === close && start >= 0) {
          this.parts.push(chunk.subarray(start, at + 1));
          items.push({ value: JSON.parse(this.decoder.decode(Buffer.concat(this.parts))), line: this.startLine });
          this.parts = [];
          start = -1;
          outside = at + 1;
        }
        depth -= 1;
        if (depth === 1 && byte === closeList && itemDepth === 3) itemDepth = 99;
      }
      at += 1;
    }
    this.line += linesIn(chunk.subarray(counted));
    this.depth = depth;
    this.itemDepth = itemDepth;
    // The chunk may be reused by whoever reads.
    if (start >= 0) this.parts.push(chunk.slice(start));
    else if (outside < chunk.length) this.outsides.push(this.decoder.decode(chunk.subarray(outside)));
    return items;
  }

  rest(): string {
    return this.outsides.join('');
  }

  /** Behind the quote that ends the text; the end of the chunk when it has not come yet. */
  private afterText(chunk: Uint8Array, from: number): number {
    // A text that goes on from the chunk before: its first character may be escaped by the last one there.
    const first = this.isEscaped ? from + 1 : from;
    let at = first;
    this.isEscaped = false;
    for (;;) {
      const end = chunk.indexOf(quote, at);
      if (end < 0) {
        this.isText = true;
        this.isEscaped = backslashesBefore(chunk, chunk.length, first) % 2 === 1;
        return chunk.length;
      }
      at = end + 1;
      if (backslashesBefore(chunk, end, first) % 2 === 0) {
        this.isText = false;
        return at;
      }
    }
  }
}

/** How many stand directly before this place, not looking behind `from`. */
function backslashesBefore(chunk: Uint8Array, place: number, from: number): number {
  let count = 0;
  while (place - count > from && chunk[place - count - 1] === backslash) count += 1;
  return count;
}
