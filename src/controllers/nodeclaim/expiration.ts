// nodeclaim.expiration: a claim older than its own `expireAfter` is deleted, whatever budgets and pods say. Its drain is an
// ordinary one: disruption budgets and the termination grace period still hold there. With an expiration grace, that is the
// hard deadline only: from its expiry on the claim counts as drifted and is replaced within budgets.
import { durationMs } from '../../api/index.ts';
import { parseTime } from '../../base/index.ts';
import { done } from '../../runtime/index.ts';
import { again, type Controller, type ControllerContext, untrustedClockMs } from '../context.ts';
import { decideRemoval } from '../decisions.ts';
import { claimController } from './claim-controller.ts';
import type { ClaimMetrics } from './claim-metrics.ts';
import { endClaim } from './end-claim.ts';

export function expirationController(context: ControllerContext, metrics: ClaimMetrics): Controller {
  const { clock, log, settings, time } = context;
  return claimController('nodeclaim.expiration', context, async (claim) => {
    const { creationTimestamp, deletionTimestamp, name } = claim.metadata;
    const lifetimeMs = durationMs(claim.spec.expireAfter);
    const createdMs = parseTime(creationTimestamp ?? '');
    if (deletionTimestamp !== undefined || createdMs === undefined) return done;
    if (lifetimeMs === undefined || !Number.isFinite(lifetimeMs)) return done;
    const leftMs = createdMs + lifetimeMs + (settings.expirationGraceMs ?? 0) - clock.now();
    if (leftMs > 0) return again(leftMs);
    if (time.problem() !== undefined) return again(untrustedClockMs);
    const message = `older than expireAfter ${claim.spec.expireAfter ?? ''}`;
    await endClaim(context, claim, { code: 'Expired', message: `is ${message}` });
    metrics.countDisrupted(claim, 'expired');
    decideRemoval(context, 'expire', claim, { code: 'Expired', message });
    log.info('deleted nodeclaim', { controller: 'nodeclaim.expiration', NodeClaim: { name }, reason: 'expired' });
    return done;
  });
}
