// What became of launches: a claim whose node is ready ends the decision that made it well, one that goes before that badly.
import { conditionType, isTrue, type NodeClaim } from '../api/index.ts';
import { type Clock, parseTime } from '../base/index.ts';
import type { Decision } from '../ports/index.ts';
import type { DecisionRing } from '../telemetry/index.ts';

export class LaunchOutcomes {
  private readonly ring: DecisionRing;
  private readonly clock: Clock;
  private readonly pending = new Map<string, Decision>();

  constructor(ring: DecisionRing, clock: Clock) {
    this.ring = ring;
    this.clock = clock;
    ring.subscribe((decision) => {
      if (decision.what !== 'launch' || decision.outcome?.state !== 'pending') return;
      for (const { kind, name } of decision.objects) if (kind === 'NodeClaim') this.pending.set(name, decision);
    });
  }

  changed(claim: NodeClaim): void {
    const isReady = isTrue(claim.status?.conditions, conditionType.initialized);
    if (isReady) this.settle(claim.metadata.name ?? '', 'done');
    else if (claim.metadata.deletionTimestamp !== undefined) this.gone(claim);
  }

  gone(claim: NodeClaim): void {
    this.settle(claim.metadata.name ?? '', 'failed', 'the claim was removed before its node was ready');
  }

  private settle(name: string, state: 'done' | 'failed', message?: string): void {
    const decision = this.pending.get(name);
    if (decision === undefined) return;
    this.pending.delete(name);
    const seconds = Math.max(0, (this.clock.now() - (parseTime(decision.time) ?? this.clock.now())) / 1000);
    this.ring.settle(decision.id, { state, seconds, ...(message !== undefined && { message }) });
  }
}
