// The line between a saving that is worth other nodes and one that is not, in money.
//
// A cent an hour is about seven dollars a month: below it nobody looks, and plans of a few small nodes stay what people
// know. One per cent is what the search is certain about: fractions, node costs and prices that change by the hour weigh
// as much, and a plan that changes shape for less changes for nothing.

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
