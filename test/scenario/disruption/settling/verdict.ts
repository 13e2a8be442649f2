// What settling means, as rules over a history; each breach is one sentence.
import type { Move, Offering } from './diary.ts';
import type { History } from './settle.ts';

const hour = 3_600_000;
const day = 24 * hour;

/** After the load stopped changing, decisions stop within this time: a few rounds, each a wait and a boot. */
export const settlesWithinMs = hour;

/**
 * Evictions of one workload: three per pod it has when its load stops, and while it changes no more than this many for
 * each change. The nodes of a workload that shrinks by half can empty pod by pod, but not again and again.
 */
export const evictionsPerPodAtRest = 3;
export const evictionsPerChange = 4;

export function breaches(history: History): string[] {
  return [...unsettled(history), ...returns(history), ...sameAgain(history), ...tooManyEvictions(history)];
}

function unsettled({ calmMs, moves, waiting }: History): string[] {
  const late = moves.filter(({ atMs }) => atMs > calmMs + settlesWithinMs);
  const texts = late.map(
    (move) => `${minutesAfter(calmMs, move)} min after the load stopped: ${move.reason} ${move.went}`,
  );
  return waiting === 0 ? texts : [...texts, `${waiting} pods do not run`];
}

/** A machine replaced by another, and that one by the first again, with nothing else having changed. */
function returns({ calmMs, moves, offering }: History): string[] {
  const found: string[] = [];
  const past = new Map<string, { offering: Offering; atMs: number }[]>();
  for (const { atMs, nodes, went, claims } of moves) {
    const before = nodes.flatMap((node, index) => {
      const claim = claimIn(past, node);
      return [...(claim ?? []), { offering: went[index] ?? '', atMs }];
    });
    for (const claim of claims) {
      past.set(claim, before);
      const now = offering(claim);
      const same = before.find((each) => each.offering === now && atMs - each.atMs < day && each.atMs > calmMs);
      if (same !== undefined && same.atMs < atMs) found.push(`${now} was given up for another and came back`);
    }
  }
  return found;
}

/** Nodes are named after their claims. */
function claimIn<T>(past: ReadonlyMap<string, T>, node: string): T | undefined {
  for (const [claim, value] of past) if (node.includes(claim)) return value;
  return undefined;
}

/** Exchanging a machine for its like saves nothing. */
function sameAgain({ moves, offering }: History): string[] {
  return moves.flatMap(({ reason, went, claims }) =>
    reason === 'underutilized' && went.length === 1 && claims.some((claim) => offering(claim) === went[0])
      ? [`${went[0]} was replaced by its like`]
      : [],
  );
}

function tooManyEvictions({ calmMs, changes, evictions, replicas }: History): string[] {
  return [...evictions].flatMap(([app, times]) => {
    const atRest = times.filter((atMs) => atMs > calmMs).length;
    const restBound = evictionsPerPodAtRest * (replicas.get(app) ?? 0);
    const busyBound = evictionsPerChange * changes;
    const busy = times.length - atRest;
    return [
      ...(atRest > restBound ? [`${app}: ${atRest} evictions at rest, more than ${restBound}`] : []),
      ...(busy > busyBound ? [`${app}: ${busy} evictions in ${changes} changes, more than ${busyBound}`] : []),
    ];
  });
}

const minutesAfter = (calmMs: number, { atMs }: Move): number => Math.round((atMs - calmMs) / 60_000);
