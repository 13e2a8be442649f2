// The decisions of late, kept in memory: at most so many records and so many bytes, the oldest forgotten first. Whoever
// shows or writes them down listens; nothing is computed for listeners that are not there.
import { type Clock, formatMicroTime } from '../base/index.ts';
import type { Decision, DecisionDraft, DecisionOutcome, Metrics } from '../ports/index.ts';

export interface RingLimits {
  records: number;
  bytes: number;
}

const defaultLimits: RingLimits = { records: 5_000, bytes: 8 * 1024 * 1024 };
const mostAlternatives = 5;
const mostNames = 50;

interface Kept {
  decision: Decision;
  bytes: number;
}

export class DecisionRing {
  private readonly clock: Clock;
  private readonly limits: RingLimits;
  private readonly kept = new Map<string, Kept>();
  private readonly launches = new Map<string, string>();
  private readonly listeners = new Set<(decision: Decision) => void>();
  private readonly counter: ReturnType<Metrics['counter']> | undefined;
  private bytes = 0;
  private sequence = 0;
  private forgotten = false;

  constructor(clock: Clock, metrics?: Metrics, limits: RingLimits = defaultLimits) {
    this.clock = clock;
    this.limits = limits;
    this.counter = metrics?.counter({
      name: 'kerf_decisions_total',
      help: 'Decisions by what was decided and the code of the first reason.',
      labels: ['what', 'reason'],
    });
  }

  /** `time` is for what others decided earlier; now, if absent. */
  add(draft: DecisionDraft, time = formatMicroTime(this.clock.now())): Decision {
    this.sequence += 1;
    const id = `d-${String(this.sequence).padStart(4, '0')}`;
    const { pods, alternatives = [], alternativesLeftOut = 0 } = draft;
    const shown = alternatives.slice(0, mostAlternatives);
    const left = alternativesLeftOut + alternatives.length - shown.length;
    const cause = draft.cause ?? this.launchOf(draft);
    const decision: Decision = {
      kind: 'Decision',
      id,
      time,
      ...draft,
      ...(cause !== undefined && { cause }),
      objects: draft.objects.slice(0, mostNames),
      ...(shown.length > 0 && { alternatives: shown }),
      ...(left > 0 && { alternativesLeftOut: left }),
      ...(pods && { pods: { count: pods.count, names: pods.names.slice(0, mostNames) } }),
    };
    this.keep(decision);
    if (draft.what === 'launch') for (const { kind, name } of draft.objects) this.note(kind, name, id);
    this.counter?.add({ what: decision.what, reason: decision.reasons[0]?.code ?? '' });
    return decision;
  }

  settle(id: string, outcome: DecisionOutcome): void {
    const known = this.kept.get(id);
    if (known === undefined) return;
    const decision = { ...known.decision, outcome };
    // In its place: a map keeps the order in which keys came.
    const bytes = sizeOf(decision);
    this.bytes += bytes - known.bytes;
    this.kept.set(id, { decision, bytes });
    this.forgetOldest();
    for (const listener of this.listeners) listener(decision);
  }

  /** One that was made elsewhere, as it was: of a recording. */
  restore(decision: Decision): void {
    this.keep(decision);
  }

  get(id: string): Decision | undefined {
    return this.kept.get(id)?.decision;
  }

  /** Oldest first. */
  *all(): Iterable<Decision> {
    for (const { decision } of this.kept.values()) yield decision;
  }

  /** Since when every decision is here; undefined as long as none was forgotten. */
  get keptSince(): string | undefined {
    if (!this.forgotten) return undefined;
    for (const { decision } of this.kept.values()) return decision.time;
    return undefined;
  }

  get size(): number {
    return this.kept.size;
  }

  subscribe(listener: (decision: Decision) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Whatever happens to a claim goes back to the decision that made it. */
  private launchOf({ what, objects }: DecisionDraft): string | undefined {
    if (what === 'launch' || what === 'config') return undefined;
    for (const { kind, name } of objects) {
      const id = kind === 'NodeClaim' ? this.launches.get(name) : undefined;
      if (id !== undefined && this.kept.has(id)) return id;
    }
    return undefined;
  }

  private note(kind: string, name: string, id: string): void {
    if (kind !== 'NodeClaim') return;
    this.launches.set(name, id);
    for (const oldest of this.launches.keys()) {
      if (this.launches.size <= this.limits.records) return;
      this.launches.delete(oldest);
    }
  }

  private keep(decision: Decision): void {
    const bytes = sizeOf(decision);
    this.kept.set(decision.id, { decision, bytes });
    this.bytes += bytes;
    this.forgetOldest();
    for (const listener of this.listeners) listener(decision);
  }

  private forgetOldest(): void {
    for (const [id, { bytes }] of this.kept) {
      if (this.kept.size <= this.limits.records && this.bytes <= this.limits.bytes) return;
      this.kept.delete(id);
      this.bytes -= bytes;
      this.forgotten = true;
    }
  }
}

/** What a record takes in memory, roughly: two bytes per character of its text. */
const sizeOf = (decision: Decision): number => JSON.stringify(decision).length * 2;
