// Reads a tar archive as a stream: ustar, with the long names of GNU tar and of pax. Links, devices and paths that leave
// the folder are skipped and named; nothing is written to disk.

import type { ByteSource } from './byte-source.ts';
import { type Budget, type EntryItem, safePath } from './entry.ts';

const block = 512;
/** Longest name or pax record that is believed. */
const longestRecord = 64 * 1024;

export async function* readTar(source: ByteSource, budget: Budget): AsyncGenerator<EntryItem> {
  let longName: string | undefined;
  for (;;) {
    const header = await source.take(block);
    if (header.length === 0) return;
    if (header.length < block) {
      yield skip('', 'the archive is cut off');
      return;
    }
    if (header.every((byte) => byte === 0)) continue;
    if (!hasGoodChecksum(header)) {
      yield skip('', 'the archive is broken here; what follows was not read');
      return;
    }
    const size = sizeOf(header);
    const type = String.fromCharCode(header[156] || 48);
    if (type === 'L' || type === 'x' || type === 'g') {
      const record = Buffer.from(await source.take(Math.min(size, longestRecord))).toString('utf8');
      await passOver(source, padded(size) - Math.min(size, longestRecord));
      if (type === 'L') longName = record.replace(/\0.*$/s, '');
      else if (type === 'x') longName = /(?:^|\n)\d+ path=([^\n]*)\n/.exec(record)?.[1] ?? longName;
      continue;
    }
    const name = longName ?? nameOf(header);
    longName = undefined;
    budget.addFile();
    const path = safePath(name);
    if (type === '5') continue;
    if (type !== '0' && type !== '7') yield skip(name, type === '1' || type === '2' ? 'a link' : 'not a file');
    else if (path === undefined || path === '') yield skip(name, 'its path leaves the bundle');
    else {
      const body = new Body(source, size, budget);
      yield { kind: 'entry', entry: { path, chunks: body, isCutOff: () => body.isCutOff } };
      await passOver(source, padded(size) - body.taken);
      if (body.isCutOff) {
        yield skip(path, 'the archive is cut off in this file');
        return;
      }
      continue;
    }
    await passOver(source, padded(size));
  }
}

const skip = (path: string, reason: string): EntryItem => ({ kind: 'skipped', skipped: { path, reason } });
const padded = (size: number): number => Math.ceil(size / block) * block;

class Body implements AsyncIterable<Uint8Array> {
  private readonly source: ByteSource;
  private readonly size: number;
  private readonly budget: Budget;
  taken = 0;
  isCutOff = false;

  constructor(source: ByteSource, size: number, budget: Budget) {
    this.source = source;
    this.size = size;
    this.budget = budget;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    while (this.taken < this.size) {
      const part = await this.source.some(Math.min(1 << 20, this.size - this.taken));
      if (part === undefined) {
        this.isCutOff = true;
        return;
      }
      this.taken += part.length;
      this.budget.addBytes(part.length);
      yield part;
    }
  }
}

async function passOver(source: ByteSource, count: number): Promise<void> {
  for (let left = count; left > 0; ) {
    const part = await source.some(left);
    if (part === undefined) return;
    left -= part.length;
  }
}

function nameOf(header: Uint8Array): string {
  const text = (from: number, to: number): string =>
    Buffer.from(header.subarray(from, to)).toString('utf8').replace(/\0.*$/s, '');
  const prefix = text(257, 262) === 'ustar' ? text(345, 500) : '';
  return prefix === '' ? text(0, 100) : `${prefix}/${text(0, 100)}`;
}

function sizeOf(header: Uint8Array): number {
  // Sizes above 8 GiB are written in binary.
  if ((header[124] ?? 0) & 0x80) return header.subarray(128, 136).reduce((sum, byte) => sum * 256 + byte, 0);
  return octal(header.subarray(124, 136));
}

function octal(bytes: Uint8Array): number {
  return Number.parseInt(
    Buffer.from(bytes)
      .toString('latin1')
      .replace(/[\0 ]+$/, '')
      .trim() || '0',
    8,
  );
}

/** Also how a tar is known: text and random bytes do not add up. */
export function hasGoodChecksum(header: Uint8Array): boolean {
  if (header.length < block) return false;
  let sum = 0;
  for (let at = 0; at < block; at += 1) sum += at >= 148 && at < 156 ? 32 : (header[at] as number);
  return octal(header.subarray(148, 156)) === sum;
}
