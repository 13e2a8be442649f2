// capacityreservation.expiration: a capacity block ends at a fixed time and takes its instances with it. Claims on a
// reservation that its node class calls `expiring` are deleted while there is still time to drain.
import { awsLabel, type NodeClaim } from '../../api/index.ts';
import {
  again,
  type ClaimMetrics,
  type Controller,
  type ControllerContext,
  endClaim,
  untrustedClockMs,
} from '../../controllers/index.ts';

const everyMs = 60_000;

export function reservationExpirationController(
  context: ControllerContext,
  metrics: ClaimMetrics,
  /** Ids of reservations that are about to end. */
  expiring: () => ReadonlySet<string>,
): Controller {
  const { cluster, isManaged, time } = context;
  const log = context.log.with({ controller: 'capacityreservation.expiration' });
  const isAffected = ({ metadata, spec }: NodeClaim, ids: ReadonlySet<string>): boolean =>
    isManaged(spec.nodeClassRef) &&
    metadata.deletionTimestamp === undefined &&
    ids.has(metadata.labels?.[awsLabel.capacityReservationId] ?? '');
  return {
    name: 'capacityreservation.expiration',
    sources: [],
    startKeys: ['all'],
    concurrency: 1,
    async reconcile() {
      if (time.problem() !== undefined) return again(untrustedClockMs);
      const ids = expiring();
      const affected = ids.size === 0 ? [] : cluster.claims.list().filter((claim) => isAffected(claim, ids));
      await Promise.all(
        affected.map(async (claim) => {
          await endClaim(context, claim, {
            code: 'CapacityReservationExpiring',
            message: 'its capacity reservation expires',
          });
          metrics.countDisrupted(claim, 'capacity_reservation_expiring');
          log.info('deleted nodeclaim', {
            NodeClaim: { name: claim.metadata.name },
            'capacity-reservation-id': claim.metadata.labels?.[awsLabel.capacityReservationId],
          });
        }),
      );
      return again(everyMs);
    },
  };
}
