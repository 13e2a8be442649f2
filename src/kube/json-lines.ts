// A stream of bytes cut into lines of JSON, as watches send them. Chunks may end anywhere, also inside a character: lines
// are found in the bytes and decoded whole. This is the hot path of every watch: bench/kube.ts measures it.
import { KerfError } from '../base/index.ts';

const newline = 0x0a;

/** No Kubernetes object comes near this; a line that long is not an event, and must not fill the memory. */
const longestLineBytes = 64 * 1024 * 1024;

/** Finds bytes of the line in `bytes[start, end)` that need not be parsed. */
export type Cut = (bytes: Buffer, start: number, end: number) => { from: number; to: number } | undefined;

export class JsonLines {
  private readonly cut: Cut;
  /** The pieces of a line whose end has not come yet; joined once, when it does. */
  private pieces: Buffer[] = [];
  private piecesBytes = 0;

  constructor(cut: Cut = () => undefined) {
    this.cut = cut;
  }

  /** The values of the lines that end in this chunk. Throws a SyntaxError at the first line that is not JSON. */
  *decode(chunk: Buffer): Generator<unknown, void> {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      const text = this.pieces.length === 0 ? this.text(chunk, start, end) : this.join(chunk.subarray(start, end));
      start = end + 1;
      if (!isBlank(text)) yield JSON.parse(text);
    }
    if (start < chunk.length) this.keep(chunk.subarray(start));
  }

  /** The value of a last line without an end. Throws a SyntaxError if the stream was cut inside it. */
  *end(): Generator<unknown, void> {
    const text = this.join(Buffer.alloc(0));
    if (!isBlank(text)) yield JSON.parse(text);
  }

  private keep(piece: Buffer): void {
    this.pieces.push(piece);
    this.piecesBytes += piece.length;
    refuseTooLong(this.piecesBytes);
  }

  private join(last: Buffer): string {
    const line = Buffer.concat([...this.pieces, last]);
    this.pieces = [];
    this.piecesBytes = 0;
    return this.text(line, 0, line.length);
  }

  private text(bytes: Buffer, start: number, end: number): string {
    refuseTooLong(end - start);
    const cut = this.cut(bytes, start, end);
    return cut === undefined
      ? bytes.toString('utf8', start, end)
      : bytes.toString('utf8', start, cut.from) + bytes.toString('utf8', cut.to, end);
  }
}

function refuseTooLong(bytes: number): void {
  if (bytes > longestLineBytes)
    throw new KerfError('LineTooLong', `a line of a JSON stream is longer than ${longestLineBytes} bytes`);
}

function isBlank(text: string): boolean {
  return text.length === 0 || (text.charCodeAt(0) <= 0x20 && text.trim() === '');
}
