// Everything in the given files, folders and standard input, one manifest at a time.
import type { Progress } from '../output/index.ts';
import { type Chunk, chunksOf, isProse } from './chunks.ts';
import { readJson } from './json.ts';
import type { Manifest } from './manifest.ts';
import { manifestsIn } from './parse.ts';
import { readSources } from './sources.ts';

export type ReadItem =
  | { kind: 'file'; file: string; text: string; isProse: boolean }
  | { kind: 'manifest'; manifest: Manifest }
  | { kind: 'unreadable'; file: string; message: string };

export interface ReadOptions {
  stdin: NodeJS.ReadableStream;
  progress?: Progress;
}

/** A `file` item comes before the manifests of each file that could be read. */
export async function* readManifests(names: readonly string[], options: ReadOptions): AsyncGenerator<ReadItem> {
  for await (const source of readSources(names, options.stdin)) {
    if (source.kind === 'unreadable') {
      yield source;
      continue;
    }
    const { file, text } = source;
    yield { kind: 'file', file, text, isProse: isProse(file, text) };
    let done = 0;
    for (const chunk of chunksOf(file, text)) {
      for (const manifest of manifestsIn(file, chunk)) yield { kind: 'manifest', manifest };
      done += chunk.text.length;
      options.progress?.show(() => `reading ${file} ${Math.min(99, Math.round((100 * done) / text.length))} %`);
    }
  }
}

/** A document as text, for commands that rewrite it. */
export interface Unit {
  file: string;
  line: number;
  text: string;
  format: 'yaml' | 'json';
  isProse: boolean;
  /** A piece of a long List, which is cut into items; put together they are the List again. */
  part?: 'item' | 'head' | 'tail';
  /** The objects in it, read anew at each call; undefined stands for what does not parse. */
  objects(): unknown[];
}

export type UnitItem = { kind: 'unit'; unit: Unit } | { kind: 'unreadable'; file: string; message: string };

/** The documents of the same inputs, unparsed and complete: nothing between them is left out. */
export async function* readUnits(names: readonly string[], options: ReadOptions): AsyncGenerator<UnitItem> {
  for await (const source of readSources(names, options.stdin)) {
    if (source.kind === 'unreadable') {
      yield source;
      continue;
    }
    const { file, text } = source;
    const prose = isProse(file, text);
    for (const chunk of chunksOf(file, text, { keepRest: true })) {
      for (const piece of chunk.format === 'json' ? jsonDocuments(chunk) : [chunk])
        yield { kind: 'unit', unit: unitOf(file, piece, prose) };
    }
  }
}

function unitOf(file: string, chunk: Chunk, prose: boolean): Unit {
  const { text, format, lineOffset, part } = chunk;
  return {
    file,
    line: lineOffset + 1,
    text,
    format,
    isProse: prose,
    ...(part === undefined ? {} : { part }),
    objects: () => [...manifestsIn(file, chunk)].map(({ value }) => value),
  };
}

/** JSON files may hold several values in a row. */
function* jsonDocuments(chunk: Chunk): Generator<Chunk> {
  let lineOffset = chunk.lineOffset;
  for (let at = 0; at < chunk.text.length; ) {
    const { end } = readJson(chunk.text, at);
    const text = chunk.text.slice(at, end);
    yield { ...chunk, text, lineOffset };
    lineOffset += text.split('\n').length - 1;
    at = end;
  }
}
