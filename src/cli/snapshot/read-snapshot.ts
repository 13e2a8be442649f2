// Reads a snapshot from a file or standard input. JSON goes through the platform's own parser, which is an order of
// magnitude faster than any that knows lines; lines are worked out, and the readers that know them loaded, only when
// there is something to complain about.
import { Readable } from 'node:stream';
import { type ErrorCode, KerfError } from '../../base/index.ts';
import type { Snapshot } from '../../core/index.ts';
import { formatPath } from '../manifests/field-path.ts';
import type { Manifest } from '../manifests/index.ts';
import { readSources } from '../manifests/sources.ts';
import type { Progress } from '../output/index.ts';
import type { ShapeProblem } from './shape.ts';
import { checkSnapshot } from './snapshot-document.ts';

export interface ReadSource {
  stdin: NodeJS.ReadableStream;
  progress?: Progress;
}

export interface ReadSnapshot {
  snapshot: Snapshot;
  unknownKinds: Map<string, number>;
}

export async function readSnapshot(name: string, source: ReadSource): Promise<ReadSnapshot> {
  const { file, text, value } = await readDocument(name, source);
  return acceptSnapshot(value, file, () => firstManifest(text));
}

/** The snapshot, or an error that lists every problem with its line. */
export async function acceptSnapshot(
  value: unknown,
  file: string,
  manifest: () => Promise<Manifest | undefined>,
): Promise<ReadSnapshot> {
  const { snapshot, problems, unknownKinds } = checkSnapshot(value);
  if (problems.length > 0) throw await problemsError('SnapshotInvalid', 'is not a snapshot', file, problems, manifest);
  return { snapshot, unknownKinds };
}

export interface ReadDocument {
  file: string;
  text: string;
  value: unknown;
}

/** One JSON or YAML document of any kind. */
export async function readDocument(name: string, source: ReadSource): Promise<ReadDocument> {
  const { file, text } = await readText(name, source);
  const value = /^\s*[{[]/.test(text) ? tryJson(text) : undefined;
  if (value !== undefined) return { file, text, value };
  const manifests: Manifest[] = [];
  for await (const manifest of manifestsIn(text)) {
    const [problem] = manifest.problems;
    if (problem !== undefined) {
      const place = `${file}:${problem.line}:${problem.column}`;
      throw new KerfError('FileMalformed', `cannot read ${place}: ${problem.message}`, { subject: file });
    }
    if (manifest.value !== undefined && manifest.value !== null) manifests.push(manifest);
  }
  if (manifests.length === 1) return { file, text, value: manifests[0]?.value };
  // The reader opens lists of objects, which is what a catalogue is.
  if (manifests.length > 1) return { file, text, value: manifests.map((manifest) => manifest.value) };
  throw new KerfError('FileEmpty', `cannot read ${file}: there is no document in it`, { subject: file });
}

async function readText(name: string, source: ReadSource): Promise<{ file: string; text: string }> {
  const texts: { file: string; text: string }[] = [];
  for await (const found of readSources([name], source.stdin)) {
    if (found.kind === 'unreadable') throw new KerfError('FileUnreadable', found.message, { subject: found.file });
    texts.push(found);
  }
  const [first] = texts;
  if (first !== undefined && texts.length === 1) return first;
  throw new KerfError('FileExpected', `cannot read ${name}: expected one file, this folder has ${texts.length}`, {
    subject: name,
  });
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function* manifestsIn(text: string): AsyncGenerator<Manifest> {
  const { readManifests } = await import('../manifests/index.ts');
  for await (const item of readManifests(['-'], { stdin: Readable.from([text]) })) {
    if (item.kind === 'manifest') yield item.manifest;
  }
}

/** The text's first manifest, for the places of its fields. */
async function firstManifest(text: string): Promise<Manifest | undefined> {
  for await (const manifest of manifestsIn(text)) return manifest;
  return undefined;
}

/** One error for all problems of a file, each with line and field. */
export async function problemsError(
  code: ErrorCode,
  verdict: string,
  file: string,
  problems: readonly ShapeProblem[],
  manifest: () => Promise<Manifest | undefined>,
): Promise<KerfError> {
  const place = await manifest();
  const lines = problems.map((problem) => `\n  ${describeProblem(file, place, problem)}`);
  return new KerfError(code, `${file} ${verdict}:${lines.join('')}`, { subject: file });
}

/** `pods.yaml:12: spec.containers must be a list, not "a"`. */
export function describeProblem(file: string, manifest: Manifest | undefined, problem: ShapeProblem): string {
  const line = manifest === undefined ? '' : `:${manifest.locate(problem.path).line}`;
  return `${file}${line}: ${problem.path.length === 0 ? 'the document' : formatPath(problem.path)} ${problem.message}`;
}
