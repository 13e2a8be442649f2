// What the checks say about each node class, from one look to the next. A look is a set of answers; a verdict is what
// follows from several:
//
// 1. A failure that stops launches must be found in two looks, one after the other. One look is a suspicion.
// 2. A pause ends with the first look that was able to prove the opposite, or after two looks that proved nothing: a pause
//    is never older than its proof, so that a lost right or an outage of AWS cannot hold launches back.
import { type Finding, reasonOf } from '../../failures/index.ts';

/** What one look found about one class. */
export interface ClassLook {
  /** Stops launches if it is found again. */
  stopping: Finding | undefined;
  /** Reported, whatever it is. */
  findings: readonly Finding[];
  /** Checks whose answers were not there, by id, with what they need. */
  notMade: ReadonlyMap<string, string>;
}

export type Change = { kind: 'paused'; finding: Finding } | { kind: 'resumed'; finding: Finding; isProven: boolean };

interface Entry {
  /** Reason of what the last look found. */
  suspicion: string | undefined;
  pause: Finding | undefined;
  unproven: number;
}

/** Looks without proof after which a pause ends. */
const mostUnproven = 2;

export class LaunchVerdicts {
  private readonly entries = new Map<string, Entry>();

  /** By the class's UID. */
  pauseOf(uid: string): Finding | undefined {
    return this.entries.get(uid)?.pause;
  }

  /** Something is suspected or paused: to be looked at again soon. */
  isOpen(uid: string): boolean {
    const entry = this.entries.get(uid);
    return entry !== undefined && (entry.suspicion !== undefined || entry.pause !== undefined);
  }

  /** Before the first look of this process, what the class itself says stays. */
  hasLooked(uid: string): boolean {
    return this.entries.has(uid);
  }

  /** After a restart: what a process before this one found counts as one look. */
  recall(uid: string, reason: string): void {
    if (!this.entries.has(uid)) this.entries.set(uid, { suspicion: reason, pause: undefined, unproven: 0 });
  }

  after(uid: string, { stopping, notMade }: ClassLook): Change | undefined {
    const entry = this.entries.get(uid) ?? { suspicion: undefined, pause: undefined, unproven: 0 };
    this.entries.set(uid, entry);
    const { pause } = entry;
    if (stopping !== undefined) {
      const reason = reasonOf(stopping.id);
      const isConfirmed = entry.suspicion === reason;
      entry.suspicion = reason;
      entry.unproven = 0;
      if (!isConfirmed) return undefined;
      entry.pause = stopping;
      return pause?.id === stopping.id ? undefined : { kind: 'paused', finding: stopping };
    }
    entry.suspicion = undefined;
    if (pause === undefined) return undefined;
    const isProven = !notMade.has(pause.id);
    entry.unproven += 1;
    if (!isProven && entry.unproven < mostUnproven) return undefined;
    entry.pause = undefined;
    entry.unproven = 0;
    return { kind: 'resumed', finding: pause, isProven };
  }

  forgetOthers(uids: ReadonlySet<string>): void {
    for (const uid of this.entries.keys()) if (!uids.has(uid)) this.entries.delete(uid);
  }
}
