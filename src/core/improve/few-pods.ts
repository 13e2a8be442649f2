// The cheapest nodes for few pods, by trying all ways to divide them: every choice of so many pods of each kind has a
// cheapest node of its own or none, and the cheapest nodes for more pods come from those for fewer. Exact, also about which
// pods may share a host; for a dozen different pods, or more of which some are equal.

import type { Sliced } from '../../base/index.ts';
import { type Filling, fits, type Kind, type Offer } from './pile.ts';

/** Ways to take some of some of the pods, for time: a dozen different pods have 531,441. */
const mostWays = 600_000;
/** Choices of pods times offers that one node may hold them on. */
const mostLooks = 800_000;
/** Masks of kinds have as many bits as a small integer. */
const mostKinds = 30;

/** Undefined where pods are not few, or where some fit nowhere. */
export function* cheapestForFew<O extends Offer>(
  kinds: readonly Kind[],
  offers: readonly O[],
): Sliced<Filling<O>[] | undefined> {
  if (kinds.length > mostKinds) return undefined;
  let [ways, choices] = [1, 1];
  for (const { count } of kinds) {
    ways *= ((count + 1) * (count + 2)) / 2;
    choices *= count + 1;
  }
  if (ways > mostWays || choices * offers.length > mostLooks) return undefined;
  const division = new Division(kinds, offers, choices);
  yield;
  division.buyTogether();
  yield;
  division.divide();
  yield;
  return division.nodes();
}

/** A choice of pods is a number whose digits say how many of each kind. */
class Division<O extends Offer> {
  private readonly kinds: readonly Kind[];
  private readonly offers: readonly O[];
  private readonly choices: number;
  /** What one pod of each kind adds to the number. */
  private readonly step: Int32Array;
  /** By choice: the offer that holds all of it for least, or -1, and what that costs. */
  private readonly offer: Int32Array;
  private readonly together: Float64Array;
  /** By choice: what it costs on any number of nodes, and the choice that one of them holds. */
  private readonly cost: Float64Array;
  private readonly first: Int32Array;

  constructor(kinds: readonly Kind[], offers: readonly O[], choices: number) {
    this.kinds = kinds;
    // Of equal prices the first as given: rows of different pools cannot be compared.
    this.offers = [...offers].sort((left, right) => left.price - right.price);
    this.choices = choices;
    this.step = new Int32Array(kinds.length);
    let step = 1;
    kinds.forEach(({ count }, kind) => {
      this.step[kind] = step;
      step *= count + 1;
    });
    this.offer = new Int32Array(choices).fill(-1);
    this.together = new Float64Array(choices).fill(Number.POSITIVE_INFINITY);
    this.cost = new Float64Array(choices).fill(Number.POSITIVE_INFINITY);
    this.first = new Int32Array(choices);
  }

  buyTogether(): void {
    const { kinds, offers, choices } = this;
    const admits = offers.map((offer) => maskOf(offer.kinds));
    const need = new Float64Array(kinds[0]?.need.length ?? 0);
    for (let choice = 1; choice < choices; choice++) {
      const counts = this.countsOf(choice);
      if (!mayShareHost(kinds, counts)) continue;
      const mask = maskOf(counts.flatMap((count, kind) => (count > 0 ? [kind] : [])));
      need.fill(0);
      counts.forEach((count, kind) => {
        const own = (kinds[kind] as Kind).need;
        for (let at = 0; at < need.length; at++) need[at] = (need[at] as number) + count * (own[at] as number);
      });
      const at = offers.findIndex(({ room }, own) => ((admits[own] as number) & mask) === mask && fits(need, room));
      if (at < 0) continue;
      this.offer[choice] = at;
      this.together[choice] = (offers[at] as O).price;
    }
  }

  /** The node that holds the first pod of a choice may hold any others of it besides. */
  divide(): void {
    const { cost, first, together, step } = this;
    cost[0] = 0;
    const taken = new Int32Array(step.length);
    for (let choice = 1; choice < this.choices; choice++) {
      const counts = this.countsOf(choice);
      const leading = counts.findIndex((count) => count > 0);
      taken.fill(0);
      taken[leading] = 1;
      let own = step[leading] as number;
      let least = Number.POSITIVE_INFINITY;
      for (let kind = leading; ; ) {
        const price = (together[own] as number) + (cost[choice - own] as number);
        if (price < least) {
          least = price;
          first[choice] = own;
        }
        // The next way to take some: counts up like a number.
        for (kind = leading; kind < step.length && taken[kind] === counts[kind]; kind++) {
          const back = (taken[kind] as number) - (kind === leading ? 1 : 0);
          taken[kind] = (taken[kind] as number) - back;
          own -= back * (step[kind] as number);
        }
        if (kind === step.length) break;
        taken[kind] = (taken[kind] as number) + 1;
        own += step[kind] as number;
      }
      cost[choice] = least;
    }
  }

  nodes(): Filling<O>[] | undefined {
    const fillings: Filling<O>[] = [];
    let choice = this.choices - 1;
    if (this.cost[choice] === Number.POSITIVE_INFINITY) return undefined;
    while (choice > 0) {
      const own = this.first[choice] as number;
      const offer = this.offers[this.offer[own] as number] as O;
      const counts = this.countsOf(own);
      const kinds = [...counts.keys()].filter((kind) => (counts[kind] as number) > 0);
      fillings.push({ offer, price: offer.price, kinds, counts: kinds.map((kind) => counts[kind] as number) });
      choice -= own;
    }
    // Large ones first, as readers of a plan expect.
    return fillings.sort((left, right) => right.price - left.price);
  }

  private countsOf(choice: number): number[] {
    let rest = choice;
    return this.kinds.map(({ count }) => {
      const own = rest % (count + 1);
      rest = (rest - own) / (count + 1);
      return own;
    });
  }
}

function maskOf(kinds: Iterable<number>): number {
  let mask = 0;
  for (const kind of kinds) mask |= 1 << kind;
  return mask;
}

/** No pod that is there says that fewer of those it counts may be. */
function mayShareHost(kinds: readonly Kind[], counts: readonly number[]): boolean {
  const counted = new Map<number, number>();
  kinds.forEach(({ host }, kind) => {
    for (const rule of host?.countedIn ?? []) counted.set(rule, (counted.get(rule) ?? 0) + (counts[kind] as number));
  });
  return kinds.every(
    ({ host }, kind) =>
      counts[kind] === 0 || (host?.owns ?? []).every(({ rule, most }) => (counted.get(rule) ?? 0) <= most),
  );
}
