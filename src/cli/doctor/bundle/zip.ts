// Reads a zip archive through its directory at the end; stored and deflated files. Links and encrypted files are skipped.
import type { FileHandle } from 'node:fs/promises';
import { createInflateRaw } from 'node:zlib';
import { type Budget, type EntryItem, safePath } from './entry.ts';

const endSignature = 0x06054b50;
const directorySignature = 0x02014b50;
/** The directory itself: a hundred thousand files take some ten megabytes. */
const longestDirectory = 64 * 1024 ** 2;

export async function* readZip(file: FileHandle, size: number, budget: Budget): AsyncGenerator<EntryItem> {
  const directory = await directoryOf(file, size);
  if (directory === undefined) {
    yield skip('', 'the zip has no readable directory (cut off, or larger than 4 GiB)');
    return;
  }
  for (let at = 0; at + 46 <= directory.length && directory.readUInt32LE(at) === directorySignature; ) {
    const flags = directory.readUInt16LE(at + 8);
    const method = directory.readUInt16LE(at + 10);
    const packed = directory.readUInt32LE(at + 20);
    const nameLength = directory.readUInt16LE(at + 28);
    const name = directory.toString('utf8', at + 46, at + 46 + nameLength);
    const isLink = ((directory.readUInt32LE(at + 38) >>> 16) & 0o170000) === 0o120000;
    const offset = directory.readUInt32LE(at + 42);
    at += 46 + nameLength + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
    budget.addFile();
    const path = safePath(name);
    if (name.endsWith('/')) continue;
    if (path === undefined || path === '') yield skip(name, 'its path leaves the bundle');
    else if (isLink) yield skip(name, 'a link');
    else if (flags & 1) yield skip(name, 'encrypted');
    else if (method !== 0 && method !== 8) yield skip(name, `packed in a way that is not supported (${method})`);
    else yield { kind: 'entry', entry: { path, chunks: contents(file, offset, packed, method, budget) } };
  }
}

const skip = (path: string, reason: string): EntryItem => ({ kind: 'skipped', skipped: { path, reason } });

async function directoryOf(file: FileHandle, size: number): Promise<Buffer | undefined> {
  const tail = Buffer.alloc(Math.min(size, 65_557));
  await file.read(tail, 0, tail.length, size - tail.length);
  for (let at = tail.length - 22; at >= 0; at -= 1) {
    if (tail.readUInt32LE(at) !== endSignature) continue;
    const length = tail.readUInt32LE(at + 12);
    const offset = tail.readUInt32LE(at + 16);
    if (length > longestDirectory || offset + length > size) return undefined;
    const directory = Buffer.alloc(length);
    await file.read(directory, 0, length, offset);
    return directory;
  }
  return undefined;
}

async function* contents(
  file: FileHandle,
  offset: number,
  packed: number,
  method: number,
  budget: Budget,
): AsyncGenerator<Uint8Array> {
  const header = Buffer.alloc(30);
  await file.read(header, 0, 30, offset);
  const start = offset + 30 + header.readUInt16LE(26) + header.readUInt16LE(28);
  const raw = slices(file, start, packed);
  if (method === 0) {
    for await (const part of raw) {
      budget.addBytes(part.length);
      yield part;
    }
    return;
  }
  const inflate = createInflateRaw();
  const feeding = (async () => {
    for await (const part of raw)
      if (!inflate.write(part)) await new Promise((resolve) => inflate.once('drain', resolve));
    inflate.end();
  })();
  feeding.catch((error: Error) => inflate.destroy(error));
  let unpacked = 0;
  try {
    for await (const part of inflate as AsyncIterable<Uint8Array>) {
      unpacked += part.length;
      budget.addBytes(part.length);
      budget.checkRatio(packed, unpacked);
      yield part;
    }
  } finally {
    inflate.destroy();
  }
}

async function* slices(file: FileHandle, start: number, length: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < length; ) {
    const part = Buffer.alloc(Math.min(1 << 18, length - at));
    const { bytesRead } = await file.read(part, 0, part.length, start + at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield part.subarray(0, bytesRead);
  }
}
