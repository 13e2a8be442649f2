// Which of the nodes that can take a pod is the best: emptier ones, those the pod prefers, those it keeps its distance on.
// Weights are kube-scheduler's; the choice need not be equal to its own, only sensible and always the same.
import { tolerates } from '../../core/index.ts';
import type { Pod } from '../../ports/index.ts';
import type { ClusterView, NodeRoom } from './cluster-view.ts';
import { matchesTerm } from './node-selector.ts';
import { type AffinityTerm, spreadSelection, termSelection } from './pod-terms.ts';

type Score = (room: NodeRoom) => number;
type Toleration = Parameters<typeof tolerates>[0];

/** The best room; the first of several equal ones. */
export function bestRoom(pod: Pod, rooms: readonly NodeRoom[], view: ClusterView): NodeRoom | undefined {
  if (rooms.length < 2) return rooms[0];
  const scores: [weight: number, score: Score][] = [[1, emptiness(pod, view)]];
  const preferred = pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  if (preferred.length > 0) {
    const liking: Score = (room) =>
      preferred.reduce((sum, { weight, preference }) => sum + (matchesTerm(preference, room) ? weight : 0), 0);
    scores.push([2, normalized(liking, rooms)]);
  }
  if (rooms.some(({ taints }) => taints.length > 0)) scores.push([3, inverted(disliked(pod), rooms)]);
  const soft = (pod.spec?.topologySpreadConstraints ?? []).filter(
    (each) => each.whenUnsatisfiable === 'ScheduleAnyway',
  );
  for (const constraint of soft) {
    scores.push([2, inverted(company(view, constraint.topologyKey, spreadSelection(pod, constraint)), rooms)]);
  }
  const { podAffinity, podAntiAffinity } = pod.spec?.affinity ?? {};
  for (const [sign, terms] of [
    [1, podAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []],
    [-1, podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []],
  ] as const) {
    for (const { weight, podAffinityTerm } of terms) {
      const term = podAffinityTerm as AffinityTerm;
      const near = company(view, term.topologyKey, termSelection(pod, term, view.namespaces));
      scores.push([(2 * weight) / 100, (sign > 0 ? normalized : inverted)(near, rooms)]);
    }
  }
  let best: NodeRoom | undefined;
  let most = Number.NEGATIVE_INFINITY;
  for (const room of rooms) {
    let total = 0;
    for (const [weight, score] of scores) total += weight * score(room);
    if (total > most) {
      most = total;
      best = room;
    }
  }
  return best;
}

/** Share of cpu and memory still free once the pod is there, 0 to 100. */
function emptiness(pod: Pod, view: ClusterView): Score {
  const requests = view.requestsOf(pod);
  return ({ allocatable, used }) => {
    let sum = 0;
    for (const name of ['cpu', 'memory']) {
      const total = allocatable.get(name) ?? 0;
      if (total > 0) sum += (50 * (total - (used.get(name) ?? 0) - (requests.get(name) ?? 0))) / total;
    }
    return sum;
  };
}

function disliked(pod: Pod): Score {
  const tolerations = (pod.spec?.tolerations ?? []) as Toleration[];
  return ({ taints }) =>
    taints.filter(
      (taint) => taint.effect === 'PreferNoSchedule' && !tolerations.some((toleration) => tolerates(toleration, taint)),
    ).length;
}

/** How many pods of a selection run in the same domain. */
function company(view: ClusterView, key: string, selection: Parameters<ClusterView['counts']['countsOf']>[0]): Score {
  const byValue = new Map<string, number>();
  for (const [name, count] of view.counts.countsOf(selection)) {
    const value = view.rooms.get(name)?.labels[key];
    if (value !== undefined) byValue.set(value, (byValue.get(value) ?? 0) + count);
  }
  return ({ labels }) => byValue.get(labels[key] ?? '') ?? 0;
}

function normalized(score: Score, rooms: readonly NodeRoom[]): Score {
  const most = Math.max(...rooms.map(score));
  return most === 0 ? () => 0 : (room) => (100 * score(room)) / most;
}

function inverted(score: Score, rooms: readonly NodeRoom[]): Score {
  const most = Math.max(...rooms.map(score));
  return most === 0 ? () => 100 : (room) => 100 - (100 * score(room)) / most;
}
