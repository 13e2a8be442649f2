// What users are told about disruption: events on nodes, claims and pools. Texts are interface.
import type { NodeClaim } from '../../api/index.ts';
import { type Blocker, type Command, type Member, partText, savingsText } from '../../core/index.ts';
import type { EventSubject, Node, RecordedEvent } from '../../ports/index.ts';
import type { ControllerContext } from '../context.ts';
import { aboutClaim, aboutNode, aboutPool } from '../event-subjects.ts';

const unconsolidatableMs = 900_000;
const poolBlockedMs = 60_000;

export class DisruptionReport {
  private readonly context: ControllerContext;

  constructor(context: ControllerContext) {
    this.context = context;
  }

  blocked(member: Member, blocker: Pick<Blocker, 'message' | 'silent'>): void {
    if (!blocker.silent) this.tell(member, 'DisruptionBlocked', capitalised(blocker.message));
  }

  unconsolidatable(member: Member, message: string): void {
    this.tell(member, 'Unconsolidatable', capitalised(message), unconsolidatableMs);
  }

  goesInCircles(member: Member, message: string): void {
    this.tell(member, 'ReplacementLoop', message, unconsolidatableMs, 'Warning');
  }

  candidate(command: Command): void {
    for (const member of command.members) {
      const text = `Consolidation candidate: ${partText(command, member)} ${savingsText(command.savings)}`;
      this.tell(member, 'ConsolidationCandidate', text);
    }
  }

  rejected(command: Command, reason: string): void {
    for (const member of command.members) {
      const text = `Consolidation rejected: ${partText(command, member)}, reason: ${reason} ${savingsText(command.savings)}`;
      this.tell(member, 'ConsolidationRejected', text);
    }
  }

  approved(command: Command, text: string, poolName: string): void {
    const [only] = command.members;
    if (command.members.length === 1 && only !== undefined) this.tell(only, 'ConsolidationApproved', text);
    else this.tellPool(poolName, 'ConsolidationApproved', text);
  }

  budgetBlocks(poolName: string, reason: string): void {
    const text = `No allowed disruptions for disruption reason ${reason} due to blocking budget`;
    this.tellPool(poolName, 'DisruptionBlocked', text, poolBlockedMs);
  }

  terminating(claim: NodeClaim, node: Node | undefined, reason: string): void {
    if (node !== undefined) this.publish(aboutNode(node), 'DisruptionTerminating', `Disrupting Node: ${reason}`);
    this.publish(aboutClaim(claim), 'DisruptionTerminating', `Disrupting NodeClaim: ${reason}`);
  }

  replacement(claimName: string, event: 'DisruptionLaunching' | 'DisruptionWaitingReadiness', text: string): void {
    const claim = this.context.cluster.claims.get(claimName);
    if (claim !== undefined) this.publish(aboutClaim(claim), event, text);
  }

  private tell(
    member: Member,
    reason: string,
    message: string,
    dedupeMs?: number,
    type: RecordedEvent['type'] = 'Normal',
  ): void {
    const { cluster } = this.context;
    const { node, claim } = cluster.machines.ofClaim(member.machine.claim?.metadata.name ?? '') ?? {};
    if (node !== undefined) this.publish(aboutNode(node), reason, message, dedupeMs, type);
    if (claim !== undefined) this.publish(aboutClaim(claim), reason, message, dedupeMs, type);
  }

  private tellPool(name: string, reason: string, message: string, dedupeMs?: number): void {
    const pool = this.context.cluster.nodePools.get(name);
    if (pool !== undefined) this.publish(aboutPool(pool), reason, message, dedupeMs);
  }

  private publish(
    subject: EventSubject,
    reason: string,
    message: string,
    dedupeMs?: number,
    type: RecordedEvent['type'] = 'Normal',
  ): void {
    const event: RecordedEvent = { subject, type, reason, message };
    this.context.recorder.publish(dedupeMs === undefined ? event : { ...event, dedupeMs });
  }
}

function capitalised(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
