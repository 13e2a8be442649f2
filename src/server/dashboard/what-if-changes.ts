// The changes a what-if may make to a snapshot: manifests written over what is there, nodes or a zone that are gone, other
// spot prices, more pods of a workload.
import { parseAllDocuments } from 'yaml';
import { admitKind, annotation, fieldErrorText, kinds, label, type NodePool, nodePoolHash } from '../../api/index.ts';
import { deepestYaml, yamlTooDeepAt } from '../../base/index.ts';
import {
  type InstanceTypeSpec,
  type PoolInstanceTypes,
  type ProviderFacts,
  requirementsDrifted,
  type Snapshot,
  type SnapshotObject,
} from '../../core/index.ts';
import type { Pod } from '../../ports/index.ts';
import { workloadOf } from '../../view/index.ts';
import { ApiError } from './api-error.ts';

export interface Order {
  manifests: string;
  removeNodes: string[];
  zoneGone: string;
  spotPriceFactor: number;
  scale: { workload: string; factor: number }[];
  /** Of the recorded day, rather than of the cluster as it is. */
  day: boolean;
}

export interface Drift {
  nodePool: string;
  reason: 'NodePoolDrifted' | 'RequirementsDrifted';
  nodes: string[];
}

export interface Changed {
  snapshot: Snapshot;
  notes: string[];
  drift: Drift[];
  /** Pods on nodes that are gone. */
  movedPods: number;
  gonePricePerHour: number;
}

/** Of a snapshot that does not say what its provider is like. */
const noFacts: ProviderFacts = { nodeClasses: [], wellKnownLabels: [] };

const mostCopies = 5_000;

export function orderOf(body: unknown): Order {
  const given = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);
  const factor = Number(given['spotPriceFactor'] ?? 1);
  if (!(factor > 0 && factor <= 100)) {
    throw new ApiError(
      400,
      'BadRequest',
      'spotPriceFactor is not a number above 0',
      'write 1.3 for prices 30 % higher',
    );
  }
  const scale = Array.isArray(given['scale']) ? (given['scale'] as { workload?: unknown; factor?: unknown }[]) : [];
  return {
    manifests: typeof given['manifests'] === 'string' ? given['manifests'] : '',
    removeNodes: texts(given['removeNodes']),
    day: given['day'] === true,
    zoneGone: typeof given['zoneGone'] === 'string' ? given['zoneGone'] : '',
    spotPriceFactor: factor,
    scale: scale.map((each) => ({ workload: String(each.workload), factor: Number(each.factor) || 1 })),
  };
}

export function changedSnapshot(snapshot: Snapshot, order: Order): Changed {
  const notes: string[] = [];
  const written = readManifests(order.manifests);
  let items: SnapshotObject[] = [...snapshot.objects.items];
  const drift: Drift[] = [];
  for (const object of written) {
    const at = items.findIndex((each) => isSame(each, object));
    if (object.kind === 'NodePool')
      drift.push(...driftOf(items, object as unknown as NodePool, snapshot.provider ?? noFacts));
    if (at >= 0) items[at] = merged(items[at] as SnapshotObject, object);
    else items = [...items, object];
  }
  for (const { workload, factor } of order.scale) items = [...items, ...copies(items, workload, factor)];
  const gone = goneNodes(items, order);
  const nodeState = (snapshot.nodeState ?? []).map((entry) =>
    gone.has(entry.node ?? '') ? { ...entry, markedForDeletion: true } : entry,
  );
  const movedPods = items.filter(
    ({ kind, spec }) => kind === 'Pod' && gone.has((spec as { nodeName?: string } | undefined)?.nodeName ?? ''),
  ).length;
  return {
    snapshot: {
      ...snapshot,
      objects: { ...snapshot.objects, items },
      nodeState,
      ...(snapshot.instanceTypes && { instanceTypes: snapshot.instanceTypes.map((pool) => offered(pool, order)) }),
    },
    notes,
    drift,
    movedPods,
    gonePricePerHour: priceOf(items, gone, snapshot.instanceTypes ?? []),
  };
}

/** Of NodePools and the like as they would be admitted; others as they are written. Throws what is wrong with them. */
export function readManifests(text: string): SnapshotObject[] {
  if (text.trim() === '') return [];
  if (yamlTooDeepAt(text) !== undefined) throw new Error(`nested more than ${deepestYaml} levels deep`);
  return parseAllDocuments(text).flatMap((document): SnapshotObject[] => {
    const [problem] = document.errors;
    if (problem !== undefined) throw new Error(problem.message);
    const object = document.toJS({ maxAliasCount: 100 }) as SnapshotObject | null;
    if (object === null) return [];
    if (typeof object !== 'object' || typeof object.kind !== 'string' || typeof object.metadata?.name !== 'string') {
      throw new Error('a manifest needs apiVersion, kind and metadata.name');
    }
    const definition = kinds.find(({ kind }) => kind === object.kind);
    if (definition === undefined) return [object];
    const { errors, unknownFields, object: complete } = admitKind(definition, object);
    const problems = [...unknownFields.map(({ field }) => `unknown field ${field}`), ...errors.map(fieldErrorText)];
    if (problems.length > 0) throw new Error(`${object.kind} ${object.metadata.name}: ${problems.join('; ')}`);
    return [complete as SnapshotObject];
  });
}

