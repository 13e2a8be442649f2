// Leader election on a Lease, with client-go's record and timings, so that our replicas and any other tool read it alike.
//
// Promises:
// 1. Never two leaders. A leader's term ends by its own clock `renewDeadlineMs` after it sent its last successful renewal;
//    another contender takes over no earlier than the lease duration after it saw that renewal, which is later. Both
//    count elapsed time, which no setting of the clock changes; a leader also believes its wall clock when that says that
//    more has passed, as after a suspended machine.
// 2. `isLeader` is computed from the clock when asked: a process that was frozen or blocked past its deadline gets `false`
//    at once, before any timer has run.
// 3. At a wanted stop the lease is given up only after the leader's work has ended, so that the next one starts alone.
// 4. Contenders trust only how long they themselves saw a lease unchanged, never the times written in it: clocks of
//    machines may differ.
// A Lease deleted by hand is made again by its holder, and still binds contenders that saw it; only a process that starts
// in that very moment cannot know.
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type Clock, formatMicroTime, type Timer } from '../base/index.ts';
import { isKubeError, type Kube, KubeError, type Lease, resources } from '../ports/index.ts';

export interface LeaderElectionOptions {
  kube: Kube;
  clock: Clock;
  lease: { name: string; namespace: string };
  identity: string;
  leaseDurationMs?: number;
  renewDeadlineMs?: number;
  retryPeriodMs?: number;
  random?: () => number;
  /** What the leader writes on its lease beside its name, at every renewal. */
  annotations?: () => Record<string, string>;
  onFailure?: (error: unknown) => void;
  /** Called once for each holder that is not us; `isKerf` when the lease itself says that it is one of ours. */
  onHeld?: (holder: string, isKerf: boolean) => void;
}

/** Names the holder once more, in an annotation that only we write: others leave it as it is, so it tells who holds the lease. */
export const holderAnnotation = 'kerf/holder';

/** Who we are in a Lease: `<host name>_<uuid>`. */
export function leaderIdentity(): string {
  return `${hostname()}_${randomUUID()}`;
}

/** Contenders ask this much later at most, so that they do not ask in step. */
const retryJitter = 0.2;
/** For work that ends when asked to. */
const lossGraceMs = 100;

export class LeaderElection {
  private readonly options: Required<LeaderElectionOptions>;
  /** The lease as last read or written, and when it was first seen so. */
  private observed: Lease | undefined;
  private observedAtMs = 0;
  private leadsUntilMs = Number.NEGATIVE_INFINITY;
  /** The same moment by the wall clock. */
  private leadsUntilWallMs = Number.NEGATIVE_INFINITY;

  /** An attempt was broken off: the lease may be ours without our knowing. */
  private isUnsure = false;

  constructor(options: LeaderElectionOptions) {
    this.options = {
      leaseDurationMs: 15_000,
      renewDeadlineMs: 10_000,
      retryPeriodMs: 2_000,
      random: Math.random,
      annotations: () => ({}),
      onFailure: () => {},
      onHeld: () => {},
      ...options,
    };
  }

  /** True while the term lasts, by the clock. */
  isLeader(): boolean {
    return this.leftMs() > 0;
  }

  private leftMs(): number {
    const { clock } = this.options;
    return Math.min(this.leadsUntilMs - clock.elapsed(), this.leadsUntilWallMs - clock.now());
  }

  /** The identity in the lease as last seen. */
  get holder(): string | undefined {
    return this.observed?.spec?.holderIdentity || undefined;
  }

  /**
   * Contends for the lease; once it is held, runs `lead` with a signal that is aborted at the end of the term. Resolves to
   * `lost` when the lease slipped away (the process should exit: what `lead` started may be half done) and to `stopped`
   * when `lead` or `signal` ended it; then the lease has been given up.
   */
  async run(signal: AbortSignal, lead: (term: AbortSignal) => Promise<void>): Promise<'lost' | 'stopped'> {
    const { clock, retryPeriodMs, random } = this.options;
    while (!(await this.tryOnce(signal))) {
      const waited = await clock.sleep(retryPeriodMs * (1 + random() * retryJitter), signal).then(
        () => true,
        () => false,
      );
      if (waited) continue;
      // The last attempt may have been carried out although its answer was not waited for.
      if (this.isUnsure) await this.giveUp();
      return 'stopped';
    }
    if (signal.aborted) {
      await this.release();
      return 'stopped';
    }
    return this.term(signal, lead);
  }

