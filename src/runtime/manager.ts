// What runs in a controller process, and when: caches and servers always, controllers only while leading and only after
// the caches are filled. Stopping goes the other way round, so that nothing acts on a cache that no longer moves.
//
// Promises:
// 1. A part that should only run while leading starts after every cache is synced, and is stopped before the lease is
//    given up and before any cache stops.
// 2. A part that fails, or ends without being asked to, stops all the others; `run` rejects with its error.
// 3. A part that does not end within the grace time is named in the result and left behind, never waited for longer.
import { type Clock, KerfError } from '../base/index.ts';
import type { LeaderElection } from './leader-election.ts';

export interface Part {
  name: string;
  /** Runs until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
}

export interface CachePart extends Part {
  readonly isSynced: boolean;
  /** For how long it has heard nothing from its source, where it has one. */
  readonly silentMs?: number;
  whenSynced(): Promise<void>;
}

export interface ManagerOptions {
  clock: Clock;
  caches: readonly CachePart[];
  /** Run on every replica: health, metrics. */
  always?: readonly Part[];
  /** Run by the leader alone. */
  leading: readonly Part[];
  /** Absent: lead at once. */
  election?: LeaderElection;
  /** How long parts may take to end. */
  graceMs?: number;
}

export interface ManagerResult {
  outcome: 'stopped' | 'lost';
  /** Parts that did not end in time. */
  leftBehind: string[];
}

/** A pod gets 30 s after SIGTERM by default; ours promise to be gone in ten. */
const defaultGraceMs = 8_000;
/** Whoever lost the lease leaves at once. */
const lossGraceMs = 100;

export class Manager {
  private readonly options: ManagerOptions;
  private readonly leftBehind: string[] = [];

  constructor(options: ManagerOptions) {
    this.options = options;
  }

  get isSynced(): boolean {
    return this.options.caches.every((cache) => cache.isSynced);
  }

  /** Runs everything until `signal` is aborted, leadership is lost, or a part fails. */
  async run(signal: AbortSignal): Promise<ManagerResult> {
    const { caches, always = [], leading, election } = this.options;
    const stopLeading = new AbortController();
    const failed = new Failure(() => stopLeading.abort());
    const stop = (): void => stopLeading.abort();
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });

    const stopRest = new AbortController();
    const rest = this.start([...always, ...caches], stopRest.signal, failed);
    const lead = async (term: AbortSignal): Promise<void> => {
      await Promise.race([Promise.all(caches.map((cache) => cache.whenSynced())), aborted(term)]);
      if (term.aborted) return;
      // Nothing to lead with is not an end: the caches serve whoever looks.
      if (leading.length === 0) await aborted(term);
      await this.end(this.start(leading, term, failed), term);
    };
    let outcome: ManagerResult['outcome'] = 'stopped';
    try {
      if (election === undefined) await lead(stopLeading.signal);
      else outcome = await election.run(stopLeading.signal, lead);
    } finally {
      signal.removeEventListener('abort', stop);
      stopRest.abort();
      await this.end(rest, stopRest.signal, outcome === 'lost' ? lossGraceMs : undefined);
    }
    failed.throwIfAny();
    return { outcome, leftBehind: this.leftBehind };
  }

  private start(parts: readonly Part[], signal: AbortSignal, failed: Failure): Map<string, Promise<void>> {
    const running = new Map<string, Promise<void>>();
    for (const part of parts) {
      const ended = part.run(signal).then(
        () => {
          if (!signal.aborted) failed.note(new KerfError('PartEnded', `${part.name} ended unexpectedly`));
        },
        (thrown: unknown) => {
          if (!signal.aborted || thrown !== signal.reason) failed.note(thrown);
        },
      );
      running.set(part.name, ended);
      void ended.then(() => running.delete(part.name));
    }
    return running;
  }

  /** Resolves when the parts have ended, or the grace time after their signal has passed. */
  private async end(running: Map<string, Promise<void>>, signal: AbortSignal, shorterMs?: number): Promise<void> {
    const { clock } = this.options;
    const graceMs = shorterMs ?? this.options.graceMs ?? defaultGraceMs;
    const allEnded = Promise.all(running.values());
    await Promise.race([allEnded, aborted(signal)]);
    const enough = new AbortController();
    const grace = clock.sleep(graceMs, enough.signal).then(
      () => this.leftBehind.push(...running.keys()),
      () => {},
    );
    await Promise.race([allEnded, grace]);
    enough.abort();
  }
}

/** The first failure of any part; the others usually follow from it. */
class Failure {
  private readonly onFirst: () => void;
  private first: { error: unknown } | undefined;

  constructor(onFirst: () => void) {
    this.onFirst = onFirst;
  }

  note(error: unknown): void {
    if (this.first !== undefined) return;
    this.first = { error };
    this.onFirst();
  }

  throwIfAny(): void {
    if (this.first !== undefined) throw this.first.error;
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
