// Multi-node consolidation: several nodes go together, replaced by nothing or by cheaper nodes. In clusters of moderate
// size the search looks ahead to where it would end with one new node at a time, and brings several where that saves more;
// in larger ones it takes the set that saves most now.

import type { Sliced } from '../../base/index.ts';
import { consolidationCommand } from './consolidation-command.ts';
import { bestWay, isWorthLookingAhead, type Step, type Way, type WayOptions } from './look-ahead.ts';
import { type Asked, type MethodOutcome, outcomeOf } from './method.ts';
import type { Round } from './round.ts';
import { type Found, SetSearch } from './set-search.ts';

export function* multiNodeCommand(round: Round, asked: Asked = {}): Sliced<MethodOutcome> {
  return yield* searched(round, asked, function* (search, isTimeUp) {
    const savings = (found: Found | undefined): number => found?.answer.savings ?? 0;
    const looksAhead = isWorthLookingAhead(round);
    const remixed = yield* search.remix(looksAhead);
    if (!looksAhead) {
      const merged = yield* search.wide();
      return { found: savings(remixed) > savings(merged) ? remixed : merged };
    }
    return (yield* wayOrRemix(round, remixed, { ...asked, search, isTimeUp })).first;
  });
}

/** What the cluster would go through from here, in clusters of moderate size. */
export function* wayAhead(round: Round): Sliced<Way> {
  const search = new SetSearch(round);
  return yield* wayOrRemix(round, yield* search.remix(true), { search });
}

/** Several new nodes come where that saves more at once than the whole way would, for no more evictions per dollar. */
function* wayOrRemix(round: Round, remixed: Found | undefined, options: WayOptions): Sliced<Way> {
  const price = round.fleet.members.reduce((sum, member) => sum + member.price, 0);
  const way = yield* bestWay(round, options);
  const saved = way.commands.reduce((sum, command) => sum + command.savings, 0);
  if (remixed === undefined || remixed.answer.savings <= saved) return way;
  const isGentle = saved <= 0 || remixed.pods / remixed.answer.savings <= way.evictions / saved;
  return isGentle ? remixedWay(remixed, price) : way;
}

function remixedWay(found: Found, price: number): Way {
  const command = consolidationCommand('multi', found.members, found.answer);
  return {
    first: { command, found },
    commands: [command],
    pricePerHour: price - command.savings,
    evictions: found.pods,
  };
}

/** The prefix search alone: the method to compare with. */
export function* prefixCommand(round: Round, asked: Asked = {}): Sliced<MethodOutcome> {
  return yield* searched(round, asked, function* (search) {
    return { found: yield* search.prefix() };
  });
}

function* searched(
  round: Round,
  asked: Asked,
  choose: (
    search: SetSearch,
    isTimeUp: () => boolean,
  ) => Sliced<(Pick<Step, 'ahead'> & { found?: Found | undefined }) | undefined>,
): Sliced<MethodOutcome> {
  let timedOut = false;
  const isTimeUp = (): boolean => {
    timedOut ||= asked.isTimeUp?.() ?? false;
    return timedOut;
  };
  const search = new SetSearch(round, isTimeUp);
  yield;
  const { constrained } = search;
  const { found, ahead = [] } = (search.members.length >= 2 ? yield* choose(search, isTimeUp) : undefined) ?? {};
  const command = found === undefined ? undefined : consolidationCommand('multi', found.members, found.answer);
  // Where nothing was found: the last set that a Balanced pool did not want to go.
  const rejected = found === undefined && search.rejected !== undefined ? [search.rejected] : [];
  return outcomeOf({ command, scores: found?.scores ?? [], rejected, constrained, timedOut, memory: { ahead } });
}
