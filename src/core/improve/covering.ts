// The cheapest cover of pods by fractions of filled nodes, by column generation: the cover says what each kind of pod is
// worth, fillings that cost less than the worth of their pods are added until there is none. Bounded by counted work.

import type { Sliced } from '../../base/index.ts';
import type { FillingSearch } from './best-filling.ts';
import { Cover } from './cover.ts';
import type { Filling, Kind, Offer } from './pile.ts';
import { roomWorths, valueOf } from './worths.ts';

/** A filling must beat its price by this part to be worth another round. */
const margin = 0.003;
/** Steps of looking for one filling: while most offers are compared, and where it matters. */
export const quickSteps = 100;
const deepest = 20_000;
/** Exchanges of known fillings after each round. */
const mostExchanges = 100;
/** How near to the best bounding worths fillings are looked for. */
const steadiest = 0.8;

/** How much looking for better fillings may cost. */
export interface Effort {
  readonly rounds: number;
  readonly steps: number;
  /** Steps of looking again where a better filling than the one found could be. */
  readonly deepSteps: number;
}

/** The cheapest cover of what is left that was found; undefined if some pod fits nowhere. */
export function* coverOf<O extends Offer>(
  kinds: readonly Kind[],
  offers: readonly O[],
  left: Float64Array,
  search: FillingSearch,
  known: readonly Filling<O>[],
  effort: Effort,
): Sliced<Cover<Filling<O>> | undefined> {
  const alone = yield* startingFillings(kinds, offers, left);
  if (alone === undefined) return undefined;
  const cover = new Cover(left, alone);
  for (const own of known) {
    cover.offer(own);
    yield;
  }
  cover.improve(mostExchanges);
  // Worths jump about from round to round; fillings are looked for near the worths that bounded the price best so far.
  const centre = roomWorths(kinds, offers, left);
  let bound = valueOf(left, centre);
  const asked = new Float64Array(kinds.length);
  let pull = steadiest;
  let deepSteps = effort.deepSteps;
  let look: 'near' | 'here' | 'deep' = 'near';
  const until = search.steps + effort.steps;
  for (let round = 0; round < effort.rounds && search.steps < until; round++) {
    if (look !== 'near') pull = 0;
    for (let kind = 0; kind < asked.length; kind++) {
      asked[kind] = pull * (centre[kind] as number) + (1 - pull) * Math.max(0, cover.worth[kind] as number);
    }
    const better: Filling<O>[] = [];
    let most = 1;
    for (const offer of offers) {
      if (look === 'deep' && deepSteps <= 0) break;
      const before = search.steps;
      const above = offer.price * (look === 'near' ? 1 : 1 + margin);
      const found = search.find(offer, left, asked, above, look === 'deep' ? deepest : quickSteps);
      if (look === 'deep') deepSteps -= search.steps - before;
      yield;
      if (found === undefined) continue;
      most = Math.max(most, found.atMost / offer.price);
      const filling = { offer, price: offer.price, kinds: found.kinds, counts: found.counts };
      if (cover.worthOf(filling) > offer.price * (1 + margin)) better.push(filling);
    }
    const value = valueOf(left, asked) / most;
    if (value > bound) {
      bound = value;
      for (let kind = 0; kind < asked.length; kind++) centre[kind] = (asked[kind] as number) / most;
    }
    if (cover.price <= bound * (1 + margin)) break;
    if (better.length === 0) {
      if (look === 'deep' || (look === 'here' && deepSteps <= 0)) break;
      if (look === 'near' && pull > 0.1) pull /= 2;
      else look = look === 'near' ? 'here' : 'deep';
      continue;
    }
    look = 'near';
    pull = steadiest;
    better.sort((a, b) => cover.worthOf(b) / b.price - cover.worthOf(a) / a.price);
    for (const own of better.slice(0, 30)) {
      cover.offer(own);
      yield;
    }
    cover.improve(mostExchanges);
    yield;
  }
  return cover;
}

/** For each kind of pod its best node filled with nothing else. */
function* startingFillings<O extends Offer>(
  kinds: readonly Kind[],
  offers: readonly O[],
  left: Float64Array,
): Sliced<Filling<O>[] | undefined> {
  const best = new Map<number, Filling<O>>();
  for (const offer of offers) {
    for (const kind of offer.kinds) {
      const most = left[kind] as number;
      if (most <= 0) continue;
      const count = Math.min(most, alone(kinds[kind] as Kind, offer.room));
      const known = best.get(kind);
      if (count > 0 && (known === undefined || offer.price / count < known.price / (known.counts[0] as number))) {
        best.set(kind, { offer, price: offer.price, kinds: [kind], counts: [count] });
      }
    }
    yield;
  }
  const starting: Filling<O>[] = [];
  for (let kind = 0; kind < kinds.length; kind++) {
    if ((left[kind] as number) <= 0) continue;
    const own = best.get(kind);
    if (own === undefined) return undefined;
    starting.push(own);
  }
  return starting;
}

/** How many pods of one kind a node holds with nothing else. */
function alone({ need, host }: Kind, room: Float64Array): number {
  let most = Number.POSITIVE_INFINITY;
  for (let at = 0; at < need.length; at++) {
    if ((need[at] as number) > 0) most = Math.min(most, Math.floor((room[at] as number) / (need[at] as number)));
  }
  for (const { rule, most: bound } of host?.owns ?? []) {
    if (host?.countedIn.includes(rule)) most = Math.min(most, bound);
  }
  return most;
}
