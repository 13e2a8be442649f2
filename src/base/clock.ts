// Time as a part you can swap. Everything that waits or asks for the time takes a Clock: the real one at the edges, a
// virtual one in tests, replays and the embedded cluster, where a day passes in seconds.
//
// There are two times. `now` is the wall clock's, to be compared with moments that others wrote down (when an object was
// made, until when a budget holds); it jumps when the machine's clock is set, and is right again when that is corrected.
// `elapsed` only ever goes forward at its own pace, for everything that is a length of time: waits, time-outs, back-offs,
// how long something is remembered. Timers run by it.
//
// Promises of every Clock:
// 1. `elapsed` never goes backwards, whatever happens to `now`.
// 2. Timers due at the same instant run in the order in which they were set.
// 3. A disposed timer never runs; disposing twice is harmless.
// 4. `sleep` rejects with the signal's reason when aborted, and leaves no timer behind.

export interface Timer {
  dispose(): void;
}

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds since a moment of no meaning. */
  elapsed(): number;
  /** Calls `task` once, `delayMs` from now (at the next turn if zero or negative). */
  after(delayMs: number, task: () => void): Timer;
  /** Resolves `delayMs` from now; rejects with `signal.reason` if it is aborted first. */
  sleep(delayMs: number, signal?: AbortSignalLike): Promise<void>;
  /**
   * Asked between two pieces of work: undefined while the present turn of the event loop is still short, else a promise
   * that resolves in the next one. Whoever works for long awaits it, so that probes, watches and the lease are never kept
   * waiting. Virtual clocks have none: there a turn takes no time.
   */
  breathe?(): Promise<void> | undefined;
}

/** The part of AbortSignal that pure rooms need; the platform's own signal satisfies it. */
export interface AbortSignalLike {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** Builds `sleep` from `after`, so that every clock aborts the same way. */
export function sleepWith(after: Clock['after'], delayMs: number, signal?: AbortSignalLike): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = (): void => {
      timer.dispose();
      reject(signal?.reason);
    };
    const timer = after(delayMs, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
