// Tar archives whose bytes depend on their content alone: entries in the order of their names, one time for all, no owner.
// Reading understands what Debian's packages and npm's tarballs contain.
import { gzipSync } from 'node:zlib';

export type TarEntry =
  | { kind: 'file'; path: string; content: Buffer; mode: number }
  | { kind: 'link'; path: string; target: string }
  | { kind: 'folder'; path: string };

const block = 512;

/** Folders above the entries are added. */
export function writeTar(entries: readonly TarEntry[], timeSeconds = 0): Buffer {
  const all = new Map(entries.map((entry) => [entry.path, entry]));
  for (const { path } of entries) {
    const parts = path.split('/');
    for (let length = 1; length < parts.length; length += 1) {
      const folder = parts.slice(0, length).join('/');
      if (!all.has(folder)) all.set(folder, { kind: 'folder', path: folder });
    }
  }
  const sorted = [...all.values()].sort((left, right) => (left.path < right.path ? -1 : 1));
  const parts = sorted.flatMap((entry) => {
    if (entry.kind !== 'file') return [header(entry, 0, timeSeconds)];
    const padding = Buffer.alloc((block - (entry.content.length % block)) % block);
    return [header(entry, entry.content.length, timeSeconds), entry.content, padding];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * block)]);
}

/** Node's gzip writes no time and no name. */
export const gzip = (content: Buffer): Buffer => gzipSync(content, { level: 9 });

const types = { file: '0', link: '2', folder: '5' } as const;

function header(entry: TarEntry, size: number, timeSeconds: number): Buffer {
  const bytes = Buffer.alloc(block);
  const path = entry.kind === 'folder' ? `${entry.path}/` : entry.path;
  const { name, prefix } = split(path);
  const octal = (value: number, at: number, length: number): void =>
    void bytes.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at, 'ascii');
  bytes.write(name, 0);
  octal(entry.kind === 'file' ? entry.mode : entry.kind === 'folder' ? 0o755 : 0o777, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(timeSeconds, 136, 12);
  bytes.write(types[entry.kind], 156);
  if (entry.kind === 'link') bytes.write(entry.target, 157);
  bytes.write('ustar\x0000', 257);
  bytes.write(prefix, 345);
  bytes.fill(' ', 148, 156);
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return bytes;
}

/** A path of more than a hundred bytes is cut at a slash. */
function split(path: string): { name: string; prefix: string } {
  if (Buffer.byteLength(path) <= 100) return { name: path, prefix: '' };
  for (let at = path.lastIndexOf('/', path.length - 2); at > 0; at = path.lastIndexOf('/', at - 1)) {
    const parts = { name: path.slice(at + 1), prefix: path.slice(0, at) };
    if (Buffer.byteLength(parts.name) <= 100 && Buffer.byteLength(parts.prefix) <= 155) return parts;
  }
  throw new Error(`${path} is too long a path for a tar archive`);
}

/** Files and symbolic links, hard links as copies; paths without `./` in front. */
export function readTar(archive: Buffer): TarEntry[] {
  const entries = new Map<string, TarEntry>();
  let longName: string | undefined;
  for (let at = 0; at + block <= archive.length && archive[at] !== 0; ) {
    const text = (from: number, length: number): string =>
      archive.toString('utf8', at + from, at + from + length).replace(/\0[\s\S]*$/, '');
    const size = Number.parseInt(text(124, 12).trim() || '0', 8);
    const content = archive.subarray(at + block, at + block + size);
    const type = text(156, 1) || '0';
    const prefix = text(345, 155);
    const path = longName ?? (prefix === '' ? text(0, 100) : `${prefix}/${text(0, 100)}`);
    longName = undefined;
    const clean = path.replace(/^(\.?\/)+/, '').replace(/\/$/, '');
    if (type === 'L') longName = content.toString('utf8').replace(/\0[\s\S]*$/, '');
    else if (type === 'x') longName = /\d+ path=(.*)\n/.exec(content.toString('utf8'))?.[1];
    else if (type === '0') {
      const mode = Number.parseInt(text(100, 8).trim(), 8) & 0o777;
      entries.set(clean, { kind: 'file', path: clean, content, mode });
    } else if (type === '2') entries.set(clean, { kind: 'link', path: clean, target: text(157, 100) });
    else if (type === '1') {
      const original = entries.get(text(157, 100).replace(/^(\.?\/)+/, ''));
      if (original?.kind === 'file') entries.set(clean, { ...original, path: clean });
    }
    at += block + Math.ceil(size / block) * block;
  }
  return [...entries.values()];
}
