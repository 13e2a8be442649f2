// Keeps only suggestions that work: what each says is done to a copy, and the copy is planned. What turns up behind an
// obstacle once it is gone is an obstacle too and is added, until the pod has a place or nothing more can be done in that
// pool. Of everything in the way, only the smallest set whose removal gives the pod a place keeps its suggestions; a pool
// that cannot be opened keeps none. Pools that can be opened come first, in the order of the plan.
import { label } from '../../../api/names.ts';
import { type Plan, type Reason, type Snapshot, useOf } from '../../../core/index.ts';
import type { deviceSelectors } from '../plan.ts';
import { withWorkingChoices } from './choices.ts';
import { nameOf, type PlanBudget, smallestEnough, type Trial, tryRemedies } from './try-remedies.ts';

/** Pods that differ in nothing that matters here are tried once; of many kinds, the first. */
const mostKinds = 20;
const mostPools = 5;
/** An obstacle behind an obstacle behind an obstacle. */
const mostRounds = 4;
/** Above this many objects, only pods that need not know the others are tried. */
const mostObjects = 20_000;
/** Up to this many, everything is tried among all the others; above, with the pod alone, and the result among the others. */
const mostSearchedWhole = 1_000;
/** What may be spent on plans of the pod alone, and on plans of the whole snapshot. */
const mostPlans = { alone: 600, whole: 300 };

type Options = Awaited<ReturnType<typeof deviceSelectors>>;

interface Search {
  readonly whole: Snapshot;
  readonly options: Options;
  readonly budgets: { alone: PlanBudget; whole: PlanBudget };
}

export function confirmSuggestions(plan: Plan, snapshot: Snapshot, options: Options): Plan {
  const known = new Map<string, Reason[]>();
  const search: Search = {
    whole: snapshot,
    options,
    budgets: { alone: { left: mostPlans.alone }, whole: { left: mostPlans.whole } },
  };
  const unschedulable = plan.unschedulable.map(({ pod, reasons }) => {
    const kind = JSON.stringify(reasons);
    let confirmed = known.get(kind);
    if (confirmed === undefined) {
      confirmed = known.size < mostKinds ? confirmedReasons(pod, reasons, search) : without(reasons);
      known.set(kind, confirmed);
    }
    return { pod, reasons: confirmed };
  });
  return { ...plan, unschedulable };
}

function confirmedReasons(key: string, reasons: readonly Reason[], search: Search): Reason[] {
  const pools = poolsIn(reasons);
  const unknown = pools.length === 0 && reasons[0]?.code === 'UnknownValue';
  if (pools.length === 0 && !unknown) return [...reasons];
  const worlds = worldsFor(key, search);
  if (worlds.length === 0) return without(reasons);
  if (unknown) return beyondUnknown(worlds, reasons);
  const general = without(reasons.filter(({ nodePool }) => nodePool === undefined));
  const tried = pools.map((pool, at) => {
    const own = reasons.filter(({ nodePool }) => nodePool === pool);
    return at < mostPools ? openPool(worlds, pool, own) : { isPlaced: false, obstacles: without(own) };
  });
  const open = tried.filter(({ isPlaced }) => isPlaced);
  const closed = tried.filter(({ isPlaced }) => !isPlaced);
  // What decides must stay first where it is not about a single pool.
  const sorted = [...open, ...closed].flatMap(({ obstacles }) => obstacles);
  const isDecided = reasons[0]?.nodePool === undefined || reasons[0].code === 'MinValuesUnsatisfied';
  return isDecided ? [...general, ...tried.flatMap(({ obstacles }) => obstacles)] : [...sorted, ...general];
}

function poolsIn(reasons: readonly Reason[]): string[] {
  return [...new Set(reasons.flatMap(({ nodePool }) => nodePool ?? []))];
}

/** Values that exist nowhere come before all pools; what is behind them is said for the first pool that can be opened. */
function beyondUnknown(worlds: readonly World[], reasons: readonly Reason[]): Reason[] {
  const [world] = worlds as [World];
  const outcome = tryRemedies({ ...world, pool: undefined }, reasons);
  if (outcome.kind === 'placed') return withWorkingChoices({ ...world, pool: undefined }, reasons);
  const behind = outcome.kind === 'waits' ? outcome.reasons : [];
  for (const pool of poolsIn(behind).slice(0, mostPools)) {
    const own = behind.filter(({ nodePool }) => nodePool === pool);
    const { isPlaced, obstacles } = openPool(worlds, pool, [...reasons, ...own]);
    if (isPlaced) return obstacles;
  }
  return without(reasons);
}

