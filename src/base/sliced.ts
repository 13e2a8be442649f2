// A long computation in slices, so that one thread can plan for ten thousand pods and still answer probes, follow watches
// and renew its lease. The computation is a generator that yields after every piece of work (a fraction of a millisecond)
// and returns its result; the clock decides how long a slice is.
import type { Clock } from './clock.ts';

export type Sliced<T> = Generator<undefined, T>;

/** Runs the work to its end at once. */
export function atOnce<T>(work: Sliced<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** Runs the work to its end, and lets everybody else have a turn when the present one gets long. */
export async function inSlices<T>(clock: Clock, work: Sliced<T>): Promise<T> {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    const turn = clock.breathe?.();
    if (turn !== undefined) await turn;
  }
}

/** Runs of this length are sorted in one piece. */
const runLength = 4096;
/** Elements merged between two yields. */
const mergedAtOnce = 256;

/** The elements in order, equal ones as they came. */
export function* sortInSlices<T>(items: readonly T[], compare: (left: T, right: T) => number): Sliced<T[]> {
  let runs: T[][] = [];
  for (let start = 0; start < items.length; start += runLength) {
    runs.push(items.slice(start, start + runLength).sort(compare));
    yield;
  }
  while (runs.length > 1) {
    const longer: T[][] = [];
    for (let at = 0; at < runs.length; at += 2) {
      longer.push(yield* merge(runs[at] as T[], runs[at + 1] ?? [], compare));
    }
    runs = longer;
  }
  return runs[0] ?? [];
}

function* merge<T>(left: readonly T[], right: readonly T[], compare: (left: T, right: T) => number): Sliced<T[]> {
  const merged: T[] = [];
  let fromLeft = 0;
  let fromRight = 0;
  while (fromLeft < left.length && fromRight < right.length) {
    const takesLeft = compare(left[fromLeft] as T, right[fromRight] as T) <= 0;
    merged.push((takesLeft ? left[fromLeft++] : right[fromRight++]) as T);
    if (merged.length % mergedAtOnce === 0) yield;
  }
  return merged.concat(left.slice(fromLeft), right.slice(fromRight));
}
