// The wait that doubles: first, twice that, four times that, up to the most.

export interface Doubling {
  readonly first: number;
  readonly most: number;
}

/** After so many waits before it. */
export function doubledMs({ first, most }: Doubling, before: number): number {
  return Math.min(most, first * 2 ** Math.min(before, 50));
}
