// Reads the manifests of `-f`: checks each as far as planning reads it, and keeps apart what planning cannot use. Every
// problem of every file is found before anything is said.
import { group } from '../../../api/names.ts';
import { KerfError } from '../../../base/index.ts';
import type { Snapshot, SnapshotObject } from '../../../core/index.ts';
import { type FieldPath, formatPath, type Manifest, readManifests } from '../../manifests/index.ts';
import { objectShapes, workloadShapes } from '../../snapshot/object-shapes.ts';
import { acceptSnapshot, describeProblem, type ReadSource } from '../../snapshot/read-snapshot.ts';
import { checkShape, type ShapeProblem } from '../../snapshot/shape.ts';
import { Skipped } from './skipped.ts';

export interface CollectedManifests {
  objects: SnapshotObject[];
  /** Snapshots among the files; a plan starts from at most one. */
  snapshots: { file: string; snapshot: Snapshot }[];
  /** Kinds that do not matter to planning, with how many of each. */
  ignored: Map<string, number>;
  notes: string[];
}

/** Kinds whose objects belong to no namespace. */
const clusterScoped = new Set([
  'Namespace',
  'Node',
  'NodePool',
  'NodeClaim',
  'PersistentVolume',
  'StorageClass',
  'CSINode',
  'VolumeAttachment',
  'EC2NodeClass',
  'KWOKNodeClass',
  'NodeOverlay',
  'RuntimeClass',
]);

/** Enough to work through before the next run. */
const mostProblems = 30;

export async function collectManifests(names: readonly string[], source: ReadSource): Promise<CollectedManifests> {
  const collected: CollectedManifests = { objects: [], snapshots: [], ignored: new Map(), notes: [] };
  const problems: string[] = [];
  const seen = new Map<string, Manifest>();
  const empty = new Set<string>();
  const skipped = new Skipped(names);
  for await (const item of readManifests(names, source)) {
    if (problems.length >= mostProblems) break;
    if (item.kind === 'unreadable') throw new KerfError('FileUnreadable', item.message, { subject: item.file });
    if (item.kind === 'file') {
      // In a folder any file may be about something else; one that was named was meant.
      if (names.includes(item.file) || item.file === 'stdin') empty.add(item.file);
      continue;
    }
    const { manifest } = item;
    // Samples inside documents explain; they are not meant to run.
    if (manifest.fenceLine !== undefined) continue;
    if (manifest.value !== undefined && manifest.value !== null) empty.delete(manifest.file);
    if (skipped.takes(manifest)) continue;
    for (const { line, column, message, fix } of manifest.problems) {
      problems.push(`${manifest.file}:${line}:${column}: ${message}${fix === undefined ? '' : `; ${fix}`}`);
    }
    if (manifest.problems.length > 0 || manifest.value === undefined || manifest.value === null) continue;
    if (isSnapshot(manifest.value)) {
      const accepted = await acceptSnapshot(manifest.value, manifest.file, () => Promise.resolve(manifest));
      collected.snapshots.push({ file: manifest.file, snapshot: accepted.snapshot });
      continue;
    }
    addObject(manifest, collected, seen, problems);
  }
  for (const file of empty) collected.notes.push(`there is no manifest in ${file}`);
  if (problems.length === 0) await admitOwnKinds(collected, seen, problems);
  source.progress?.clear();
  if (problems.length > 0) {
    const lines = [...problems, ...skipped.kustomizationHints()];
    throw new KerfError(
      'ManifestInvalid',
      `cannot plan, there are mistakes in the manifests:\n  ${lines.join('\n  ')}`,
    );
  }
  collected.notes.push(...skipped.notes());
  return collected;
}

const ownKinds = new Set(['NodePool', 'NodeClaim', 'EC2NodeClass', 'KWOKNodeClass', 'NodeOverlay']);

