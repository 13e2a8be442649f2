// Keeps only suggestions that work: what each says is done to a copy, and the copy is planned. What turns up behind an
// obstacle once it is gone is an obstacle too and is added, until the pod has a place or nothing more can be done in that
// pool; then its suggestions go. Pools that can be opened come first, in the order of the plan.
import { label } from '../../../api/names.ts';
import {
  type Plan,
  planSnapshot,
  type Reason,
  type Snapshot,
  type SnapshotObject,
  useOf,
} from '../../../core/index.ts';
import type { deviceSelectors } from '../plan.ts';
import { applyRemedy } from './remedies.ts';

/** Pods that differ in nothing that matters here are tried once; of many kinds, the first. */
const mostKinds = 20;
const mostPools = 5;
/** An obstacle behind an obstacle behind an obstacle. */
const mostRounds = 4;
/** Above this many objects, only pods that need not know the others are tried. */
const mostObjects = 20_000;

type Options = Awaited<ReturnType<typeof deviceSelectors>>;

export function confirmSuggestions(plan: Plan, snapshot: Snapshot, options: Options): Plan {
  const known = new Map<string, Reason[]>();
  const unschedulable = plan.unschedulable.map(({ pod, reasons }) => {
    const kind = JSON.stringify(reasons);
    let confirmed = known.get(kind);
    if (confirmed === undefined) {
      confirmed = known.size < mostKinds ? confirmedReasons(pod, reasons, snapshot, options) : without(reasons);
      known.set(kind, confirmed);
    }
    return { pod, reasons: confirmed };
  });
  return { ...plan, unschedulable };
}

function confirmedReasons(key: string, reasons: readonly Reason[], whole: Snapshot, options: Options): Reason[] {
  const pools = [...new Set(reasons.flatMap(({ nodePool }) => nodePool ?? []))];
  if (pools.length === 0 && reasons[0]?.code !== 'UnknownValue') return [...reasons];
  const snapshot = reduced(whole, key);
  if (snapshot === undefined) return [...reasons];
  if (pools.length === 0) {
    const { isPlaced, obstacles } = removeAll(snapshot, key, undefined, reasons, options);
    return isPlaced ? [...reasons] : obstacles;
  }
  const general = reasons.filter(({ nodePool }) => nodePool === undefined);
  const tried = pools.map((pool, at) => {
    const own = reasons.filter(({ nodePool }) => nodePool === pool);
    return at < mostPools ? removeAll(snapshot, key, pool, own, options) : { isPlaced: false, obstacles: without(own) };
  });
  const open = tried.filter(({ isPlaced }) => isPlaced);
  const closed = tried.filter(({ isPlaced }) => !isPlaced);
  // What decides must stay first where it is not about a single pool.
  const sorted = [...open, ...closed].flatMap(({ obstacles }) => obstacles);
  const isDecided = reasons[0]?.nodePool === undefined || reasons[0].code === 'MinValuesUnsatisfied';
  return isDecided ? [...general, ...tried.flatMap(({ obstacles }) => obstacles)] : [...sorted, ...general];
}

interface Tried {
  isPlaced: boolean;
  /** Everything in the way; with suggestions if following all of them helps. */
  obstacles: Reason[];
}

function removeAll(
  snapshot: Snapshot,
  key: string,
  pool: string | undefined,
  reasons: readonly Reason[],
  options: Options,
): Tried {
  const obstacles = [...reasons];
  const copy: Snapshot = structuredClone(snapshot);
  const find = (kind: string, name: string): SnapshotObject | undefined =>
    copy.objects.items.find((object) => object.kind === kind && nameOf(object) === name);
  const pod = find('Pod', key);
  if (pod === undefined) return { isPlaced: false, obstacles: without(obstacles) };
  let next: readonly Reason[] = reasons;
  for (let round = 0; round < mostRounds; round += 1) {
    const changing = { snapshot: copy, pod, pool: pool === undefined ? undefined : find('NodePool', pool) };
    if (!next.every((reason) => applyRemedy(changing, reason))) break;
    const { unschedulable } = planSnapshot(copy, { ...options, improve: false });
    const left = unschedulable.find((each) => each.pod === key);
    if (left === undefined) return { isPlaced: true, obstacles };
    const seen = new Set(obstacles.map(identity));
    next = left.reasons.filter((reason) => reason.nodePool === pool && !seen.has(identity(reason)));
    if (next.length === 0) break;
    obstacles.push(...next);
  }
  return { isPlaced: false, obstacles: without(obstacles) };
}

const identity = ({ code, keys = [] }: Reason): string => `${code} ${keys.join()}`;

function without(reasons: readonly Reason[]): Reason[] {
  return reasons.map((reason) => {
    const { suggestion: _, ...kept } = reason;
    return kept;
  });
}

function nameOf({ kind, metadata }: SnapshotObject): string {
  return kind === 'Pod' ? `${metadata.namespace ?? 'default'}/${metadata.name}` : metadata.name;
}

/** A pod that asks about no others is planned by itself on new nodes, with limits as they are used. */
function reduced(snapshot: Snapshot, key: string): Snapshot | undefined {
  const pod = snapshot.objects.items.find((object) => object.kind === 'Pod' && nameOf(object) === key);
  const spec = pod?.['spec'] as Record<string, unknown> | undefined;
  const affinity = spec?.['affinity'] as Record<string, unknown> | undefined;
  const asksAboutOthers = [
    spec?.['topologySpreadConstraints'],
    affinity?.['podAffinity'],
    affinity?.['podAntiAffinity'],
    spec?.['resourceClaims'],
  ].some((each) => each !== undefined);
  if (asksAboutOthers) return snapshot.objects.items.length > mostObjects ? undefined : snapshot;
  const gone = new Set(['Node', 'NodeClaim', 'Pod', 'CSINode', 'VolumeAttachment']);
  const items = snapshot.objects.items.filter((object) => object === pod || !gone.has(object.kind));
  return { ...snapshot, objects: { ...snapshot.objects, items }, nodeState: [], poolState: poolStates(snapshot) };
}

function poolStates(snapshot: Snapshot): NonNullable<Snapshot['poolState']> {
  const { items } = snapshot.objects;
  const known = new Map(snapshot.poolState?.map((entry) => [entry.nodePool, entry]));
  return items
    .filter(({ kind }) => kind === 'NodePool')
    .map(({ metadata }) => {
      const own = items.filter((object) => {
        const labels = object.metadata['labels'] as Record<string, string> | undefined;
        return object.kind === 'Node' && labels?.[label.nodePool] === metadata.name;
      });
      const capacities = own.map((node) => (node['status'] as { capacity?: Record<string, string> })?.capacity ?? {});
      const entry = known.get(metadata.name);
      return { nodePool: metadata.name, ...entry, inUse: { ...useOf(capacities), ...entry?.inUse } };
    });
}