interface Tried {
  isPlaced: boolean;
  /** Everything in the way; with suggestions where following them helps. */
  obstacles: Reason[];
}

type World = Omit<Trial, 'pool'>;

/** Where remedies are tried: among all the other pods and nodes, or first with the pod alone where that is much cheaper. */
function worldsFor(key: string, { whole, options, budgets }: Search): World[] {
  const among: World = { snapshot: whole, pod: key, options, budget: budgets.whole };
  const { length } = whole.objects.items;
  if (length <= mostSearchedWhole) return [among];
  const alone = podAlone(whole, key);
  if (alone === undefined) return length > mostObjects ? [] : [among];
  const cheap: World = { snapshot: alone, pod: key, options, budget: budgets.alone };
  // Where the pod has a place once it is alone, the others are part of what is in its way.
  return tryRemedies({ ...cheap, pool: undefined }, []).kind === 'placed' ? [among] : [cheap, among];
}

function openPool(worlds: readonly World[], pool: string | undefined, reasons: readonly Reason[]): Tried {
  let obstacles = [...reasons];
  for (const [at, world] of worlds.entries()) {
    const trial: Trial = { ...world, pool };
    obstacles = allObstacles(trial, obstacles);
    const enough = smallestEnough(trial, obstacles);
    if (enough === undefined) continue;
    const last: Trial = { ...(worlds.at(-1) as World), pool };
    const isProven = at === worlds.length - 1 || tryRemedies(last, enough).kind === 'placed';
    if (isProven)
      return { isPlaced: true, obstacles: withoutOthers(obstacles, enough, withWorkingChoices(last, enough)) };
  }
  return { isPlaced: false, obstacles: without(obstacles) };
}

/** What was known, and what stands behind it. */
function allObstacles(trial: Trial, reasons: readonly Reason[]): Reason[] {
  const obstacles = [...reasons];
  for (let round = 0; round < mostRounds; round += 1) {
    const outcome = tryRemedies(trial, obstacles);
    if (outcome.kind !== 'waits') break;
    const seen = new Set(obstacles.map(identity));
    const next = outcome.reasons
      .filter((reason) => (reason.nodePool ?? trial.pool) === trial.pool && !seen.has(identity(reason)))
      .map((reason) => (trial.pool === undefined ? reason : { ...reason, nodePool: trial.pool }));
    if (next.length === 0) break;
    obstacles.push(...next);
  }
  return obstacles;
}

/** The same obstacle with another suggestion is another one: of two rules over one key, the second. */
const identity = ({ code, keys = [], suggestion = '' }: Reason): string => `${code} ${keys.join()} ${suggestion}`;

function without(reasons: readonly Reason[]): Reason[] {
  return withoutOthers(reasons, []);
}

/** `kept` as they are to be shown, the others without their suggestions. */
function withoutOthers(reasons: readonly Reason[], kept: readonly Reason[], shown: readonly Reason[] = kept): Reason[] {
  return reasons.map((reason) => {
    const known = shown[kept.indexOf(reason)];
    if (known !== undefined) return known;
    const { suggestion: _, ...bare } = reason;
    return bare;
  });
}

/** The pod by itself on new nodes, with limits as they are used; undefined if it asks about other pods. */
function podAlone(snapshot: Snapshot, key: string): Snapshot | undefined {
  const pod = snapshot.objects.items.find((object) => object.kind === 'Pod' && nameOf(object) === key);
  const spec = pod?.['spec'] as Record<string, unknown> | undefined;
  const affinity = spec?.['affinity'] as Record<string, unknown> | undefined;
  const asksAboutOthers = [
    spec?.['topologySpreadConstraints'],
    affinity?.['podAffinity'],
    affinity?.['podAntiAffinity'],
    spec?.['resourceClaims'],
  ].some((each) => each !== undefined);
  if (asksAboutOthers) return undefined;
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
