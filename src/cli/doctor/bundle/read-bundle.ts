// The files of a bundle: a folder, a tarball, a gzipped one or a zip, found out by content. Archives inside (a tarball of
// the EKS log collector under `nodes/`, rotated logs) are opened in place. Nothing is followed and nothing is written.
import { createReadStream } from 'node:fs';
import { lstat, open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { constants, createGunzip } from 'node:zlib';
import { KerfError, messageOf } from '../../../base/index.ts';
import { ByteSource } from './byte-source.ts';
import { Budget, type Entry, type EntryItem, LimitReached, type Limits } from './entry.ts';
import { hasGoodChecksum, readTar } from './tar.ts';
import { readZip } from './zip.ts';

export async function* readBundle(path: string, limits?: Limits): AsyncGenerator<EntryItem> {
  const budget = new Budget(limits);
  const facts = await stat(path).catch((thrown: unknown) => {
    const isAbsent = (thrown as NodeJS.ErrnoException).code === 'ENOENT';
    throw new KerfError(
      'BundleUnreadable',
      isAbsent ? `there is no bundle ${path}` : `cannot read ${path}: ${messageOf(thrown)}`,
    );
  });
  try {
    if (facts.isDirectory()) yield* opened(readFolder(path, '', budget), budget, 0);
    else yield* opened(readArchive(path, facts.size, budget), budget, 0);
  } catch (thrown) {
    if (!(thrown instanceof LimitReached)) throw thrown;
    yield { kind: 'skipped', skipped: { path, reason: `the rest was not read: ${thrown.message}` } };
  }
}

async function* readFolder(root: string, below: string, budget: Budget): AsyncGenerator<EntryItem> {
  const names = (await readdir(join(root, below))).sort();
  for (const name of names) {
    const path = below === '' ? name : `${below}/${name}`;
    const full = join(root, path);
    const facts = await lstat(full);
    if (facts.isSymbolicLink()) yield { kind: 'skipped', skipped: { path, reason: 'a link' } };
    else if (facts.isDirectory()) {
      if (name !== '.git') yield* readFolder(root, path, budget);
    } else if (!facts.isFile()) yield { kind: 'skipped', skipped: { path, reason: 'not a file' } };
    else {
      budget.addFile();
      yield { kind: 'entry', entry: { path, chunks: createReadStream(full, { highWaterMark: 1 << 20 }) } };
    }
  }
}

async function* readArchive(path: string, size: number, budget: Budget): AsyncGenerator<EntryItem> {
  const file = await open(path);
  try {
    const head = Buffer.alloc(4);
    await file.read(head, 0, 4, 0);
    if (head.toString('latin1', 0, 2) === 'PK') {
      yield* readZip(file, size, budget);
      return;
    }
    const stream = createReadStream(path, { highWaterMark: 1 << 20 });
    const source = new ByteSource(isGzip(head) ? unpacked(stream, budget) : stream);
    if (!hasGoodChecksum(await source.peek(512)))
      throw new KerfError(
        'BundleUnreadable',
        `${path} is neither a folder nor a tar, tar.gz or zip archive; for a log or another text write -f ${path}`,
      );
    yield* readTar(source, budget);
  } finally {
    await file.close();
  }
}

/** Opens archives among the entries; what cannot be unpacked is named. */
async function* opened(items: AsyncIterable<EntryItem>, budget: Budget, depth: number): AsyncGenerator<EntryItem> {
  for await (const item of items) {
    if (item.kind === 'skipped') {
      yield item;
      continue;
    }
    yield* openedEntry(item.entry, budget, depth);
  }
}

async function* openedEntry(
  { path, chunks, ...rest }: Entry,
  budget: Budget,
  depth: number,
): AsyncGenerator<EntryItem> {
  const source = new ByteSource(chunks);
  const head = await source.peek(512);
  const inner = isGzip(head) ? new ByteSource(unpacked(source.all(), budget)) : source;
  let start: Uint8Array;
  try {
    start = isGzip(head) ? await inner.peek(512) : head;
  } catch (thrown) {
    if (thrown instanceof LimitReached) throw thrown;
    yield { kind: 'skipped', skipped: { path, reason: `cannot be unpacked: ${messageOf(thrown)}` } };
    return;
  }
  if (!hasGoodChecksum(start)) {
    if (Buffer.from(head).toString('latin1', 0, 4) === 'PK\u0003\u0004')
      yield { kind: 'skipped', skipped: { path, reason: 'a zip inside; unpack it first' } };
    else yield { kind: 'entry', entry: { ...rest, path: path.replace(/\.gz$/, ''), chunks: inner.all() } };
    return;
  }
  if (depth >= budget.limits.depth) {
    yield { kind: 'skipped', skipped: { path, reason: 'archives within archives, too deep' } };
    return;
  }
  const folder = path.replace(/\.(tar\.gz|tgz|tar)$/, '');
  for await (const item of opened(readTar(inner, budget), budget, depth + 1)) yield under(folder, item);
}

function under(folder: string, item: EntryItem): EntryItem {
  if (item.kind === 'skipped')
    return { kind: 'skipped', skipped: { ...item.skipped, path: `${folder}/${item.skipped.path}` } };
  return { kind: 'entry', entry: { ...item.entry, path: `${folder}/${item.entry.path}` } };
}

const isGzip = (head: Uint8Array): boolean => head[0] === 0x1f && head[1] === 0x8b;

async function* unpacked(packed: AsyncIterable<Uint8Array>, budget: Budget): AsyncGenerator<Uint8Array> {
  // What was cut off gives what is there.
  const gunzip = createGunzip({ finishFlush: constants.Z_SYNC_FLUSH });
  let given = 0;
  let taken = 0;
  const feeding = (async () => {
    for await (const part of packed) {
      given += part.length;
      if (!gunzip.write(part)) await new Promise((resolve) => gunzip.once('drain', resolve));
    }
    gunzip.end();
  })();
  feeding.catch((error: Error) => gunzip.destroy(error));
  try {
    for await (const part of gunzip as AsyncIterable<Uint8Array>) {
      taken += part.length;
      budget.checkRatio(given, taken);
      yield part;
    }
  } finally {
    gunzip.destroy();
  }
}
