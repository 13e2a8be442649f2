// The words of buying anew: kinds of pods in a pile, what is on offer for them, and nodes filled with them.

import type { Package } from './cover.ts';

/** What pods may share a host, for one kind: rules are numbered, and the same number means the same rule. */
export interface HostRules {
  /** While such a pod is on a host, at most so many pods may be counted under the rule there, itself included. */
  readonly owns: readonly { readonly rule: number; readonly most: number }[];
  /** The rules it is counted under. */
  readonly countedIn: readonly number[];
}

/** Pods that are interchangeable. */
export interface Kind {
  /** What one pod needs, by column of the pile. */
  readonly need: Float64Array;
  readonly count: number;
  readonly host: HostRules | undefined;
}

/** Machines of one sort, as many as wanted. */
export interface Offer {
  readonly row: number;
  readonly price: number;
  /** By column of the pile. */
  readonly room: Float64Array;
  /** The kinds that may be on it and fit, ascending. */
  readonly kinds: Int32Array;
}

/** A node to buy and what it holds: a package of pods. */
export interface Filling<O extends Offer = Offer> extends Package {
  readonly offer: O;
}

export function priceOf(fillings: readonly Filling[]): number {
  let sum = 0;
  for (const { price } of fillings) sum += price;
  return sum;
}

/** Which kinds fit at all. */
export function kindsThatFit(kinds: readonly Kind[], room: Float64Array, allowed: Iterable<number>): Int32Array {
  const fitting: number[] = [];
  for (const kind of allowed) if (fits((kinds[kind] as Kind).need, room)) fitting.push(kind);
  return Int32Array.from(fitting);
}

export function fits(need: Float64Array, room: Float64Array): boolean {
  for (let at = 0; at < need.length; at++) if ((need[at] as number) > (room[at] as number)) return false;
  return true;
}
