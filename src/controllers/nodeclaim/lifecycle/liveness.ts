// Last step: a claim that is not launched or whose node does not register in time is given up, so that its pods are tried
// elsewhere. Times count from the last transition of each condition, not from the claim's creation. That time may have passed
// while this process was away, so age alone is not proof that a node did not join: the Nodes are listed anew, and one that is
// there gets as long again to be registered. A claim ends for what is stored about it, not for what a cache still shows.
import { conditionReason, conditionType, type NodeClaim } from '../../../api/index.ts';
import { formatGoDuration, parseTime } from '../../../base/index.ts';
import { type ControllerContext, untrustedClockMs } from '../../context.ts';
import { isStoredAsWaiting, storedNodes } from '../../ownership/stored.ts';
import { claimCondition, whyNotRegistered } from '../claim-conditions.ts';
import { ClaimMemory } from '../claim-memory.ts';
import type { ClaimMetrics } from '../claim-metrics.ts';
import { endClaim } from '../end-claim.ts';
import type { HealthReporter } from '../health-reporter.ts';
import type { Step } from './step.ts';

export const launchTimeoutMs = 300_000;
export const registrationTimeoutMs = 900_000;

/** A node that is there but not registered is looked at again after this. */
const lookAgainMs = 30_000;
/** Claims that run out of time together share one list of Nodes. */
const freshMs = 5_000;

/** Nodes that joined and are not registered yet, although their claim's time is up. */
class JoinedNodes {
  private readonly context: ControllerContext;
  private listed: { atMs: number; ids: Promise<ReadonlySet<string>> } | undefined;
  /** When this process first found a claim's time up and its node there. */
  private readonly since = new ClaimMemory<number>();

  constructor(context: ControllerContext) {
    this.context = context;
  }

  /** The claim's node has joined, and has not yet had its time to be registered by this process. */
  async deserves(claim: NodeClaim): Promise<boolean> {
    const providerID = claim.status?.providerID;
    if (providerID === undefined || !(await this.stored()).has(providerID)) return false;
    const nowMs = this.context.clock.elapsed();
    const sinceMs = this.since.get(claim) ?? nowMs;
    this.since.set(claim, sinceMs);
    return nowMs - sinceMs < registrationTimeoutMs;
  }

  forget(name: string): void {
    this.since.forget(name);
  }

  private stored(): Promise<ReadonlySet<string>> {
    const nowMs = this.context.clock.elapsed();
    if (this.listed === undefined || nowMs - this.listed.atMs > freshMs) {
      const listed = { atMs: nowMs, ids: storedNodes(this.context) };
      this.listed = listed;
      listed.ids.catch(() => {
        if (this.listed === listed) this.listed = undefined;
      });
    }
    return this.listed.ids;
  }
}

export interface Liveness {
  step: Step;
  /** The claim of that name is going or gone, whoever ended it. */
  forget(name: string): void;
}

export function liveness(context: ControllerContext, metrics: ClaimMetrics, health: HealthReporter): Liveness {
  const { clock, ledger, log, time } = context;
  const joined = new JoinedNodes(context);

  const step: Step = async (claim) => {
    if (claimCondition(claim, conditionType.registered)?.status === 'True') {
      joined.forget(claim.metadata.name ?? '');
      return { claim };
    }
    // A probe waits for capacity, and ends by its own rule (see launch.ts).
    if (ledger.pace.probe(claim.metadata.name ?? '') !== undefined && !claim.status?.providerID) return { claim };
    const waits = [
      { type: conditionType.launched, limitMs: launchTimeoutMs, cause: 'launch_timeout' },
      { type: conditionType.registered, limitMs: registrationTimeoutMs, cause: 'registration_timeout' },
    ] as const;
    let againMs = Number.POSITIVE_INFINITY;
    for (const { type, limitMs, cause } of waits) {
      const condition = claimCondition(claim, type);
      if (condition === undefined || condition.status === 'True') continue;
      const leftMs = limitMs - (clock.now() - (parseTime(condition.lastTransitionTime) ?? clock.now()));
      if (leftMs > 0) {
        againMs = Math.min(againMs, leftMs);
        continue;
      }
      if (time.problem() !== undefined) return { claim, againMs: untrustedClockMs };
      const isUnseen = condition.status === 'Unknown' && condition.reason !== conditionReason.registrationHookPending;
      if (type === conditionType.registered && isUnseen && (await joined.deserves(claim)))
        return { claim, againMs: lookAgainMs };
      if (!(await isStoredAsWaiting(context, claim, type))) return { claim, againMs: lookAgainMs };
      await health.failed(claim);
      const span = formatGoDuration(limitMs);
      const why = whyNotRegistered(claim);
      await endClaim(
        context,
        claim,
        type === conditionType.launched
          ? {
              code: 'LaunchTimeout',
              message: `was not launched within ${span}${condition.message ? `: ${condition.message}` : ''}`,
            }
          : {
              code: 'RegistrationTimeout',
              message: `its node did not register within ${span}${why === '' ? '' : `: ${why}`}`,
            },
      );
      metrics.countDisrupted(claim, cause);
      log.debug('terminating due to timeout', {
        controller: 'nodeclaim.lifecycle',
        NodeClaim: { name: claim.metadata.name },
        timeout: formatGoDuration(limitMs),
        reason: cause,
        condition: condition.message,
      });
      return { claim, gone: true };
    }
    return Number.isFinite(againMs) ? { claim, againMs } : { claim };
  };
  return { step, forget: (name) => joined.forget(name) };
}
