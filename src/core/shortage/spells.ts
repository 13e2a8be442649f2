// How long an offering that failed is left alone. Three minutes at first, twice as long each time it fails again after its
// time was over, up to fifteen; every half hour without a failure takes one step back. While it is left alone, pods that
// could use nothing else may still ask for it, once a minute: growing times cost money, never a waiting pod.

import { doubledMs } from '../../base/index.ts';

export interface Spell {
  /** Failures in a row, each after the time of the one before. */
  readonly failures: number;
  readonly failedMs: number;
  readonly untilMs: number;
}

export const firstSpellMs = 3 * 60_000;
const longestSpellMs = 15 * 60_000;
const decayMs = 30 * 60_000;
/** Between two failed calls for one offering, whoever asks. */
export const probeEveryMs = 60_000;

/** After a failure at `nowMs`. Failures while it is left alone (probes, launches that ran side by side) do not add up. */
export function spellAfter(previous: Spell | undefined, nowMs: number): Spell {
  if (previous !== undefined && nowMs < previous.untilMs) {
    const untilMs = Math.max(previous.untilMs, nowMs + firstSpellMs);
    return { failures: previous.failures, failedMs: nowMs, untilMs };
  }
  const failures = decayed(previous, nowMs) + 1;
  const lengthMs = doubledMs({ first: firstSpellMs, most: longestSpellMs }, failures - 1);
  return { failures, failedMs: nowMs, untilMs: nowMs + lengthMs };
}

/** Whether a pod without another choice may ask for it again. */
export function isProbeDue({ failedMs }: Pick<Spell, 'failedMs'>, nowMs: number): boolean {
  return nowMs >= failedMs + probeEveryMs;
}

/** Between two tries of a launch that probes; a quarter of what it could use each time. */
export const probeTickMs = probeEveryMs / 4;

/**
 * What a launch that probes asks for now, of all it could use: a quarter, those first that were not asked for the longest.
 * So something is asked for every quarter of a minute, and each offering once a minute.
 */
export function probeShare<T>(all: readonly T[], lastFailedMs: (each: T) => number, nowMs: number): T[] {
  const due = all.filter((each) => isProbeDue({ failedMs: lastFailedMs(each) }, nowMs));
  const order = (each: T): number => Math.max(lastFailedMs(each), -Number.MAX_VALUE);
  return due.toSorted((left, right) => order(left) - order(right)).slice(0, Math.ceil(all.length / 4));
}

/** Whether nothing of it would make the next spell longer. */
export function isForgotten(spell: Spell, nowMs: number): boolean {
  return nowMs >= spell.untilMs && decayed(spell, nowMs) === 0;
}

function decayed(spell: Spell | undefined, nowMs: number): number {
  if (spell === undefined) return 0;
  return Math.max(0, spell.failures - Math.floor(Math.max(0, nowMs - spell.untilMs) / decayMs));
}
