// What every way to disrupt nodes has in common: one question, one answer. The loop, the shadow and `kerf plan` go through
// the list of methods (`methods.ts`) and know nothing else about them.

import type { Sliced } from '../../base/index.ts';
import type { Move, Score } from './balanced.ts';
import type { Command, ConsolidationType, DisruptionReason } from './command.ts';
import type { Member } from './fleet.ts';
import type { Sets } from './look-ahead.ts';
import type { Round } from './round.ts';
import type { Rejection, Validation } from './validation.ts';

/** What a method wants to know again the next time it is asked. */
export interface MethodMemory {
  /** What the last command was to be followed by. */
  readonly ahead?: Sets;
  /** Pools that the last scan did not reach: they come first. */
  readonly unseen?: ReadonlySet<string>;
  /** Nodes that scans which ran out of time have looked at: the others of their pools come before them. */
  readonly seen?: ReadonlySet<string>;
}

export interface Asked extends MethodMemory {
  isTimeUp?(): boolean;
}

/** A node that stays, and why. */
export interface Refusal {
  readonly member: Member;
  readonly answer: { readonly code: string; readonly message: string; readonly silent?: boolean };
}

export interface MethodOutcome {
  /** To be started now. */
  readonly command: Command | undefined;
  /** Commands of their own that start with it: static pools exchange several nodes at once. */
  readonly also: readonly Command[];
  /** What the Balanced pools think of the command. */
  readonly scores: readonly Score[];
  /** Some node it may act on had to wait for its pool's budget. */
  readonly constrained: boolean;
  readonly timedOut: boolean;
  readonly refused: readonly Refusal[];
  /** What Balanced pools did not want to go. */
  readonly rejected: readonly Move[];
  readonly memory: MethodMemory;
}

export interface Method {
  readonly name: 'Repair' | 'Emptiness' | 'StaticDrift' | 'Drift' | 'MultiNode' | 'SingleNode';
  readonly reason: DisruptionReason;
  readonly consolidationType: ConsolidationType;
  /** The event that tells why a node stays. */
  readonly refusalEvent: 'DisruptionBlocked' | 'Unconsolidatable';
  /** How long one search may take. */
  readonly limitMs?: number;
  /** Whether it is used at all; always, if absent. */
  isOn?(round: Round): boolean;
  /** Nodes it may act on, as far as they themselves are concerned. */
  eligible(round: Round): readonly Member[];
  decide(round: Round, asked?: Asked): Sliced<MethodOutcome>;
  /** Looks at the command again after a while. Methods without it act at once, and are asked even if nothing changed. */
  readonly validation?: {
    validate(later: Round, command: Command): Sliced<Validation>;
    /** A last look at the nodes themselves, for what happened while that was worked out. */
    lastLook?(last: Round, command: Command): Rejection | undefined;
  };
}

const nothingFound: MethodOutcome = {
  command: undefined,
  also: [],
  scores: [],
  constrained: false,
  timedOut: false,
  refused: [],
  rejected: [],
  memory: {},
};

/** Nothing to do, but for what is said. */
export function outcomeOf(parts: Partial<MethodOutcome> = {}): MethodOutcome {
  return { ...nothingFound, ...parts };
}
