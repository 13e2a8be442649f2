// Last step: a claim that is not launched or whose node does not register in time is given up, so that its pods are tried
// elsewhere. Times count from the last transition of each condition, not from the claim's creation.
import { conditionType } from '../../../api/index.ts';
import { formatGoDuration, parseTime } from '../../../base/index.ts';
import { type ControllerContext, untrustedClockMs } from '../../context.ts';
import { claimCondition } from '../claim-conditions.ts';
import type { ClaimMetrics } from '../claim-metrics.ts';
import { endClaim } from '../end-claim.ts';
import type { HealthReporter } from '../health-reporter.ts';
import type { Step } from './step.ts';

export const launchTimeoutMs = 300_000;
export const registrationTimeoutMs = 900_000;

export function liveness(context: ControllerContext, metrics: ClaimMetrics, health: HealthReporter): Step {
  const { clock, log, time } = context;
  return async (claim) => {
    if (claimCondition(claim, conditionType.registered)?.status === 'True') return { claim };
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
      await health.failed(claim);
      const span = formatGoDuration(limitMs);
      await endClaim(
        context,
        claim,
        type === conditionType.launched
          ? {
              code: 'LaunchTimeout',
              message: `was not launched within ${span}${condition.message ? `: ${condition.message}` : ''}`,
            }
          : { code: 'RegistrationTimeout', message: `its node did not register within ${span}` },
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
}
