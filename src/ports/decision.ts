// Decisions as records: what was decided, about what, why, what else there was, and what became of it. Events, log lines, the
// dashboard and replays are renderings of these.
//
// Contract: `decide` never throws and never waits; it returns the id under which the record can be asked for while it is
// kept. Lists are cut to their limits by whoever keeps the records.

export type DecisionKind =
  | 'launch'
  | 'place'
  | 'refuse'
  | 'disrupt'
  | 'hold'
  | 'interrupt'
  | 'repair'
  | 'expire'
  | 'config';

export interface DecisionObject {
  kind: string;
  name: string;
  namespace?: string;
}

export interface DecisionReason {
  code: string;
  message: string;
  params?: Readonly<Record<string, string | number>>;
}

export interface DecisionOffering {
  instanceType: string;
  zone: string;
  capacityType: string;
  pricePerHour: number;
}

export interface DecisionAlternative {
  instanceType: string;
  pricePerHour: number;
  because: string;
}

export interface DecisionOutcome {
  state: 'pending' | 'done' | 'failed';
  /** From the decision to its end. */
  seconds?: number;
  message?: string;
}

/** What a controller knows when it decides. */
export interface DecisionDraft {
  what: DecisionKind;
  objects: readonly DecisionObject[];
  reasons: readonly DecisionReason[];
  chosen?: DecisionOffering;
  alternatives?: readonly DecisionAlternative[];
  alternativesLeftOut?: number;
  pods?: { count: number; names: readonly string[] };
  pricePerHour?: { before: number; after: number };
  snapshot?: string;
  tookMs?: number;
  outcome?: DecisionOutcome;
  /** The id of the decision that led to this one. */
  cause?: string;
}

export interface Decision extends DecisionDraft {
  kind: 'Decision';
  id: string;
  time: string;
}