  private async term(signal: AbortSignal, lead: (term: AbortSignal) => Promise<void>): Promise<'lost' | 'stopped'> {
    const { clock } = this.options;
    const term = new AbortController();
    const end = (): void => term.abort(signal.reason);
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
    const workEnded = new AbortController();
    const work = lead(term.signal).finally(() => workEnded.abort());
    work.catch(() => {}); // Reported below, where it is awaited.
    const deadline = this.endAtDeadline(term);
    try {
      // Renewed until the work has ended, also while it winds down after a stop was asked for.
      await this.keepRenewing(workEnded.signal);
      const isLost = !this.isLeader();
      if (!isLost) {
        await work;
        return 'stopped';
      }
      term.abort(lostReason(this.options.lease.name));
      // At once: another process may lead, and work that does not end when asked to must not keep this one alive.
      await Promise.race([work, clock.sleep(lossGraceMs)]);
      return 'lost';
    } finally {
      deadline.dispose();
      signal.removeEventListener('abort', end);
      await this.release();
    }
  }

  /** Aborts the term when its time is up by the clock; one timer that is set anew only when it fires. */
  private endAtDeadline(term: AbortController): Timer {
    const { clock } = this.options;
    let timer: Timer;
    const check = (): void => {
      const leftMs = this.leftMs();
      if (leftMs > 0) timer = clock.after(leftMs, check);
      else term.abort(lostReason(this.options.lease.name));
    };
    check();
    return { dispose: () => timer?.dispose() };
  }

  /** Resolves when the term is over or `ended` is aborted. */
  private async keepRenewing(ended: AbortSignal): Promise<void> {
    const { clock, retryPeriodMs } = this.options;
    while (!ended.aborted && this.isLeader()) {
      try {
        await clock.sleep(Math.min(retryPeriodMs, this.leftMs()), ended);
      } catch {
        return;
      }
      if (this.isLeader()) await this.tryOnce(ended);
    }
  }

  /**
   * One attempt to take or renew the lease; true if it is ours. Never longer than half the renew deadline. `signal` ends
   * questions and no write: the server may carry out what is no longer waited for, after it was asked what is stored, and
   * the lease would have a holder that is gone.
   */
  private async tryOnce(signal: AbortSignal): Promise<boolean> {
    const { clock, renewDeadlineMs, onFailure } = this.options;
    const stop = { reading: new AbortController(), writing: new AbortController() };
    const forward = (): void => stop.reading.abort(signal.reason);
    if (signal.aborted) return false;
    signal.addEventListener('abort', forward, { once: true });
    const timeout = clock.after(renewDeadlineMs / 2, () => {
      const tooLate = { status: 0, reason: 'Transport', message: 'the lease could not be written in time' } as const;
      for (const each of Object.values(stop)) each.abort(new KubeError(tooLate));
    });
    const started = { ms: clock.elapsed(), wallMs: clock.now() };
    try {
      this.isUnsure = true;
      const isOurs = await this.takeOrRenew(stop.reading.signal, stop.writing.signal);
      this.isUnsure = false;
      // Counted from before the request: the others may have seen the renewal as early as that.
      if (isOurs) {
        this.leadsUntilMs = started.ms + renewDeadlineMs;
        this.leadsUntilWallMs = started.wallMs + renewDeadlineMs;
      }
      return isOurs && this.isLeader();
    } catch (thrown) {
      // A conflict is another contender being quicker; it will be seen at the next try.
      if (!signal.aborted && !isKubeError(thrown, 'Conflict') && !isKubeError(thrown, 'AlreadyExists'))
        onFailure(thrown);
      return false;
    } finally {
      timeout.dispose();
      signal.removeEventListener('abort', forward);
    }
  }

