// Bytes that come in chunks, taken in the sizes a format asks for.
export class ByteSource {
  private readonly chunks: AsyncIterator<Uint8Array>;
  private rest: Uint8Array = new Uint8Array(0);
  /** Bytes taken so far. */
  taken = 0;

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.chunks = chunks[Symbol.asyncIterator]();
  }

  /** Exactly this many bytes, or fewer at the end. */
  async take(count: number): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    let missing = count;
    while (missing > 0) {
      const part = await this.some(missing);
      if (part === undefined) break;
      parts.push(part);
      missing -= part.length;
    }
    return parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts);
  }

  /** At least one byte and at most this many; undefined at the end. */
  async some(most: number): Promise<Uint8Array | undefined> {
    while (this.rest.length === 0) {
      const next = await this.chunks.next();
      if (next.done === true) return undefined;
      this.rest = next.value;
    }
    const part = this.rest.subarray(0, most);
    this.rest = this.rest.subarray(part.length);
    this.taken += part.length;
    return part;
  }

  /** Looks at the first bytes and leaves them there. */
  async peek(count: number): Promise<Uint8Array> {
    const head = await this.take(count);
    this.rest = Buffer.concat([head, this.rest]);
    this.taken -= head.length;
    return head;
  }

  /** What is left, as a stream. */
  async *all(): AsyncGenerator<Uint8Array> {
    for (let part = await this.some(1 << 20); part !== undefined; part = await this.some(1 << 20)) yield part;
  }
}