const isSame = (left: SnapshotObject, right: SnapshotObject): boolean =>
  left.kind === right.kind &&
  left.metadata.name === right.metadata.name &&
  (left.metadata.namespace ?? 'default') === (right.metadata.namespace ?? 'default');

/** What is written wins; what the cluster knows of the object stays. */
const merged = (old: SnapshotObject, written: SnapshotObject): SnapshotObject => ({
  ...written,
  metadata: { ...old.metadata, ...written.metadata },
  ...(old['status'] !== undefined && { status: old['status'] }),
});

/** Nodes whose pool would have another template, or requirements that their labels do not meet. */
function driftOf(items: readonly SnapshotObject[], pool: NodePool, facts: ProviderFacts): Drift[] {
  const hash = nodePoolHash(pool.spec.template);
  const nodePool = pool.metadata.name ?? '';
  const nodes: Record<Drift['reason'], string[]> = { NodePoolDrifted: [], RequirementsDrifted: [] };
  for (const { kind, metadata } of items) {
    const labels = (metadata['labels'] ?? {}) as Record<string, string>;
    if (kind !== 'NodeClaim' || labels[label.nodePool] !== nodePool) continue;
    const annotations = metadata['annotations'] as Record<string, string> | undefined;
    if (annotations?.[annotation.nodePoolHash] !== hash) nodes.NodePoolDrifted.push(metadata.name);
    else if (requirementsDrifted(pool.spec.template.spec.requirements ?? [], labels, facts))
      nodes.RequirementsDrifted.push(metadata.name);
  }
  return (Object.keys(nodes) as Drift['reason'][])
    .filter((reason) => nodes[reason].length > 0)
    .map((reason) => ({ nodePool, reason, nodes: nodes[reason] }));
}

function copies(items: readonly SnapshotObject[], workload: string, factor: number): SnapshotObject[] {
  const own = items.filter((each) => each.kind === 'Pod' && workloadOf(each as unknown as Pod) === workload);
  if (own.length === 0) throw new Error(`there is no pod of ${workload}`);
  const wanted = Math.min(mostCopies, Math.max(0, Math.round(own.length * (factor - 1))));
  return Array.from({ length: wanted }, (_, at) => waitingCopy(own[at % own.length] as SnapshotObject, at));
}

function waitingCopy(pod: SnapshotObject, at: number): SnapshotObject {
  const { nodeName: _, ...spec } = pod['spec'] as Record<string, unknown>;
  const { uid: __, resourceVersion: ___, ...metadata } = pod.metadata as Record<string, unknown>;
  const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable' };
  const name = `${pod.metadata.name}-what-if-${at}`;
  return {
    ...pod,
    metadata: { ...metadata, name },
    spec,
    status: { phase: 'Pending', conditions: [condition] },
  };
}

function goneNodes(items: readonly SnapshotObject[], { removeNodes, zoneGone }: Order): Set<string> {
  const gone = new Set(removeNodes);
  for (const { kind, metadata } of items) {
    const labels = metadata['labels'] as Record<string, string> | undefined;
    if (kind === 'Node' && zoneGone !== '' && labels?.[label.zone] === zoneGone) gone.add(metadata.name);
  }
  for (const name of removeNodes) {
    if (!items.some(({ kind, metadata }) => kind === 'Node' && metadata.name === name)) {
      throw new Error(`there is no node ${name}`);
    }
  }
  return gone;
}

function offered(pool: PoolInstanceTypes, { zoneGone, spotPriceFactor }: Order): PoolInstanceTypes {
  if ((zoneGone === '' && spotPriceFactor === 1) || pool.items === undefined) return pool;
  const has = (type: InstanceTypeSpec['offerings'][number], key: string, value: string): boolean =>
    type.requirements.some((each) => each.key === key && each.values?.includes(value) === true);
  return {
    ...pool,
    items: pool.items.map((type) => ({
      ...type,
      offerings: type.offerings.map((offering) => ({
        ...offering,
        available: offering.available && !(zoneGone !== '' && has(offering, label.zone, zoneGone)),
        price: has(offering, label.capacityType, 'spot') ? offering.price * spotPriceFactor : offering.price,
      })),
    })),
  };
}

function priceOf(
  items: readonly SnapshotObject[],
  nodes: ReadonlySet<string>,
  pools: readonly PoolInstanceTypes[],
): number {
  let sum = 0;
  for (const { kind, metadata } of items) {
    if (kind !== 'Node' || !nodes.has(metadata.name)) continue;
    const labels = (metadata['labels'] ?? {}) as Record<string, string>;
    const pool = pools.find(({ nodePool }) => nodePool === labels[label.nodePool]);
    const type = pool?.items?.find(({ name }) => name === labels[label.instanceType]);
    const offering = type?.offerings.find(({ requirements }) =>
      [label.zone, label.capacityType].every((key) =>
        requirements.some((each) => each.key === key && each.values?.includes(labels[key] ?? '') === true),
      ),
    );
    sum += offering?.price ?? 0;
  }
  return sum;
}
