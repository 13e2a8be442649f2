// An answer that takes long to find and serves everyone who asks at about the same time. It is as old as it may be and no
// older, and let go of when it is: what a look at a large cluster holds is a large part of what the process does.
import type { Clock } from '../../base/index.ts';

/** Answers about single objects are of a cluster at most this old. */
const freshMs = 1_000;
/** An answer that took long, because the cluster is large, serves for so many times as long: viewers must not keep a core busy. */
const restFactor = 5;

export interface SharedAnswerOptions<T> {
  /** Paces viewers. */
  real: Clock;
  /** Moves whenever the cluster changes. */
  changedAt(): number;
  find(): Promise<T>;
}

interface Asked<T> {
  readonly answer: Promise<T>;
  readonly changedAt: number;
  /** Until when it serves while the cluster stands still, and in any case. */
  freshUntilMs: number;
  servesUntilMs: number;
  /** Someone wants it to be there for others. */
  isKept: boolean;
}

export class SharedAnswer<T> {
  private readonly options: SharedAnswerOptions<T>;
  private current: Asked<T> | undefined;

  constructor(options: SharedAnswerOptions<T>) {
    this.options = options;
  }

  /** Kept for whoever asks next, unless it is for one question only. */
  async read({ keep = true } = {}): Promise<T> {
    const known = this.current;
    if (known !== undefined) {
      if (keep) known.isKept = true;
      const answer = await known.answer.then(
        (value) => ({ value }),
        () => undefined,
      );
      if (answer !== undefined && this.isFresh(known)) return answer.value;
      // Another who asked has begun it anew, later than this one asked.
      if (this.current !== undefined && this.current !== known) {
        if (keep) this.current.isKept = true;
        return this.current.answer;
      }
    }
    return this.begin(keep).answer;
  }

  private begin(keep: boolean): Asked<T> {
    const { real, changedAt, find } = this.options;
    const startedMs = real.elapsed();
    const asked: Asked<T> = {
      changedAt: changedAt(),
      answer: find(),
      freshUntilMs: Number.POSITIVE_INFINITY,
      servesUntilMs: Number.POSITIVE_INFINITY,
      isKept: keep,
    };
    this.current = asked;
    const letGo = (): void => {
      if (this.current === asked) this.current = undefined;
    };
    asked.answer.then(() => {
      const nowMs = real.elapsed();
      asked.freshUntilMs = nowMs + freshMs;
      asked.servesUntilMs = nowMs + (nowMs - startedMs) * restFactor;
      if (!asked.isKept) letGo();
      else real.after(Math.max(asked.freshUntilMs, asked.servesUntilMs) - nowMs, letGo);
    }, letGo);
    return asked;
  }

  private isFresh({ changedAt, freshUntilMs, servesUntilMs }: Asked<T>): boolean {
    const nowMs = this.options.real.elapsed();
    return nowMs < servesUntilMs || (nowMs < freshUntilMs && changedAt === this.options.changedAt());
  }
}
