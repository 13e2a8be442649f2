// Whom a more important pod may push aside, by kube-scheduler's rules: less important pods only, as few and as
// unimportant as possible, and those that a disruption budget protects last. Chooses; see preemptor.ts for what follows.
import { parseTime } from '../../base/index.ts';
import { selectorMatch } from '../../core/index.ts';
import type { Pod, PodDisruptionBudget } from '../../ports/index.ts';
import type { ClusterView, NodeRoom, PlacedPod } from './cluster-view.ts';
import { roomFilter } from './filters.ts';
import type { Refused } from './reasons.ts';
import type { VolumeLookup } from './volumes.ts';

export interface Sacrifice {
  room: NodeRoom;
  /** The most important first. */
  victims: readonly PlacedPod[];
  /** How many of them a budget protects. */
  violations: number;
}

/** As kube-scheduler: a tenth of the nodes, but no fewer than this, are enough to choose from. */
const fewCandidates = 100;

export const priorityOf = ({ spec }: Pod): number => spec?.priority ?? 0;

/** The cheapest sacrifice, or what the nodes with less important pods still say when those are gone. */
export function chooseVictims(
  pod: Pod,
  refusals: ReadonlyMap<string, Refused>,
  view: ClusterView,
  lookup: VolumeLookup,
  budgets: readonly PodDisruptionBudget[],
): Sacrifice | ReadonlyMap<string, Refused> {
  const enough = Math.max(fewCandidates, Math.floor(view.nodes.length / 10));
  const found: Sacrifice[] = [];
  const stillRefused = new Map<string, Refused>();
  for (const room of view.nodes) {
    if (found.length >= enough) break;
    if (refusals.get(room.name)?.unresolvable !== false) continue;
    const outcome = sacrificeOn(pod, room, view, lookup, budgets);
    if (outcome === undefined) continue;
    if ('victims' in outcome) found.push(outcome);
    else stillRefused.set(room.name, outcome);
  }
  const best = found.reduce<Sacrifice | undefined>(
    (least, each) => (least === undefined || isCheaper(each, least) ? each : least),
    undefined,
  );
  return best ?? stillRefused;
}

/** Undefined: no one there is less important. The view is as before when this returns. */
function sacrificeOn(
  pod: Pod,
  room: NodeRoom,
  view: ClusterView,
  lookup: VolumeLookup,
  budgets: readonly PodDisruptionBudget[],
): Sacrifice | Refused | undefined {
  const weaker = [...room.pods.values()].filter((placed) => priorityOf(placed.pod) < priorityOf(pod));
  if (weaker.length === 0) return undefined;
  const refusal = (): Refused | undefined => {
    const filter = roomFilter(pod, view, lookup);
    return 'message' in filter ? { reasons: [filter.message], unresolvable: true } : filter(room);
  };
  const putBack = ({ key, pod: other }: PlacedPod): void => view.place(key, other, room.name);
  for (const { key } of weaker) view.lift(key);
  const without = refusal();
  if (without !== undefined) {
    weaker.forEach(putBack);
    return without;
  }
  const { violating, others } = byBudget(weaker.sort(byImportance), budgets);
  const victims: PlacedPod[] = [];
  let violations = 0;
  for (const placed of [...violating, ...others]) {
    putBack(placed);
    if (refusal() === undefined) continue;
    view.lift(placed.key);
    victims.push(placed);
    if (violating.includes(placed)) violations++;
  }
  victims.forEach(putBack);
  return { room, victims: victims.sort(byImportance), violations };
}

/** Each budget is spent as victims are counted against it; who comes after that is protected. */
function byBudget(
  pods: readonly PlacedPod[],
  budgets: readonly PodDisruptionBudget[],
): { violating: PlacedPod[]; others: PlacedPod[] } {
  const left = budgets.map((budget) => ({
    budget,
    allowed: budget.status?.disruptionsAllowed ?? 0,
    match: selectorMatch(budget.spec?.selector as never),
  }));
  const violating: PlacedPod[] = [];
  const others: PlacedPod[] = [];
  for (const placed of pods) {
    const { name = '', namespace, labels = {} } = placed.pod.metadata;
    let isProtected = false;
    for (const each of left) {
      if (each.budget.metadata.namespace !== namespace || !each.match(labels)) continue;
      // An eviction under way has been counted already.
      if (each.budget.status?.disruptedPods?.[name] !== undefined) continue;
      each.allowed--;
      if (each.allowed < 0) isProtected = true;
    }
    (isProtected ? violating : others).push(placed);
  }
  return { violating, others };
}

const startOf = ({ pod }: PlacedPod): number => parseTime(pod.status?.startTime ?? '') ?? Number.POSITIVE_INFINITY;

/** Of two equally important pods, the one that has run for longer is. */
const byImportance = (left: PlacedPod, right: PlacedPod): number =>
  priorityOf(right.pod) - priorityOf(left.pod) || compare(startOf(left), startOf(right));

const compare = (left: number, right: number): number => (left < right ? -1 : left > right ? 1 : 0);

/** In this order: protected victims, the most important victim, all of their importance, how many, how long they ran. */
function isCheaper(left: Sacrifice, right: Sacrifice): boolean {
  const [a, b] = [costOf(left), costOf(right)];
  const at = a.findIndex((cost, index) => cost !== b[index]);
  return at >= 0 && (a[at] as number) < (b[at] as number);
}

function costOf({ victims, violations }: Sacrifice): number[] {
  const priorities = victims.map(({ pod }) => priorityOf(pod));
  const highest = priorities[0] ?? 0;
  const longest = victims.filter(({ pod }) => priorityOf(pod) === highest).map(startOf);
  // So that few pods below zero do not count for more than many.
  const sum = priorities.reduce((total, priority) => total + priority + 2 ** 31, 0);
  return [violations, highest, sum, victims.length, -Math.min(...longest)];
}
