// capacityreservation.expiration: a capacity block ends at a fixed time and takes its instances with it. Claims on a
// reservation that its node class calls `expiring` are deleted while there is still time to drain.
//
// The class holds one answer of EC2. Before a claim goes, EC2 is asked for the block itself, in two looks, and a share of the
// fleet goes at a time, unless EC2 would take the instances back before the turn of the last. What EC2 does not confirm stays.
import { awsLabel, type NodeClaim } from '../../api/index.ts';
import { expiringBeforeEndMs, takenBackBeforeEndMs } from '../../aws/index.ts';
import {
  again,
  allSharesMs,
  type ClaimMetrics,
  Collection,
  type Controller,
  type ControllerContext,
  endClaim,
  untrustedClockMs,
} from '../../controllers/index.ts';
import { tellHeldBack } from '../held-back.ts';

const name = 'capacityreservation.expiration';
const everyMs = 60_000;

export interface ExpiringReservations {
  /** Ids of reservations that a node class calls expiring. */
  expiring(): ReadonlySet<string>;
  /** When these blocks end, as EC2 says now; one that it does not know as an active block is left out. */
  endsOf(ids: ReadonlySet<string>, signal: AbortSignal): Promise<ReadonlyMap<string, number>>;
}

export function reservationExpirationController(
  context: ControllerContext,
  metrics: ClaimMetrics,
  reservations: ExpiringReservations,
): Controller {
  const { clock, cluster, isManaged, time } = context;
  const log = context.log.with({ controller: name });
  let ends: ReadonlyMap<string, number> = new Map();
  const endOf = (claim: NodeClaim): number | undefined => ends.get(reservationOf(claim));
  const collection = new Collection<NodeClaim>({
    controller: name,
    clock,
    metrics: context.metrics,
    keyOf: ({ metadata }) => metadata.uid ?? metadata.name ?? '',
    // The class and EC2 have said it, EC2 twice.
    atLeast: 10,
    isUrgent: (claim) => (endOf(claim) ?? Number.POSITIVE_INFINITY) - takenBackBeforeEndMs - clock.now() <= allSharesMs,
  });

  const takeDown = async (claim: NodeClaim): Promise<void> => {
    await endClaim(context, claim, {
      code: 'CapacityReservationExpiring',
      message: 'its capacity reservation expires',
    });
    metrics.countDisrupted(claim, 'capacity_reservation_expiring');
    log.info('deleted nodeclaim', {
      NodeClaim: { name: claim.metadata.name },
      'capacity-reservation-id': reservationOf(claim),
    });
  };

  return {
    name,
    sources: [],
    startKeys: ['all'],
    concurrency: 1,
    async reconcile(_, signal) {
      if (time.problem() !== undefined) return again(untrustedClockMs);
      const managed = cluster.claims.list().filter(({ spec }) => isManaged(spec.nodeClassRef));
      const expiring = reservations.expiring();
      const affected = managed.filter(
        (claim) => claim.metadata.deletionTimestamp === undefined && expiring.has(reservationOf(claim)),
      );
      ends =
        affected.length === 0 ? new Map() : await reservations.endsOf(new Set(affected.map(reservationOf)), signal);
      const confirmed = affected.filter(
        (claim) => (endOf(claim) ?? Number.POSITIVE_INFINITY) - clock.now() <= expiringBeforeEndMs,
      );
      const { due, heldBack, againMs } = collection.choose(confirmed, managed.length);
      tellHeldBack({ ...context, log }, heldBack, managed.length, 'in a capacity block that ends');
      await Promise.all(due.map(takeDown));
      return again(againMs ?? everyMs);
    },
  };
}

const reservationOf = ({ metadata }: NodeClaim): string => metadata.labels?.[awsLabel.capacityReservationId] ?? '';
