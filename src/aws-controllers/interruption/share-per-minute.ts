// Scheduled changes leave days, so one message, or a flood of them, does not drain a fleet at once: a share goes per minute.
import type { NodeClaim } from '../../api/index.ts';
import { type ControllerContext, heldBackGauge, nextShareMs, shareOf } from '../../controllers/index.ts';
import { tellHeldBack } from '../held-back.ts';

/** As for what EC2 says twice. */
const atLeast = 10;

export class SharePerMinute {
  private readonly context: ControllerContext;
  private readonly controller: string;
  private readonly heldBack;
  private sinceMs = Number.NEGATIVE_INFINITY;
  private taken = 0;
  /** Uids of those that wait, as far as the present minute has seen them. */
  private readonly waiting = new Set<string>();

  constructor(context: ControllerContext, controller: string) {
    this.context = context;
    this.controller = controller;
    this.heldBack = heldBackGauge(context.metrics);
  }

  /** Those of the claims that may go now; the others are announced as waiting. One that is going already takes no place. */
  take(claims: readonly NodeClaim[], total: number): NodeClaim[] {
    const nowMs = this.context.clock.elapsed();
    if (nowMs - this.sinceMs >= nextShareMs) {
      this.sinceMs = nowMs;
      this.taken = 0;
      this.waiting.clear();
    }
    const staying = claims.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const due = staying.slice(0, Math.max(0, shareOf(total, atLeast) - this.taken));
    const later = staying.slice(due.length);
    this.taken += due.length;
    for (const { metadata } of later) this.waiting.add(metadata.uid ?? metadata.name ?? '');
    this.heldBack.set(this.waiting.size, { controller: this.controller });
    tellHeldBack(this.context, later, total, 'due for a scheduled change');
    return due;
  }
}
