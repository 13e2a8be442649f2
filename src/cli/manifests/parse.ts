// From a chunk of text to manifests: quick reader first, full parser when that is unsure, JSON by its own reader; Lists
// are opened, so that every object is a manifest of its own.
import { yamlTooDeepAt } from '../../base/index.ts';
import type { Chunk } from './chunks.ts';
import type { FieldPath } from './field-path.ts';
import { type FullYaml, offsetInDocument, readFullYaml } from './full-yaml.ts';
import { readJson } from './json.ts';
import { blockAt, type Manifest, type Position, positionAt, type SyntaxProblem } from './manifest.ts';
import { isMap } from './plain-data.ts';
import { type PlaceRecorder, readQuickYaml } from './quick-yaml.ts';
import { unsure } from './yaml-scalar.ts';

export function* manifestsIn(file: string, chunk: Chunk): Generator<Manifest> {
  if (chunk.format === 'json') yield* jsonManifests(file, chunk);
  else yield* opened(yamlManifest(file, chunk));
}

function yamlManifest(file: string, chunk: Chunk): Manifest {
  // One that is too deep is for the full reader to explain.
  const quick = yamlTooDeepAt(chunk.text) === undefined ? readQuickYaml(chunk.text) : unsure;
  if (quick !== unsure) {
    const start = firstWord(chunk.text);
    return manifest(file, chunk, start, quick, [], () => {
      const places = new Places();
      const root = readQuickYaml(chunk.text, places.record);
      return (path) => places.offsetOf(root, path, start);
    });
  }
  const full: FullYaml = readFullYaml(chunk.text);
  const problems = full.problems.map((problem): SyntaxProblem => {
    const { offset, ...rest } = problem;
    return { ...rest, ...positionAt(chunk, offset) };
  });
  const start = firstWord(chunk.text);
  return manifest(file, chunk, start, full.value, problems, () => (path) => offsetInDocument(full.document, path));
}

function* jsonManifests(file: string, chunk: Chunk): Generator<Manifest> {
  for (let at = 0; at < chunk.text.length; ) {
    const start = at + (/^\s*/.exec(chunk.text.slice(at, at + 100))?.[0].length ?? 0);
    const result = readJson(chunk.text, start);
    const problems = result.problems.map(
      ({ offset, message }): SyntaxProblem => ({
        code: message.includes('written twice') ? 'duplicate-key' : 'syntax',
        message: message.includes('written twice') ? message : `not JSON here: ${message}`,
        field: [],
        ...positionAt(chunk, offset),
      }),
    );
    const whole = manifest(file, chunk, start, result.value, problems, () => {
      const places = new Places();
      const root = readJson(chunk.text, start, places.record).value;
      return (path) => places.offsetOf(root, path, start);
    });
    yield* opened(whole);
    at = result.end;
  }
}

/** Offsets of every field of one tree, gathered while it is read a second time. */
class Places {
  private readonly offsets = new Map<object, Map<string | number, number>>();

  readonly record: PlaceRecorder = (container, key, offset) => {
    const known = this.offsets.get(container);
    if (known === undefined) this.offsets.set(container, new Map([[key, offset]]));
    else known.set(key, offset);
  };

  offsetOf(root: unknown, path: FieldPath, otherwise: number): number {
    let offset = otherwise;
    let node = root;
    for (const part of path) {
      if (typeof node !== 'object' || node === null) break;
      const place = this.offsets.get(node)?.get(part);
      // Flow collections on one line have no places of their own; their line is near enough.
      if (place !== undefined) offset = place;
      if (!Object.hasOwn(node, part)) break;
      node = (node as Record<string | number, unknown>)[part];
    }
    return offset;
  }
}

function manifest(
  file: string,
  chunk: Chunk,
  start: number,
  value: unknown,
  problems: SyntaxProblem[],
  findPlaces: () => (path: FieldPath) => number,
): Manifest {
  let offsetOf: ((path: FieldPath) => number) | undefined;
  const prefix: FieldPath = chunk.part === 'item' ? [0] : [];
  const place = (path: FieldPath): number => {
    if (path.length === 0 && prefix.length === 0) return start;
    offsetOf ??= findPlaces();
    return offsetOf([...prefix, ...path]);
  };
  const locate = (path: FieldPath): Position => positionAt(chunk, place(path));
  return {
    file,
    get line() {
      return locate([]).line;
    },
    format: chunk.format,
    ...(chunk.fenceLine === undefined ? {} : { fenceLine: chunk.fenceLine }),
    text: chunk.text,
    value: chunk.part === 'item' && Array.isArray(value) ? value[0] : value,
    problems,
    locate,
    sourceOf: (path) => blockAt(chunk.text, place(path)),
  };
}

/** The items of a List (or of a bare array of objects); any other manifest as it is. */
function* opened(whole: Manifest): Generator<Manifest> {
  const list = listPath(whole.value);
  if (list === undefined) {
    yield whole;
    return;
  }
  if (whole.problems.length > 0 || list.items.length === 0) yield { ...whole, value: undefined };
  // Field by field: spreading `whole` would work out its line for every item.
  const { file, format, text } = whole;
  const fence = whole.fenceLine === undefined ? {} : { fenceLine: whole.fenceLine };
  for (const [index, value] of list.items.entries()) {
    const at = [...list.path, index];
    const item: Manifest = {
      file,
      format,
      text,
      ...fence,
      get line() {
        return whole.locate(at).line;
      },
      value,
      problems: [],
      locate: (path) => whole.locate([...at, ...path]),
      sourceOf: (path) => whole.sourceOf([...at, ...path]),
    };
    yield* opened(item);
  }
}

function listPath(value: unknown): { path: FieldPath; items: unknown[] } | undefined {
  if (Array.isArray(value)) {
    const isObjects =
      value.length > 0 && value.every((item) => isMap(item) && ('kind' in item || 'apiVersion' in item));
    return isObjects ? { path: [], items: value } : undefined;
  }
  if (!isMap(value) || typeof value['kind'] !== 'string' || !value['kind'].endsWith('List')) return undefined;
  return Array.isArray(value['items']) ? { path: ['items'], items: value['items'] } : undefined;
}

/** Offset of the first character that is neither blank, comment nor document marker. */
function firstWord(text: string): number {
  const match = /^(?:(?:---|%[^\n]*)?[ \t]*(?:#[^\n]*)?\r?\n|[ \t]+(?=#)[^\n]*\n)*(?:--- )?[ ]*/.exec(text);
  return match?.[0].length ?? 0;
}
