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
  const decoder = new TextDecoder();
  const rest: string[] = [];
  let depth = 0;
  let itemDepth = -1;
  let isText = false;
  let isEscaped = false;
  let line = 1;
  let startLine = 1;
  let parts: Uint8Array[] = [];
  for await (const chunk of chunks) {
    let start = itemDepth >= 0 && depth >= itemDepth ? 0 : -1;
    let outside = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] as number;
      if (byte === newline) line += 1;
      if (isText) {
        if (isEscaped) isEscaped = false;
        else if (byte === backslash) isEscaped = true;
        else if (byte === quote) isText = false;
        continue;
      }
      if (byte === quote) isText = true;
      else if (byte === open || byte === openList) {
        depth += 1;
        // The list of items: a list directly in the outermost object.
        if (byte === openList && depth === 2 && itemDepth < 0) itemDepth = 3;
        else if (depth === itemDepth && byte === open) {
          if (outside < at) rest.push(decoder.decode(chunk.subarray(outside, at)));
          start = at;
          startLine = line;
        }
      } else if (byte === close || byte === closeList) {
        if (depth === itemDepth && byte === close && start >= 0) {
          parts.push(chunk.subarray(start, at + 1));
          yield { value: JSON.parse(decoder.decode(Buffer.concat(parts))), line: startLine };
          parts = [];
          start = -1;
          outside = at + 1;
        }
        depth -= 1;
        if (depth === 1 && byte === closeList && itemDepth === 3) itemDepth = 99;
      }
    }
    if (start >= 0) parts.push(chunk.subarray(start).slice());
    else if (outside < chunk.length) rest.push(decoder.decode(chunk.subarray(outside)));
  }
  onRest(rest.join(''));
}
