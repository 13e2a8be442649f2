// Fills in what a snapshot leaves open, so that the planner sees a whole one: the clock, the provider and its instance
// types, and what flags say. Never the wall clock: the same input must give the same plan tomorrow.
import { label } from '../../api/names.ts';
import type { PoolInstanceTypes, ProviderFacts, Snapshot, SnapshotObject, SnapshotSettings } from '../../core/index.ts';
import type { GivenCatalogue } from './catalogue-document.ts';
import { withLaunchingClaims } from './launching.ts';
import { markReady } from './manifests/objects-of.ts';
import { withOverlays } from './overlays.ts';
import {
  guessProvider,
  loadProvider,
  nodeClassRefOf,
  type PlanProvider,
  type ProviderName,
  type ProviderOptions,
} from './provider.ts';

export interface CompletionOptions extends ProviderOptions {
  provider?: ProviderName;
  catalogue?: GivenCatalogue;
  settings: SnapshotSettings;
  time?: string;
  /** NodePools added to the snapshot afterwards: its instance types cannot know them. */
  addedPools?: ReadonlySet<string>;
}

/** The time of a snapshot that has neither a time of its own nor an object with one. */
const beginningOfTime = '1970-01-01T00:00:00Z';

export interface CompletedSnapshot {
  snapshot: Snapshot;
  /** What had to be assumed; for people. */
  notes: string[];
}

export async function completeSnapshot(snapshot: Snapshot, options: CompletionOptions): Promise<CompletedSnapshot> {
  const notes = new Set<string>();
  const objects = withReadyPools(snapshot.objects.items, notes);
  const needed = poolsToFill(snapshot, options.addedPools);
  const needsProvider = snapshot.provider?.nodeClasses === undefined || needed.length > 0;
  const provider = needsProvider
    ? await loadProvider(options.provider ?? guessProvider(objects), objects, options)
    : undefined;
  if (provider?.name !== 'aws')
    for (const flag of awsFlags(options)) notes.add(`${flag} has no effect: ${whyNoEffect(provider)}`);
  const facts = factsFor(snapshot, provider, options.catalogue);
  const offered = needed.flatMap((pool) => typesFor(pool, { ...options, objects, facts, provider, notes }));
  const filled = await withOverlays(offered, objects, facts, notes);
  const unknown = unknownTypes(filled, objects);
  if (unknown.length > 0) {
    const names = `${unknown.slice(0, 3).join(', ')}${unknown.length > 3 ? ', …' : ''}`;
    notes.add(`nodes have instance types that no catalogue here has (${names}): give theirs with --instance-types`);
  }
  const completed: Snapshot = {
    ...snapshot,
    objects: { ...snapshot.objects, items: objects },
    time: options.time ?? snapshot.time ?? newestCreation(objects),
    settings: { ...snapshot.settings, ...options.settings },
    provider: facts,
    instanceTypes: [...(snapshot.instanceTypes ?? []), ...filled],
  };
  return { snapshot: withLaunchingClaims(completed, facts), notes: [...notes] };
}

/** Flags given that only EC2's figures depend on. */
function awsFlags({ region, zones, livePrices }: CompletionOptions): string[] {
  const given = { '--region': region, '--zones': zones, '--live-prices': livePrices };
  return Object.entries(given).flatMap(([flag, value]) => (value === undefined ? [] : [flag]));
}

const whyNoEffect = (provider: PlanProvider | undefined): string =>
  provider === undefined
    ? 'the snapshot has instance types of its own'
    : 'the NodePools are not of AWS (no EC2NodeClass is named)';

/** Pools that no controller has looked at yet, of a snapshot as of a file: the first that does finds them ready. */
function withReadyPools(objects: SnapshotObject[], notes: Set<string>): SnapshotObject[] {
  const unseen = objects.filter((object) => object.kind === 'NodePool' && markReady(object) !== object);
  if (unseen.length === 0) return objects;
  const names = unseen.map(({ metadata }) => metadata.name);
  const list = `${names.slice(0, 3).join(', ')}${names.length > 3 ? ', …' : ''}`;
  notes.add(`no controller has judged ${names.length === 1 ? 'NodePool' : 'NodePools'} ${list} yet: counted as ready`);
  return objects.map((object) => (unseen.includes(object) ? markReady(object) : object));
}

