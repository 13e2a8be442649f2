// Whether bytes are text, and in which encoding: PowerShell writes UTF-16 in either order, some tools without its mark.
import { ByteSource } from './byte-source.ts';

export type TextEncoding = 'utf-8' | 'utf-16le' | 'utf-16be';

/** Bytes looked at: text that begins as text stays text. */
const looked = 4_096;

/** Undefined for what is not text. */
export function encodingOf(head: Uint8Array): TextEncoding | undefined {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be';
  const bytes = head.subarray(0, looked);
  if (!bytes.includes(0)) return 'utf-8';
  const pairs = Math.floor(bytes.length / 2);
  if (pairs < 8) return undefined;
  let zeroFirst = 0;
  let zeroSecond = 0;
  for (let at = 0; at + 1 < bytes.length; at += 2) {
    if (bytes[at] === 0) zeroFirst += 1;
    if (bytes[at + 1] === 0) zeroSecond += 1;
  }
  // Text of these tools is mostly ASCII: every other byte is zero, and only those.
  if (zeroSecond > pairs * 0.7 && zeroFirst === 0) return 'utf-16le';
  return zeroFirst > pairs * 0.7 && zeroSecond === 0 ? 'utf-16be' : undefined;
}

/** The same text in UTF-8, as a stream; undefined when it is not text. */
export async function utf8Of(chunks: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array> | undefined> {
  const source = new ByteSource(chunks);
  const encoding = encodingOf(await source.peek(looked));
  if (encoding === undefined) return undefined;
  return encoding === 'utf-8' ? source.all() : reencoded(source.all(), encoding);
}

async function* reencoded(chunks: AsyncIterable<Uint8Array>, encoding: TextEncoding): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder(encoding);
  for await (const chunk of chunks) yield Buffer.from(decoder.decode(chunk, { stream: true }));
  yield Buffer.from(decoder.decode());
}
