// Kubernetes Events: what `kubectl describe` shows a user about one object.
//
// Contract: publishing never throws and never waits. An event equal to one published within its dedupe time (same
// reason and same dedupe values) is dropped, and so is one above its rate limit.
import type { DecisionDraft, DecisionOutcome } from './decision.ts';

export interface EventSubject {
  apiVersion: string;
  kind: string;
  name: string;
  namespace?: string;
  uid?: string;
  /** Of the version that was looked at. */
  resourceVersion?: string;
}

export interface RecordedEvent {
  subject: EventSubject;
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
  /** What makes two events the same, beside the reason; the default is the subject and the message. */
  dedupeValues?: readonly string[];
  /** Two minutes unless said. */
  dedupeMs?: number;
  /** Shared by all events with this reason. */
  rateLimit?: { perSecond: number; burst: number };
}

export interface Recorder {
  publish(event: RecordedEvent): void;
  /** Keeps a record of a decision and returns its id; absent where no one keeps them. */
  decide?(draft: DecisionDraft): string;
  /** What became of a decision; of one that is no longer kept, nothing happens. */
  settle?(id: string, outcome: DecisionOutcome): void;
}
