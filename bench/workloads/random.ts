// What workloads draw from a seed: the same numbers on every machine, which is what makes a workload a workload.

import { seededRandom } from '../../src/base/index.ts';

export interface Random {
  /** In [0, 1). */
  next(): number;
  /** Whole number in [0, below). */
  below(below: number): number;
  /** Whole number in [low, high]. */
  between(low: number, high: number): number;
  pick<T>(items: readonly T[]): T;
  /** True with the given probability. */
  chance(probability: number): boolean;
  /** A shuffled copy. */
  shuffled<T>(items: readonly T[]): T[];
}

export function seeded(seed: number): Random {
  const next = seededRandom(seed);
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    next,
    below,
    between: (low, high) => low + below(high - low + 1),
    pick: (items) => {
      if (items.length === 0) throw new RangeError('nothing to pick from an empty list');
      return items[below(items.length)] as (typeof items)[number];
    },
    chance: (probability) => next() < probability,
    shuffled: (items) => {
      const copy = [...items];
      for (let i = copy.length - 1; i > 0; i--) {
        const j = below(i + 1);
        [copy[i], copy[j]] = [copy[j] as (typeof copy)[number], copy[i] as (typeof copy)[number]];
      }
      return copy;
    },
  };
}