/** Types of nodes of these NodePools that the pools do not offer: their prices are not known. */
function unknownTypes(offered: readonly PoolInstanceTypes[], objects: readonly SnapshotObject[]): string[] {
  const known = new Map(offered.map(({ nodePool, items = [] }) => [nodePool, new Set(items.map(({ name }) => name))]));
  const names = objects.flatMap(({ kind, metadata }) => {
    const labels = kind === 'Node' ? (metadata['labels'] as Record<string, string> | undefined) : undefined;
    const types = known.get(labels?.[label.nodePool] ?? '');
    const name = labels?.[label.instanceType];
    return types === undefined || name === undefined || types.has(name) ? [] : [name];
  });
  return [...new Set(names)].sort();
}

/** All NodePools when the snapshot has no instance types; else none of its own: one without an entry is unusable. */
function poolsToFill(snapshot: Snapshot, added: ReadonlySet<string> | undefined): SnapshotObject[] {
  const pools = snapshot.objects.items.filter(({ kind }) => kind === 'NodePool');
  if (snapshot.instanceTypes === undefined) return pools;
  const known = new Set(snapshot.instanceTypes.map(({ nodePool }) => nodePool));
  return pools.filter(({ metadata: { name } }) => added?.has(name) === true && !known.has(name));
}

function factsFor(
  snapshot: Snapshot,
  provider: PlanProvider | undefined,
  catalogue: GivenCatalogue | undefined,
): ProviderFacts {
  const given = snapshot.provider;
  if (given?.nodeClasses !== undefined) return { ...given, wellKnownLabels: given.wellKnownLabels ?? [] };
  const own = provider?.facts ?? { nodeClasses: [], wellKnownLabels: [] };
  if (catalogue === undefined) return { ...own, ...given };
  // A catalogue of its own serves whatever node classes the pools name.
  const classes = snapshot.objects.items.flatMap((object) => {
    const ref = object.kind === 'NodePool' ? nodeClassRefOf(object) : undefined;
    return ref === undefined ? [] : [`${ref.kind}.${ref.group}`];
  });
  return {
    ...own,
    nodeClasses: [...new Set([...own.nodeClasses, ...classes])].sort(),
    wellKnownLabels: [...new Set([...own.wellKnownLabels, ...catalogue.offeringKeys])].sort(),
    ...given,
  };
}

interface CatalogueSearch {
  objects: readonly SnapshotObject[];
  facts: ProviderFacts;
  provider: PlanProvider | undefined;
  catalogue?: GivenCatalogue;
  notes: Set<string>;
}

function typesFor(pool: SnapshotObject, search: CatalogueSearch): PoolInstanceTypes[] {
  const { objects, facts, provider, catalogue, notes } = search;
  const nodePool = pool.metadata.name;
  const ref = nodeClassRefOf(pool);
  if (ref === undefined) return [];
  if (!facts.nodeClasses.includes(`${ref.kind}.${ref.group}`)) {
    notes.add(`NodePool ${nodePool} is not used: ${ref.kind}.${ref.group} is not a node class of this provider`);
    return [];
  }
  if (catalogue?.types !== undefined) return [{ nodePool, items: catalogue.types }];
  if (catalogue?.pools !== undefined) return catalogue.pools.filter((entry) => entry.nodePool === nodePool);
  // A provider can only offer to node classes of its own.
  if (provider?.facts.nodeClasses.includes(`${ref.kind}.${ref.group}`) !== true) return [];
  const nodeClass = objects.find((object) => object.kind === ref.kind && object.metadata.name === ref.name);
  const { items, assumption } = provider.offers(pool, ref, nodeClass);
  for (const note of [...(assumption === undefined ? [] : [assumption]), ...provider.notes]) notes.add(note);
  return [{ nodePool, items }];
}

function newestCreation(objects: readonly SnapshotObject[]): string {
  let newest: string | undefined;
  for (const { metadata } of objects) {
    const created = metadata['creationTimestamp'];
    // Times as the API server writes them, UTC and whole seconds, sort as text.
    if (typeof created === 'string' && (newest === undefined || created > newest)) newest = created;
  }
  return newest ?? beginningOfTime;
}
