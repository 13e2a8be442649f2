// The items of a List as kubectl prints it, indented: the brace that ends an item stands alone in its line at the depth of
// the one that began it, and a text inside JSON has no line breaks, so that items are found by searching for that line
// instead of looking at every byte.
import { type JsonItem, linesIn } from './json-items.ts';

const newline = 0x0a;
const comma = 0x2c;
/** Kept of what stands around the items: the kind of the List. */
const longestRest = 64 * 1024;
/** Lines that look like an item's end before one is given up as broken. */
const mostTries = 20;

/** How the items of this file stand in it. */
export interface Indent {
  /** Blanks before the braces of an item. */
  item: string;
  /** The line with which items begin behind their brace, up to the end of its key. */
  first: string;
}

/** Undefined when the beginning of the file is written differently. */
export function indentOf(head: string): Indent | undefined {
  const [, item, first] = /"items": \[\n( +)\{\n(\1 +"\w+":)/.exec(head) ?? [];
  return item === undefined || first === undefined ? undefined : { item, first };
}

export async function* indentedItems(
  chunks: AsyncIterable<Uint8Array>,
  indent: Indent,
  onRest: (text: string) => void,
): AsyncGenerator<JsonItem> {
  const decoder = new TextDecoder();
  const begin = Buffer.from(`\n${indent.item}{\n`);
  const bounds: Bounds = {
    end: Buffer.from(`\n${indent.item}}`),
    between: Buffer.from(`},\n${indent.item}{\n${indent.first}`),
  };
  const rest: string[] = [];
  let line = 1;
  let buffer: Buffer = Buffer.alloc(0);
  const outside = (part: Buffer): void => {
    line += linesIn(part);
    // Between items there is a comma.
    if (part.length > 4) rest.push(decoder.decode(part.subarray(-longestRest)));
  };
  for await (const chunk of chunks) {
    buffer = Buffer.concat([buffer, chunk]);
    let at = 0;
    for (let start = nextStart(buffer, begin, at); start >= 0; start = nextStart(buffer, begin, at)) {
      const item = itemAt(buffer, start + 1, bounds);
      if (item === undefined) break;
      outside(buffer.subarray(at, start + 1));
      yield { value: item.value, line };
      line += linesIn(buffer.subarray(start + 1, item.end));
      at = item.end;
    }
    buffer = buffer.subarray(at);
  }
  outside(buffer);
  onRest(rest.join(''));
}

/** Behind the comma of the last item, as a rule. */
function nextStart(buffer: Buffer, begin: Buffer, at: number): number {
  const isNext = buffer[at] === comma && buffer.subarray(at + 1, at + 1 + begin.length).equals(begin);
  return isNext ? at + 1 : buffer.indexOf(begin, at);
}

interface Bounds {
  end: Buffer;
  /** One item ends and the next begins as the first did: longer, so it is found many times faster. */
  between: Buffer;
}

/** The item that begins here; undefined when its end has not come yet. */
function itemAt(buffer: Buffer, start: number, { end, between }: Bounds): { value: unknown; end: number } | undefined {
  const next = buffer.indexOf(between, start);
  if (next >= 0) {
    const value = parsed(buffer.toString('utf8', start, next + 1));
    if (value !== undefined) return { value, end: next + 1 };
  }
  let at = start;
  for (let tries = 0; tries < mostTries; tries += 1) {
    const found = buffer.indexOf(end, at);
    const stop = found + end.length;
    // What follows the brace must be there to be seen.
    if (found < 0 || stop >= buffer.length) return undefined;
    at = stop;
    if (buffer[stop] !== comma && buffer[stop] !== newline) continue;
    const value = parsed(buffer.toString('utf8', start, stop));
    if (value !== undefined) return { value, end: stop };
  }
  throw new Error('not valid JSON in an item of the List');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
