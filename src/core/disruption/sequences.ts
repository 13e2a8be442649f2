// Which sets of nodes should go one after the other so that the end is cheap and few pods move: simulated annealing over
// the numbers of the sets that nodes go with, on a sketch of the fleet. The chances are always the same ones, so the same
// cluster gives the same sequence; how long it tries depends on the size of the cluster, not on a clock.

import type { Sliced } from '../../base/index.ts';
import type { Member } from './fleet.ts';
import { type Guess, SequenceGuess } from './sequence-guess.ts';
import type { Sketch } from './sketch.ts';

export interface SequenceOptions {
  /** What moving a pod counts, in what a pod costs on average. */
  readonly podWeight: number;
  readonly spotToSpot: boolean;
  budgetOf(poolName: string | undefined): number;
  isTimeUp(): boolean;
}

const mostSets = 8;
/** With fewer nodes, other searches have looked at nearly every set. */
const leastNodes = 4;
const mostTries = 6_000;
/** Pods placed by all tries together. */
const mostWork = 600_000;
const triesPerNode = 300;
/** At first a sequence may be given up for one that ends this share dearer, later for ever less. */
const firstHeat = 0.01;

export function* bestSequence(sketch: Sketch, options: SequenceOptions): Sliced<readonly (readonly Member[])[]> {
  const count = sketch.members.length;
  if (count < leastNodes) return [];
  const guess = new SequenceGuess(sketch, { ...options, mostSets });
  const podCost = (options.podWeight * sketch.pricePerHour) / Math.max(1, sketch.pods.length);
  const cost = ({ pricePerHour, evictions }: Guess): number => pricePerHour + podCost * evictions;
  const tries = Math.floor(Math.min(mostTries, triesPerNode * count, mostWork / Math.max(1, sketch.pods.length)));
  const below = chances();
  const current = new Uint8Array(count);
  let currentCost = cost(guess.of(current));
  let best: Guess = guess.of(current);
  let bestCost = currentCost;
  const next = current.slice();
  for (let at = 0; at < tries; at++) {
    yield;
    if (options.isTimeUp()) break;
    next.set(current);
    change(next, below);
    const found = guess.of(next);
    const foundCost = cost(found);
    const heat = firstHeat * sketch.pricePerHour * (1 - at / tries);
    if (foundCost > currentCost && below(1) >= Math.exp((currentCost - foundCost) / heat)) continue;
    current.set(next);
    currentCost = foundCost;
    if (foundCost < bestCost) [best, bestCost] = [found, foundCost];
  }
  return best.sets;
}

/** One node goes with others, two change places, or a whole set goes with another or stays. */
function change(setOf: Uint8Array, below: (bound: number) => number): void {
  const node = (): number => Math.floor(below(setOf.length));
  const set = (least: 0 | 1): number => least + Math.floor(below(mostSets + 1 - least));
  const kind = below(1);
  if (kind < 0.55) setOf[node()] = set(0);
  else if (kind < 0.85) {
    const [left, right] = [node(), node()];
    [setOf[left], setOf[right]] = [setOf[right] as number, setOf[left] as number];
  } else {
    const [from, to] = [set(1), set(0)];
    setOf.forEach((own, at) => {
      if (own === from) setOf[at] = to;
    });
  }
}

/** Numbers from zero up to a bound, the same ones every time. */
function chances(): (bound: number) => number {
  let state = 0x9e3779b9;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state / 2 ** 32) * bound;
  };
}
