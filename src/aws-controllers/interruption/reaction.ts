// What an interruption does to the claim it concerns: say so, remember that the capacity is gone, and take the node down
// in an orderly way while there is time. Doing it twice changes nothing: a claim that is being deleted is left alone.
import { awsAnnotation, awsLabel, capacityType, label, type NodeClaim } from '../../api/index.ts';
import { formatTime } from '../../base/index.ts';
import {
  aboutClaim,
  aboutNode,
  type ClaimMetrics,
  type ControllerContext,
  decideRemoval,
  endClaim,
  nodeClaims,
  patchObject,
} from '../../controllers/index.ts';
import type { EventSubject } from '../../ports/index.ts';
import type { InterruptionKind } from './message.ts';

/** What the provider remembers about capacity that is reported as gone. */
export interface LostCapacity {
  offering(instanceType: string, zone: string, capacityType: string): void;
  reservation(id: string): void;
}

interface Announcement {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
}

const warning = (reason: string, message: string): Announcement => ({ type: 'Warning', reason, message });

const announcements: Partial<Record<InterruptionKind, Announcement>> = {
  spot_interrupted: warning('SpotInterrupted', 'Spot interruption warning was triggered'),
  rebalance_recommendation: {
    type: 'Normal',
    reason: 'SpotRebalanceRecommendation',
    message: 'Spot rebalance recommendation was triggered',
  },
  instance_stopped: warning('InstanceStopping', 'Instance is stopping'),
  instance_terminated: warning('InstanceTerminating', 'Instance is terminating'),
  scheduled_change: warning('InstanceUnhealthy', 'An unhealthy warning was triggered for the instance'),
  capacity_reservation_interrupted: warning(
    'CapacityReservationInstanceInterrupted',
    'Capacity Reservation interruption warning was triggered',
  ),
};

export class Reaction {
  private readonly context: ControllerContext;
  private readonly metrics: ClaimMetrics;
  private readonly lost: LostCapacity;
  private readonly replacesOnRebalance: boolean;

  constructor(
    context: ControllerContext,
    metrics: ClaimMetrics,
    lost: LostCapacity,
    options: { replacesOnRebalance: boolean },
  ) {
    this.context = context;
    this.metrics = metrics;
    this.lost = lost;
    this.replacesOnRebalance = options.replacesOnRebalance;
  }

  async to(kind: InterruptionKind, claim: NodeClaim): Promise<void> {
    const announcement = announcements[kind];
    if (announcement === undefined) return;
    this.announce(claim, () => announcement);
    if (kind === 'spot_interrupted') this.loseOffering(claim);
    if (kind === 'capacity_reservation_interrupted') this.loseReservation(claim);
    if (kind === 'rebalance_recommendation') await this.rebalance(claim);
    else await this.takeDown(claim, kind);
  }

  /** Deletes the claim, once, and says why. */
  async takeDown(claim: NodeClaim, cause: string): Promise<void> {
    const { log } = this.context;
    if (claim.metadata.deletionTimestamp !== undefined) return;
    const message = `EC2 announced ${cause.replaceAll('_', ' ')}`;
    await endClaim(this.context, claim, { code: 'Interrupted', message, silent: true });
    this.metrics.countDisrupted(claim, cause);
    decideRemoval(this.context, 'interrupt', claim, {
      code: 'Interrupted',
      message,
      params: { cause },
    });
    this.announce(claim, (kind) =>
      warning('TerminatingOnInterruption', `Interruption triggered termination for the ${kind}`),
    );
    log.info('deleted nodeclaim', { NodeClaim: { name: claim.metadata.name }, reason: cause });
  }

  private async rebalance(claim: NodeClaim): Promise<void> {
    if (!this.replacesOnRebalance || claim.metadata.deletionTimestamp !== undefined) return;
    this.loseOffering(claim);
    if (claim.metadata.annotations?.[awsAnnotation.rebalanceRecommended] !== undefined) return;
    const annotations = {
      ...claim.metadata.annotations,
      [awsAnnotation.rebalanceRecommended]: formatTime(this.context.clock.now()),
    };
    await patchObject(this.context.kube, nodeClaims, claim, { ...claim, metadata: { ...claim.metadata, annotations } });
  }

  private loseOffering({ metadata }: NodeClaim): void {
    const type = metadata.labels?.[label.instanceType];
    const zone = metadata.labels?.[label.zone];
    if (type && zone) this.lost.offering(type, zone, capacityType.spot);
  }

  private loseReservation({ metadata }: NodeClaim): void {
    const id = metadata.labels?.[awsLabel.capacityReservationId];
    if (id) this.lost.reservation(id);
  }

  /** On the claim and on its Node. */
  announce(claim: NodeClaim, say: (kind: 'NodeClaim' | 'Node') => Announcement): void {
    const { cluster, recorder } = this.context;
    const publish = (subject: EventSubject, kind: 'NodeClaim' | 'Node'): void =>
      recorder.publish({ ...say(kind), subject, dedupeValues: [subject.uid ?? subject.name] });
    publish(aboutClaim(claim), 'NodeClaim');
    for (const node of cluster.nodes.filedUnder(claim.status?.providerID ?? '')) publish(aboutNode(node), 'Node');
  }
}