  private async takeOrRenew(reading: AbortSignal, writing: AbortSignal): Promise<boolean> {
    const { kube, lease: ref, identity } = this.options;
    if (this.isLeader() && this.observed !== undefined) {
      try {
        return await this.write(this.observed, writing);
      } catch (thrown) {
        if (!isKubeError(thrown, 'Conflict') && !isKubeError(thrown, 'NotFound')) throw thrown;
      }
    }
    let current: Lease;
    try {
      current = await kube.get(resources.leases, ref, { signal: reading });
    } catch (thrown) {
      // A lease that someone deleted still binds whoever saw it held: its holder may not know yet.
      if (!isKubeError(thrown, 'NotFound') || this.isHeldByAnother()) throw thrown;
      const spec = this.spec(undefined);
      const metadata = { ...ref, annotations: { [holderAnnotation]: identity } };
      this.observe(await kube.create(resources.leases, { metadata, spec }, { signal: writing }));
      return true;
    }
    this.observe(current);
    // Someone else's name in it while we thought we led: the term is over, whatever the clock says.
    if (this.holder !== undefined && this.holder !== identity) this.leadsUntilMs = Number.NEGATIVE_INFINITY;
    return !this.isHeldByAnother() && !reading.aborted && (await this.write(current, writing));
  }

  private isHeldByAnother(): boolean {
    const { clock, identity, leaseDurationMs } = this.options;
    if (this.holder === undefined || this.holder === identity) return false;
    const seconds = this.observed?.spec?.leaseDurationSeconds;
    return clock.elapsed() < this.observedAtMs + (seconds === undefined ? leaseDurationMs : seconds * 1000);
  }

  /** Replaces exactly the version given; anything newer in its place is a Conflict. */
  private async write(from: Lease, signal: AbortSignal): Promise<boolean> {
    const { identity } = this.options;
    const annotations = { ...from.metadata.annotations, ...this.options.annotations(), [holderAnnotation]: identity };
    const next = { ...from, metadata: { ...from.metadata, annotations }, spec: this.spec(from.spec) };
    this.observe(await this.options.kube.replace(resources.leases, next, { signal }));
    return true;
  }

  private spec(old: Lease['spec']): NonNullable<Lease['spec']> {
    const { clock, identity, leaseDurationMs } = this.options;
    const now = formatMicroTime(clock.now());
    const isRenewal = old?.holderIdentity === identity;
    return {
      ...old,
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(leaseDurationMs / 1000),
      acquireTime: isRenewal ? (old.acquireTime ?? now) : now,
      renewTime: now,
      leaseTransitions: old === undefined ? 0 : (old.leaseTransitions ?? 0) + (isRenewal ? 0 : 1),
    };
  }

  private observe(lease: Lease): void {
    if (JSON.stringify(lease.spec) !== JSON.stringify(this.observed?.spec)) {
      this.observedAtMs = this.options.clock.elapsed();
    }
    const before = this.holder;
    this.observed = lease;
    const { holder } = this;
    if (holder !== undefined && holder !== before && holder !== this.options.identity)
      this.options.onHeld(holder, lease.metadata.annotations?.[holderAnnotation] === holder);
  }

  private async release(): Promise<void> {
    const isOurs = this.isLeader();
    this.leadsUntilMs = Number.NEGATIVE_INFINITY;
    if (isOurs) await this.giveUp();
  }

  /** Gives the lease up if it is still ours, as client-go does: no holder, one second. */
  private async giveUp(): Promise<void> {
    const { kube, lease, clock, identity, onFailure, renewDeadlineMs } = this.options;
    const stop = new AbortController();
    const timeout = clock.after(renewDeadlineMs / 2, () => stop.abort(new Error('the lease could not be released')));
    try {
      for (let current = this.isUnsure ? undefined : this.observed; ; current = undefined) {
        // A renewal that was broken off may have been carried out: what is stored now decides.
        current ??= await kube.get(resources.leases, lease, { signal: stop.signal });
        if (current.spec?.holderIdentity !== identity) return;
        const now = formatMicroTime(clock.now());
        const free = { holderIdentity: '', leaseDurationSeconds: 1, acquireTime: now, renewTime: now };
        const spec = { ...current.spec, ...free };
        try {
          await kube.replace(resources.leases, { ...current, spec }, { signal: stop.signal });
          return;
        } catch (thrown) {
          // Someone else's annotation, or a renewal of ours that landed just now: still to be given up.
          if (!isKubeError(thrown, 'Conflict')) throw thrown;
        }
      }
    } catch (thrown) {
      onFailure(thrown);
    } finally {
      timeout.dispose();
    }
  }
}

function lostReason(lease: string): KubeError {
  return new KubeError({
    status: 0,
    reason: 'NotLeader',
    message: `lease ${lease} was lost; another process may lead`,
  });
}
