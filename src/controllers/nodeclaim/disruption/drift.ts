// Whether a node is still what its pool and its provider ask for. Cheap questions first; the instance type is looked up
// rarely, because types hardly ever disappear.
import {
  conditionReason,
  conditionType,
  durationMs,
  isTrue,
  label,
  type NodeClaim,
  type NodePool,
  nodePoolDrifted,
} from '../../../api/index.ts';
import { parseTime } from '../../../base/index.ts';
import { driftedFields, instanceTypeGone, requirementsDrifted } from '../../../core/index.ts';
import type { ControllerContext } from '../../context.ts';
import { withCondition, withoutCondition } from '../claim-conditions.ts';

/** Catalogues may be incomplete just after a start; a young node's type was there a moment ago. */
const youngMs = 3_600_000;
const typeRecheckMs = 1_800_000;

/** As many fields as fit into a line that people read. */
const mostFields = 3;

/** The reason, as ever, and of what the pool asks the fields that are not as it asks. */
function messageOf(reason: string, claim: NodeClaim, pool: NodePool): string {
  if (reason !== conditionReason.nodePoolDrifted && reason !== conditionReason.requirementsDrifted) return reason;
  const fields = driftedFields(pool as never, claim as never);
  if (fields.length === 0) return reason;
  const left = fields.length - mostFields;
  return `${reason}: ${fields.slice(0, mostFields).join('; ')}${left > 0 ? ` and ${left} more` : ''}`;
}

export class DriftMarking {
  private readonly context: ControllerContext;
  /** When a claim's type was last found, by uid. */
  private readonly typeSeenAt = new Map<string, number>();

  constructor(context: ControllerContext) {
    this.context = context;
  }

  async mark(claim: NodeClaim, pool: NodePool | undefined): Promise<NodeClaim> {
    const nowMs = this.context.clock.now();
    const isJudged = pool !== undefined && isTrue(claim.status?.conditions, conditionType.launched);
    const reason = isJudged ? await this.reasonOf(claim, pool) : undefined;
    if (reason === undefined) return withoutCondition(claim, conditionType.drifted, nowMs);
    const { log } = this.context;
    if (!isTrue(claim.status?.conditions, conditionType.drifted)) {
      log.debug('marking drifted', { NodeClaim: { name: claim.metadata.name }, reason });
    }
    const message = isJudged ? messageOf(reason, claim, pool) : reason;
    return withCondition(claim, { type: conditionType.drifted, status: 'True', reason, message }, nowMs);
  }

  forget(uid: string): void {
    this.typeSeenAt.delete(uid);
  }

  private async reasonOf(claim: NodeClaim, pool: NodePool): Promise<string | undefined> {
    const { cloud } = this.context;
    const labels = claim.metadata.labels ?? {};
    if (nodePoolDrifted(pool.metadata.annotations, claim.metadata.annotations)) return conditionReason.nodePoolDrifted;
    if (requirementsDrifted(pool.spec.template.spec.requirements ?? [], labels, cloud.facts)) {
      return conditionReason.requirementsDrifted;
    }
    if (await this.hasLostType(claim, pool)) return conditionReason.instanceTypeNotFound;
    return (await cloud.driftReason(claim)) ?? (this.hasExpired(claim) ? 'Expired' : undefined);
  }

  /** Past its soft deadline, where expired nodes wait for budgets. */
  private hasExpired(claim: NodeClaim): boolean {
    const { clock, settings } = this.context;
    const lifetimeMs = durationMs(claim.spec.expireAfter);
    const createdMs = parseTime(claim.metadata.creationTimestamp ?? '');
    if (!settings.expirationGraceMs || lifetimeMs === undefined || createdMs === undefined) return false;
    return clock.now() >= createdMs + lifetimeMs;
  }

  private async hasLostType(claim: NodeClaim, pool: NodePool): Promise<boolean> {
    const { cloud, clock } = this.context;
    const { uid = '', creationTimestamp, labels = {} } = claim.metadata;
    const nowMs = clock.now();
    if (nowMs - (parseTime(creationTimestamp ?? '') ?? nowMs) < youngMs) return false;
    if (clock.elapsed() - (this.typeSeenAt.get(uid) ?? Number.NEGATIVE_INFINITY) < typeRecheckMs) return false;
    if (labels[label.instanceType] !== undefined) {
      const isGone = instanceTypeGone(labels, await cloud.instanceTypes(pool), cloud.facts);
      if (!isGone) this.typeSeenAt.set(uid, clock.elapsed());
      return isGone;
    }
    return true;
  }
}
