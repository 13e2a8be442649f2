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

function unsettled(history: History): string[] {
  const { calmMs, moves, waiting } = history;
  const allowedAgain = new Set(
    lineage(history)
      .filter(bringsBackAfterADay)
      .map(({ move }) => move),
  );
  const late = moves.filter((move) => move.atMs > calmMs + settlesWithinMs && !allowedAgain.has(move));
  const texts = late.map(
    (move) => `${minutesAfter(calmMs, move)} min after the load stopped: ${move.reason} ${move.went}`,
  );
  return waiting === 0 ? texts : [...texts, `${waiting} pods do not run`];
}

/** One replacement: what came, and every machine it and its predecessors came instead of. */
interface Succession {
  move: Move;
  came: Offering | undefined;
  before: readonly { offering: Offering; atMs: number }[];
}

function lineage({ moves, offering }: History): Succession[] {
  const past = new Map<string, Succession['before']>();
  return moves.flatMap((move) => {
    const { atMs, nodes, went, claims } = move;
    const before = nodes.flatMap((node, index) => [
      ...(claimIn(past, node) ?? []),
      { offering: went[index] ?? '', atMs },
    ]);
    for (const claim of claims) past.set(claim, before);
    return claims.map((claim) => ({ move, came: offering(claim), before }));
  });
}

/** What was given up may not come back for a day; one that is cheaper comes as soon as that day is over, however calm it is. */
function bringsBackAfterADay({ move, came, before }: Succession): boolean {
  return before.some(({ offering, atMs }) => {
    const agoMs = move.atMs - atMs;
    return offering === came && agoMs >= day && agoMs < day + settlesWithinMs;
  });
}

/** A machine replaced by another, and that one by the first again, with nothing else having changed. */
function returns(history: History): string[] {
  return lineage(history).flatMap(({ move, came, before }) => {
    const isBack = before.some(
      ({ offering, atMs }) => offering === came && atMs < move.atMs && move.atMs - atMs < day && atMs > history.calmMs,
    );
    return isBack ? [`${came} was given up for another and came back`] : [];
  });
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
