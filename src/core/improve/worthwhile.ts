// The line between a saving that is worth other nodes and one that is not, in money.
//
// A cent an hour is about seven dollars a month: below it no one looks, and plans of a few small nodes stay what people
// know. One per cent is what the search is certain about: fractions, node costs and prices that change by the hour weigh
// as much, and a plan that changes shape for less changes for nothing.
//
// Looking for it takes time, too, and a fraction of a node promises much in a small plan that whole nodes cannot keep. So
// nodes of few pods are opened only where the promise is a twentieth of what they cost: small plans of nodes that are filled
// well are made in a millisecond and stay as packed. The more pods, the less must be promised, because the rounding of the
// last nodes weighs less: 5 % up to a hundred pods, 1 % for five hundred. Rules about which pods share a host are what
// fractions forget; the more kinds of pods have some, the more must be promised, up to four times as much for twenty kinds,
// and where very many have, the more the more there is to look at, up to a half.

export interface Spending {
  /** What is paid for the machines. */
  readonly price: number;
  /** With what each node costs beside its price. */
  readonly cost: number;
}

const leastDollarsPerHour = 0.01;
const leastPart = 0.01;

export function isWorthwhile(before: Spending, after: Spending): boolean {
  return after.cost <= mostWorthwhile(before.cost) && after.price <= before.price;
}

/** The most that a cheaper way may cost. */
export function mostWorthwhile(cost: number): number {
  return Math.min(cost - leastDollarsPerHour, cost * (1 - leastPart));
}

const promisedToFew = 0.05;
/** Where the rules of so many kinds about hosts are forgotten. */
const promisedWithHosts = 0.2;
const severalHostRuled = 20;
const few = 100;
/** Where more kinds than this say which pods they share a host with, hosts have to be tried one by one. */
const manyHostRuled = 100;
const promisedForWork = 0.5;
const muchWork = 180_000;

export interface PileSize {
  readonly pods: number;
  /** Kinds of pods with a say about their host. */
  readonly hostRuled: number;
  /** Offers times kinds of pods. */
  readonly combinations: number;
}

/** The most that fractions of nodes may cost for these nodes to be opened. */
export function mostPromising(cost: number, { pods, hostRuled, combinations }: PileSize): number {
  const forHosts = (promisedWithHosts - promisedToFew) * Math.min(1, hostRuled / severalHostRuled);
  const forFew = (promisedToFew + forHosts) * Math.min(1, few / pods);
  const forWork = hostRuled > manyHostRuled ? promisedForWork * Math.min(1, combinations / muchWork) : 0;
  return Math.min(mostWorthwhile(cost), cost * (1 - Math.max(forFew, forWork)));
}
