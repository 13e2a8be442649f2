// What is best in the end, not only at once. A command that saves most now may leave nodes that nothing fits any more; so
// for clusters of moderate size several ways are followed to where they would stop, and the first step of the one that
// ends best is taken. One of the ways is the ordinary one (longest prefix, then single nodes), and none that ends dearer
// counts. What was planned to follow a step is one of the ways of the next round, so it stays like that to the end.

import type { Sliced } from '../../base/index.ts';
import { afterCommand } from './after-command.ts';
import type { Command } from './command.ts';
import { consolidationCommand } from './consolidation-command.ts';
import { emptinessCommand } from './emptiness.ts';
import { Round } from './round.ts';
import { bestSequence } from './sequences.ts';
import { type Found, SetSearch } from './set-search.ts';
import { singleNodeCommand } from './single-node.ts';
import { sketchOf } from './sketch.ts';

/** Beyond, looking ahead would take longer than it is worth. */
const mostNodes = 80;
const mostPods = 1_500;
/** A way that long goes in circles. */
const mostSteps = 80;
/** Of two ways that cost nearly the same the one that moves fewer pods: what a moved pod counts, in pods' average prices. */
const movedPodWeight = 0.1;
/** Prices per hour that differ by less are the same: sums of them in another order differ in the last digits. */
const priceTolerance = 1e-9;

export interface Step {
  readonly command: Command;
  /** Absent for single nodes: those are another method's business. */
  readonly found?: Found;
  /** Sets of nodes, by name, that should go next. */
  readonly ahead?: Sets;
}

/** Sets of nodes, by name, one after the other. */
export type Sets = readonly (readonly string[])[];

export interface WayOptions {
  readonly search?: SetSearch;
  /** What was planned when the step before was taken. */
  readonly ahead?: Sets;
  isTimeUp?(): boolean;
}

type Choice = (round: Round, search: SetSearch) => Sliced<Step | undefined>;

export interface Way {
  readonly first: Step | undefined;
  /** All of it, one after the other; nodes that come on the way are called `(new 1)` and so on. */
  readonly commands: readonly Command[];
  readonly pricePerHour: number;
  readonly evictions: number;
  /** Where it ends, if it was followed that far. */
  readonly end?: Round;
}

export function isWorthLookingAhead(round: Round): boolean {
  const { fleet, whatIf } = round;
  if (fleet.members.length > mostNodes) return false;
  return fleet.members.reduce((sum, member) => sum + whatIf.podCount(member), 0) <= mostPods;
}

const longest: Choice = function* (_, search) {
  const found = yield* search.prefix();
  return found === undefined ? undefined : stepOf(found);
};

const widely: Choice = function* (_, search) {
  const found = yield* search.wide();
  return found === undefined ? undefined : stepOf(found);
};

const singly: Choice = (round) => single(round);

/** Asked one after the other until one has an answer. */
const inOrder = (...parts: readonly Choice[]): Choice =>
  function* (round, search) {
    for (const part of parts) {
      const step = yield* part(round, search);
      if (step !== undefined) return step;
    }
    return undefined;
  };

/** As everybody does it: no other way may end dearer. */
const ordinary = inOrder(longest, singly);

/** What saves most at once, then single nodes. */
const greedy = inOrder(widely, singly);

/** What moving a pod counts while sequences are tried, in pods' average prices: thrifty ones and thorough ones. */
const podWeights = [0.02, 0.05, 0.1, 0.2];

/** One set after the other, as far as the planner agrees; then the ordinary way. */
function inSequence(sets: Sets): Choice {
  let ahead = sets;
  return function* (round, search) {
    while (ahead.length > 0) {
      const [next = [], ...rest] = ahead;
      ahead = rest;
      const found = yield* search.named(next);
      if (found !== undefined) return { ...stepOf(found), ahead };
    }
    return yield* ordinary(round, search);
  };
}

/** Sequences of sets that seem to end well, none of them twice. */
function* sequences(round: Round, search: SetSearch, isTimeUp: () => boolean): Sliced<Iterable<Sets>> {
  const sketch = yield* sketchOf(round, search.members);
  const budgets = round.allowance('Underutilized');
  const { spotToSpot } = round.fleet;
  const budgetOf = (poolName: string | undefined): number => budgets.of(poolName);
  const found = new Map<string, Sets>();
  for (const podWeight of podWeights) {
    const members = yield* bestSequence(sketch, { podWeight, spotToSpot, budgetOf, isTimeUp });
    const sets = members.map((set) => set.map((member) => member.name));
    if (sets.length > 0) found.set(JSON.stringify(sets), sets);
  }
  return found.values();
}

/** The way that ends best; without a first step if there is nothing to do. */
export function* bestWay(round: Round, options: WayOptions = {}): Sliced<Way> {
  const { search = new SetSearch(round), ahead = [], isTimeUp = () => false } = options;
  const { members } = round.fleet;
  const pods = members.reduce((sum, member) => sum + member.pods.length, 0);
  const weight = (movedPodWeight * priceOf(round)) / Math.max(1, pods);
  const total = (way: Way): number => way.pricePerHour + weight * way.evictions;
  const isBetter = (way: Way, than: Way): boolean => {
    const less = total(than) - total(way);
    return less > priceTolerance || (less > -priceTolerance && way.commands.length < than.commands.length);
  };
  const usual = yield* follow(round, search, ordinary, isTimeUp);
  let best = usual;
  const consider = function* (choice: Choice): Sliced<void> {
    if (isTimeUp()) return;
    const way = yield* follow(round, search, choice, isTimeUp);
    if (way.pricePerHour <= usual.pricePerHour + priceTolerance && isBetter(way, best)) best = way;
  };
  if (ahead.length > 0) yield* consider(inSequence(ahead));
  yield* consider(greedy);
  for (const sets of yield* sequences(round, search, isTimeUp)) yield* consider(inSequence(sets));
  return best;
}

function* follow(start: Round, search: SetSearch, choice: Choice, isTimeUp: () => boolean): Sliced<Way> {
  const first = yield* choice(start, search);
  let step = first;
  let round = start;
  let evictions = 0;
  const commands: Command[] = [];
  while (step !== undefined && commands.length < mostSteps && !isTimeUp()) {
    const after = afterCommand(round.fleet, step.command, commands.length + 1);
    yield;
    commands.push(step.command);
    evictions += after.evictions;
    round = yield* Round.inSlices(after.snapshot, round.fleet.options);
    const { command } = emptinessCommand(round);
    step = command === undefined ? yield* choice(round, new SetSearch(round, isTimeUp)) : { command };
  }
  return { first, commands, pricePerHour: priceOf(round), evictions, end: round };
}

function* single(round: Round): Sliced<Step | undefined> {
  const { command } = yield* singleNodeCommand(round);
  return command === undefined ? undefined : { command };
}

function stepOf(found: Found): Step {
  return { command: consolidationCommand('multi', found.members, found.answer), found };
}

function priceOf({ fleet }: Round): number {
  return fleet.members.reduce((sum, member) => sum + member.price, 0);
}
