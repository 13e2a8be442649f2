// Where a plan starts: a snapshot from a file or a live cluster, manifests on top of it, or manifests alone. An object
// from a manifest takes the place of the one of the same name in the snapshot, so "what if" is one more file.
import { KerfError } from '../../base/index.ts';
import type { NodeStateEntry, Snapshot, SnapshotObject } from '../../core/index.ts';
import { counted } from '../output/index.ts';
import type { ClusterReading } from '../snapshot/cluster.ts';
import type { ControllerReading } from '../snapshot/controller-facts.ts';
import type { ReadSource } from '../snapshot/read-snapshot.ts';
import { readSnapshot } from '../snapshot/read-snapshot.ts';
import type { CollectedManifests } from './manifests/collect.ts';
import { objectsOf } from './manifests/objects-of.ts';

export interface InputOptions {
  /** Files and folders of manifests. */
  files: readonly string[];
  snapshotFile?: string;
  /** Reads the live cluster, if one was asked for. */
  readCluster?: () => Promise<ClusterReading>;
  source: ReadSource;
}

export interface PlanInput {
  snapshot: Snapshot;
  /** NodePools that came from manifests. */
  addedPools: Set<string>;
  /** What was left out and why; for people. */
  notes: string[];
  /** Of a live cluster: what its controller says about itself. */
  controller?: ControllerReading;
}

export async function readInput(options: InputOptions): Promise<PlanInput> {
  const notes: string[] = [];
  const live = options.snapshotFile === undefined ? await options.readCluster?.() : undefined;
  const base = live?.snapshot ?? (await readBase(options, notes));
  const collected = await readManifestFiles(options);
  addIgnored(collected.ignored, notes);
  const [inside, ...more] = collected.snapshots;
  const tooMany = more[0] ?? (base === undefined ? undefined : inside);
  if (tooMany !== undefined) {
    throw new KerfError(
      'TwoSnapshots',
      `cannot plan from two snapshots at once: leave out one of them (${tooMany.file})`,
    );
  }
  const start = base ?? inside?.snapshot;
  const { objects, notes: expansionNotes } = objectsOf(collected.objects, start?.objects.items);
  notes.push(...collected.notes, ...expansionNotes);
  return {
    ...(live === undefined ? {} : { controller: live.controller }),
    snapshot: merge(start, objects),
    addedPools: new Set(objects.filter(({ kind }) => kind === 'NodePool').map(({ metadata }) => metadata.name)),
    notes,
  };
}

/** The readers of YAML are loaded only when there are manifests to read. */
async function readManifestFiles(options: InputOptions): Promise<CollectedManifests> {
  if (options.files.length === 0) return { objects: [], snapshots: [], ignored: new Map(), notes: [] };
  const { collectManifests } = await import('./manifests/collect.ts');
  return collectManifests(options.files, options.source);
}

async function readBase(options: InputOptions, notes: string[]): Promise<Snapshot | undefined> {
  if (options.snapshotFile !== undefined) {
    const { snapshot, unknownKinds } = await readSnapshot(options.snapshotFile, options.source);
    addIgnored(unknownKinds, notes);
    return snapshot;
  }
  return undefined;
}

function addIgnored(kinds: Map<string, number>, notes: string[]): void {
  if (kinds.size === 0) return;
  let total = 0;
  const names = [...kinds].sort(([left], [right]) => (left < right ? -1 : 1));
  for (const [, count] of names) total += count;
  const list = names.map(([kind, count]) => (count === 1 ? kind : `${kind} (${count})`)).join(', ');
  notes.push(`ignored ${counted(total, 'object')} of kinds that planning does not read: ${list}`);
}

function merge(start: Snapshot | undefined, added: SnapshotObject[]): Snapshot {
  if (start === undefined) {
    return { apiVersion: 'kerf/v1', kind: 'Snapshot', objects: { apiVersion: 'v1', kind: 'List', items: added } };
  }
  if (added.length === 0) return start;
  const replaced = new Set(added.map(idOf));
  const kept = start.objects.items.filter((object) => !replaced.has(idOf(object)));
  const merged: Snapshot = { ...start, objects: { ...start.objects, items: [...kept, ...added] } };
  if (start.nodeState !== undefined) merged.nodeState = [...start.nodeState, ...newMachines(start.nodeState, added)];
  return merged;
}

/** Nodes from manifests are machines too; where the snapshot lists its machines, they must be listed beside. */
function newMachines(known: readonly NodeStateEntry[], added: readonly SnapshotObject[]): NodeStateEntry[] {
  const nodes = new Set(known.map(({ node }) => node));
  return added
    .filter(({ kind, metadata }) => kind === 'Node' && !nodes.has(metadata.name))
    .map(({ metadata }) => ({ node: metadata.name, initialized: true }));
}

function idOf({ kind, metadata }: SnapshotObject): string {
  return `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
}