/** NodePools and node classes as an API server would store them: validated, defaults filled in. */
async function admitOwnKinds(
  collected: CollectedManifests,
  seen: Map<string, Manifest>,
  problems: string[],
): Promise<void> {
  if (!collected.objects.some(({ kind }) => ownKinds.has(kind))) return;
  const { admitKind, kindOf } = await import('../../../api/index.ts');
  collected.objects = collected.objects.map((object) => {
    const definition = ownKinds.has(object.kind) ? kindOf(object.apiVersion, object.kind) : undefined;
    if (definition === undefined) return object;
    const { object: admitted, errors, unknownFields } = admitKind(definition, object);
    const manifest = seen.get(idOf(object));
    const where = (path: FieldPath): string => `${manifest?.file ?? ''}:${manifest?.locate(path).line ?? ''}`;
    for (const { path, field, message } of errors)
      problems.push(`${where(path)}: ${field}: ${message} (${object.kind})`);
    for (const { path } of unknownFields) {
      collected.notes.push(`${where(path)}: ${object.kind} has no field ${formatPath(path)}; it is ignored`);
    }
    // Admission leaves status out, as for any write to an object; planning reads it.
    const status = object['status'];
    return { ...(admitted as SnapshotObject), ...(status === undefined ? {} : { status }) };
  });
}

function isSnapshot(value: unknown): boolean {
  const { apiVersion, kind } = value as { apiVersion?: unknown; kind?: unknown };
  return kind === 'Snapshot' && typeof apiVersion === 'string' && apiVersion.startsWith('kerf/');
}

function addObject(
  manifest: Manifest,
  collected: CollectedManifests,
  seen: Map<string, Manifest>,
  problems: string[],
): void {
  const { file, value } = manifest;
  const found: ShapeProblem[] = [];
  const kind = (value as { kind?: unknown }).kind;
  if (typeof value !== 'object' || Array.isArray(value) || typeof kind !== 'string') {
    problems.push(`${file}:${manifest.line}: the document is not a manifest: it has no kind`);
    return;
  }
  const shape = shapeOf(kind);
  if (shape === undefined) {
    collected.ignored.set(kind, (collected.ignored.get(kind) ?? 0) + 1);
    return;
  }
  checkShape(value, shape, [], found);
  const object = value as SnapshotObject;
  if (found.length === 0) checkIdentity(object, found);
  for (const problem of found) problems.push(`${describeProblem(file, manifest, problem)} (${kind})`);
  if (found.length > 0) return;
  const placed = inNamespace(object);
  const id = idOf(placed);
  const earlier = placed.metadata.name === undefined ? undefined : seen.get(id);
  if (earlier !== undefined) {
    const first = `${earlier.file}:${earlier.line}`;
    problems.push(`${file}:${manifest.line}: a second ${id.replace(' /', ' ')}; the first is in ${first}`);
    return;
  }
  // Its line is worked out only if asked for: that takes a second look at the file.
  seen.set(id, manifest);
  collected.objects.push(placed);
}

function idOf({ kind, metadata }: SnapshotObject): string {
  return `${kind} ${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
}

function shapeOf(kind: string) {
  if (Object.hasOwn(objectShapes, kind)) return objectShapes[kind];
  return Object.hasOwn(workloadShapes, kind) ? workloadShapes[kind] : undefined;
}

function checkIdentity(object: SnapshotObject, problems: ShapeProblem[]): void {
  const { name, generateName } = object.metadata as { name?: string; generateName?: string };
  if (name === undefined && !(object.kind === 'Pod' && generateName !== undefined)) {
    problems.push({ path: ['metadata', 'name'], message: 'is missing' });
  }
  const isOurs = object.kind === 'NodePool' || object.kind === 'NodeClaim';
  if (isOurs && object.apiVersion !== `${group}/v1`) {
    const message = `must be ${group}/v1, not ${JSON.stringify(object.apiVersion)}; \`kerf convert\` rewrites older versions`;
    problems.push({ path: ['apiVersion'], message });
  }
}

function inNamespace(object: SnapshotObject): SnapshotObject {
  if (clusterScoped.has(object.kind) || object.metadata.namespace !== undefined) return object;
  return { ...object, metadata: { ...object.metadata, namespace: 'default' } };
}
