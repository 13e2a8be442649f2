// What is reported to users about disruption: events on nodes, claims and pools. Texts are interface.
import type { NodeClaim } from '../../api/index.ts';
import { type Command, type Member, partText, savingsText } from '../../core/index.ts';
import type { EventSubject, Node, RecordedEvent } from '../../ports/index.ts';
import type { ControllerContext } from '../context.ts';
import { aboutClaim, aboutNode, aboutPool } from '../event-subjects.ts';

const unconsolidatableMs = 900_000;
const poolBlockedMs = 60_000;

/** An event about a node; what says the same with other figures in it is not said again while it is remembered. */
interface Report extends Pick<RecordedEvent, 'reason' | 'message' | 'dedupeMs'> {
  readonly type?: RecordedEvent['type'];
  /** What is said, without figures that change from round to round. */
  readonly gist: string;
}

export class DisruptionReport {
  private readonly context: ControllerContext;

  constructor(context: ControllerContext) {
    this.context = context;
  }

  blocked(member: Member, { code, message, silent }: { code: string; message: string; silent?: boolean }): void {
    if (!silent) this.tell(member, { reason: 'DisruptionBlocked', message: capitalised(message), gist: code });
  }

  unconsolidatable(member: Member, { code, message }: { code: string; message: string }): void {
    const text = capitalised(message);
    this.tell(member, { reason: 'Unconsolidatable', message: text, gist: code, dedupeMs: unconsolidatableMs });
  }

  /** Too much of the pool is broken: the pool is notified too. */
  repairBlocked(member: Member, message: string): void {
    const reported: Report = {
      type: 'Warning',
      reason: 'NodeRepairBlocked',
      message,
      gist: '',
      dedupeMs: unconsolidatableMs,
    };
    this.tell(member, reported);
    this.tellPool(member.poolName ?? '', reported);
  }

  goesInCircles(member: Member, message: string): void {
    const dedupeMs = unconsolidatableMs;
    this.tell(member, { type: 'Warning', reason: 'ReplacementLoop', message, gist: '', dedupeMs });
  }

  candidate(command: Command): void {
    for (const member of command.members) {
      const gist = partText(command, member);
      const message = `Consolidation candidate: ${gist} ${savingsText(command.savings)}`;
      this.tell(member, { reason: 'ConsolidationCandidate', message, gist });
    }
  }

  rejected(command: Command, reason: string): void {
    for (const member of command.members) {
      const gist = `${partText(command, member)}, reason: ${reason}`;
      const message = `Consolidation rejected: ${gist} ${savingsText(command.savings)}`;
      this.tell(member, { reason: 'ConsolidationRejected', message, gist });
    }
  }

  approved(command: Command, message: string, poolName: string): void {
    const [only] = command.members;
    const reported: Report = { reason: 'ConsolidationApproved', message, gist: '' };
    if (command.members.length === 1 && only !== undefined) this.tell(only, reported);
    else this.tellPool(poolName, reported);
  }

  budgetBlocks(poolName: string, reason: string): void {
    const message = `No allowed disruptions for disruption reason ${reason} due to blocking budget`;
    this.tellPool(poolName, { reason: 'DisruptionBlocked', message, gist: reason, dedupeMs: poolBlockedMs });
  }

  terminating(claim: NodeClaim, node: Node | undefined, reason: string): void {
    const reported = (kind: string): Report => ({
      reason: 'DisruptionTerminating',
      message: `Disrupting ${kind}: ${reason}`,
      gist: reason,
    });
    if (node !== undefined) this.publish(aboutNode(node), reported('Node'));
    this.publish(aboutClaim(claim), reported('NodeClaim'));
  }

  replacement(claimName: string, reason: 'DisruptionLaunching' | 'DisruptionWaitingReadiness', message: string): void {
    const claim = this.context.cluster.claims.get(claimName);
    if (claim !== undefined) this.publish(aboutClaim(claim), { reason, message, gist: message });
  }

  private tell(member: Member, reported: Report): void {
    const { cluster } = this.context;
    const { node, claim } = cluster.machines.ofClaim(member.machine.claim?.metadata.name ?? '') ?? {};
    if (node !== undefined) this.publish(aboutNode(node), reported);
    if (claim !== undefined) this.publish(aboutClaim(claim), reported);
  }

  private tellPool(name: string, reported: Report): void {
    const pool = this.context.cluster.nodePools.get(name);
    if (pool !== undefined) this.publish(aboutPool(pool), reported);
  }

  private publish(subject: EventSubject, { gist, type = 'Normal', ...event }: Report): void {
    const dedupeValues = [subject.kind, subject.uid ?? subject.name, gist];
    this.context.recorder.publish({ subject, type, dedupeValues, ...event });
  }
}

function capitalised(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
