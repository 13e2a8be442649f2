// What is best in the end, not only at once. A command that saves most now may leave nodes that nothing fits any more; so
// for clusters of moderate size each way of choosing is followed to where it would stop, and the first step of the one that
// ends cheapest is taken. One of the ways is the ordinary one (longest prefix, then single nodes), so the end is never
// dearer than that; following a way one step leaves the rest of it open, so it stays that way from round to round.

import type { Sliced } from '../../base/index.ts';
import { afterCommand } from './after-command.ts';
import type { Command } from './command.ts';
import { consolidationCommand } from './consolidation-command.ts';
import { emptinessCommand } from './emptiness.ts';
import { Round } from './round.ts';
import { type Found, SetSearch } from './set-search.ts';
import { singleNodeCommand } from './single-node.ts';

/** Beyond, looking ahead would take longer than it is worth. */
const mostNodes = 80;
const mostPods = 1_500;
/** A way that long goes in circles. */
const mostSteps = 80;
/** Of two ways that cost nearly the same the one that moves fewer pods: what a moved pod counts, in pods' average prices. */
const movedPodWeight = 0.1;
const cent = 1e-9;

export interface Step {
  readonly command: Command;
  /** Absent for single nodes: those are another method's business. */
  readonly found?: Found;
}

type Choice = (round: Round, search: SetSearch) => Sliced<Step | undefined>;

export interface Way {
  readonly first: Step | undefined;
  /** All of it, one after the other; nodes that come on the way are called `(new 1)` and so on. */
  readonly commands: readonly Command[];
  readonly pricePerHour: number;
  readonly evictions: number;
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

const widely =
  (thrift: number): Choice =>
  (_, search) =>
    wide(search, thrift);

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

/** The ordinary way first: no other may end dearer. */
const choices: readonly Choice[] = [
  inOrder(longest, singly, widely(0)),
  inOrder(widely(0), singly),
  inOrder(widely(0.2), singly),
  inOrder(widely(0.5), singly),
  inOrder(singly, widely(0)),
];

/** The way that ends best; without a first step if there is nothing to do. */
export function* bestWay(
  round: Round,
  search = new SetSearch(round),
  isTimeUp: () => boolean = () => false,
): Sliced<Way | undefined> {
  const { members } = round.fleet;
  const pods = members.reduce((sum, member) => sum + member.pods.length, 0);
  const weight = (movedPodWeight * priceOf(round)) / Math.max(1, pods);
  const total = (way: Way): number => way.pricePerHour + weight * way.evictions;
  const isBetter = (way: Way, than: Way): boolean => {
    const less = total(than) - total(way);
    return less > cent || (less > -cent && way.commands.length < than.commands.length);
  };
  let best: Way | undefined;
  let most = Number.POSITIVE_INFINITY;
  for (const choice of choices) {
    const way = yield* follow(round, search, choice, isTimeUp);
    if (best === undefined) most = way.pricePerHour + cent;
    if (way.pricePerHour <= most && (best === undefined || isBetter(way, best))) best = way;
    if (isTimeUp()) break;
  }
  return best;
}

function* follow(start: Round, search: SetSearch, choice: Choice, isTimeUp: () => boolean): Sliced<Way> {
  const first = yield* choice(start, search);
  let step = first;
  let round = start;
  let evictions = 0;
  const commands: Command[] = [];
  while (step !== undefined && commands.length < mostSteps && !isTimeUp()) {
    const after = yield* afterCommand(round.whatIf, step.command, commands.length + 1);
    if (after === undefined) break;
    commands.push(step.command);
    evictions += after.evictions;
    round = yield* Round.inSlices(after.snapshot);
    const { command } = emptinessCommand(round);
    step = command === undefined ? yield* choice(round, new SetSearch(round, isTimeUp)) : { command };
  }
  return { first, commands, pricePerHour: priceOf(round), evictions };
}

function* wide(search: SetSearch, thrift: number): Sliced<Step | undefined> {
  const found = yield* search.wide(thrift);
  return found === undefined ? undefined : stepOf(found);
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
