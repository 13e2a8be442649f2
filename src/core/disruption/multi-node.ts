// Multi-node consolidation: several nodes go together, replaced by nothing or by one cheaper node. In clusters of moderate
// size the search looks ahead to where it would end; in larger ones it takes the set that saves most now.

import type { Sliced } from '../../base/index.ts';
import type { Move, Score } from './balanced.ts';
import type { Command } from './command.ts';
import { consolidationCommand } from './consolidation-command.ts';
import { bestWay, isWorthLookingAhead, type Sets, type Step } from './look-ahead.ts';
import type { Round } from './round.ts';
import { type Found, SetSearch } from './set-search.ts';

export interface MultiOptions {
  /** What the last command was to be followed by. */
  readonly ahead?: Sets;
  isTimeUp?(): boolean;
}

export interface MultiOutcome {
  readonly command: Command | undefined;
  readonly scores: readonly Score[];
  /** Where nothing was found: the last set that a Balanced pool did not want to go. */
  readonly rejected: Move | undefined;
  readonly constrained: boolean;
  readonly timedOut: boolean;
  /** What should follow the command, for the next round. */
  readonly ahead: Sets;
}

export function* multiNodeCommand(round: Round, options: MultiOptions = {}): Sliced<MultiOutcome> {
  return yield* searched(round, options, function* (search, isTimeUp) {
    if (!isWorthLookingAhead(round)) return { found: yield* search.wide(0) };
    return (yield* bestWay(round, { ...options, search, isTimeUp })).first;
  });
}

/** The prefix search alone: the method to compare with. */
export function* prefixCommand(round: Round, options: MultiOptions = {}): Sliced<MultiOutcome> {
  return yield* searched(round, options, function* (search) {
    return { found: yield* search.prefix() };
  });
}

function* searched(
  round: Round,
  options: MultiOptions,
  choose: (
    search: SetSearch,
    isTimeUp: () => boolean,
  ) => Sliced<(Pick<Step, 'ahead'> & { found?: Found | undefined }) | undefined>,
): Sliced<MultiOutcome> {
  let timedOut = false;
  const isTimeUp = (): boolean => {
    timedOut ||= options.isTimeUp?.() ?? false;
    return timedOut;
  };
  const search = new SetSearch(round, isTimeUp);
  yield;
  const { constrained } = search;
  const { found, ahead = [] } = (search.members.length >= 2 ? yield* choose(search, isTimeUp) : undefined) ?? {};
  const command = found === undefined ? undefined : consolidationCommand('multi', found.members, found.answer);
  const rejected = found === undefined ? search.rejected : undefined;
  return { command, scores: found?.scores ?? [], rejected, constrained, timedOut, ahead };
}
