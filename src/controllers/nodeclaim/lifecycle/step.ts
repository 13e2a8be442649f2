// One step of a claim's life: from the claim as it is to the claim as it should be written. Steps never write the claim
// themselves; the controller runs all of them and writes once.
import type { NodeClaim } from '../../../api/index.ts';

export interface StepResult {
  claim: NodeClaim;
  /** Look again after this long, whatever changes. */
  againMs?: number;
  /** The step failed; the others still run, and the claim is tried again with back-off. */
  error?: unknown;
  /** The claim was deleted: nothing is left to write. */
  gone?: boolean;
  /** What is reported and counted once the claim is written: a write that has to be repeated repeats the step, not this. */
  afterWrite?: () => void | Promise<void>;
}

export type Step = (claim: NodeClaim) => Promise<StepResult>;
