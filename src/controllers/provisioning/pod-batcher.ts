// Gathers reasons to plan into one window, so that a burst of pods is planned once.
//
// 1. The window opens with the first trigger; it closes when no NEW uid came for `idleMs`, or `maxMs` after it opened.
// 2. A uid already seen in the window does not keep it open.
// 3. A trigger that comes while no one waits opens the next window at once.
import type { AbortSignalLike, Clock, Timer } from '../../base/index.ts';

export interface BatchWindow {
  idleMs: number;
  maxMs: number;
}

export class PodBatcher {
  private readonly clock: Clock;
  private readonly window: BatchWindow;
  private readonly seen = new Set<string>();
  private openedMs = 0;
  private lastNewMs = 0;
  private wake: (() => void) | undefined;

  constructor(clock: Clock, window: BatchWindow) {
    this.clock = clock;
    this.window = window;
  }

  trigger(uid: string): void {
    if (this.seen.has(uid)) return;
    const now = this.clock.elapsed();
    if (this.seen.size === 0) this.openedMs = now;
    this.seen.add(uid);
    this.lastNewMs = now;
    this.wake?.();
  }

  /** Resolves with the number of triggers when a window has closed; rejects with the signal's reason when aborted. */
  async next(signal?: AbortSignalLike): Promise<number> {
    for (;;) {
      const waitMs = this.remainingMs();
      if (waitMs !== undefined && waitMs <= 0) break;
      await this.wakeOrWait(waitMs, signal);
    }
    const count = this.seen.size;
    this.seen.clear();
    return count;
  }

  /** Until the window closes; undefined while none is open. */
  private remainingMs(): number | undefined {
    if (this.seen.size === 0) return undefined;
    const closesMs = Math.min(this.lastNewMs + this.window.idleMs, this.openedMs + this.window.maxMs);
    return closesMs - this.clock.elapsed();
  }

  private wakeOrWait(waitMs: number | undefined, signal: AbortSignalLike | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      let timer: Timer | undefined;
      const finish = (settle: () => void): void => {
        timer?.dispose();
        signal?.removeEventListener('abort', onAbort);
        this.wake = undefined;
        settle();
      };
      const onAbort = (): void => finish(() => reject(signal?.reason));
      if (signal?.aborted) {
        onAbort();
        return;
      }
      signal?.addEventListener('abort', onAbort, { once: true });
      this.wake = () => finish(resolve);
      if (waitMs !== undefined) timer = this.clock.after(waitMs, () => finish(resolve));
    });
  }
}
