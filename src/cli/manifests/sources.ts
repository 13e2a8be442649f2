// Where manifests come from: files, folders (searched through), standard input. Reading never throws for one bad
// source: it is reported, and the others are still read.
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../base/index.ts';

export type Source =
  | { kind: 'text'; file: string; text: string; bytes: number }
  | { kind: 'unreadable'; file: string; message: string };

/** Files that a folder is searched for; a file named outright may have any name. */
const manifestFile = /\.(ya?ml|json|md|markdown|mdx|txt)$/i;

/** Values and description of a Helm chart: no objects, and nothing to report about that. */
const chartFile = /^(values([-.].*)?|.*[-.]values|chart)\.ya?ml$/i;

/** Largest text a JavaScript string can safely hold, with room for what is built from it. */
const maxBytes = 400 * 1024 * 1024;

export async function* readSources(names: readonly string[], stdin: NodeJS.ReadableStream): AsyncGenerator<Source> {
  for (const name of names) {
    if (name === '-') yield decode('stdin', await readStream(stdin));
    else yield* readPath(name);
  }
}

async function* readPath(name: string): AsyncGenerator<Source> {
  try {
    const facts = await stat(name);
    if (facts.isDirectory()) yield* readFolder(name);
    else if (facts.size > maxBytes) yield tooLarge(name, facts.size);
    else yield decode(name, await readFile(name));
  } catch (thrown) {
    yield { kind: 'unreadable', file: name, message: explainReadError(name, thrown) };
  }
}

async function* readFolder(folder: string): AsyncGenerator<Source> {
  const entries = await readdir(folder, { withFileTypes: true });
  entries.sort((one, other) => (one.name < other.name ? -1 : 1));
  for (const entry of entries) {
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
    if (chartFile.test(entry.name)) continue;
    if (entry.isDirectory() || manifestFile.test(entry.name)) yield* readPath(join(folder, entry.name));
  }
}

async function readStream(stream: NodeJS.ReadableStream): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(typeof part === 'string' ? Buffer.from(part) : part);
  return Buffer.concat(parts);
}

function decode(file: string, bytes: Buffer): Source {
  if (bytes.length > maxBytes) return tooLarge(file, bytes.length);
  const encoding =
    bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8';
  if (encoding === 'utf-8' && bytes.subarray(0, 65_536).includes(0)) {
    return { kind: 'unreadable', file, message: `${file} is a binary file; kerf reads YAML, JSON and Markdown` };
  }
  try {
    // The decoder takes a byte order mark off.
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
    return { kind: 'text', file, text, bytes: bytes.length };
  } catch {
    return { kind: 'unreadable', file, message: `${file} is not text in UTF-8; save it as UTF-8 and try again` };
  }
}

function tooLarge(file: string, bytes: number): Source {
  const size = Math.round(bytes / 1024 / 1024);
  return {
    kind: 'unreadable',
    file,
    message: `${file} has ${size} MiB, more than the ${maxBytes / 1024 / 1024} MiB kerf reads at once; split it`,
  };
}

function explainReadError(name: string, thrown: unknown): string {
  const code = (thrown as NodeJS.ErrnoException | null)?.code;
  if (code === 'ENOENT') return `there is no file or folder ${name}`;
  if (code === 'EACCES' || code === 'EPERM') return `no permission to read ${name}`;
  if (code === 'ENAMETOOLONG') return `the name is too long for a file: ${name.slice(0, 60)}…`;
  return `cannot read ${name}: ${messageOf(thrown)}`;
}
