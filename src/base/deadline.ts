// The end of patience. What waits for someone else waits for a stated time in all, whatever it waits for on the way: a
// turn at a rate limiter, a free connection, the rest of a body that began to come.
import type { Clock } from './clock.ts';

/**
 * Settles as `work` does, or after `limitMs` rejects with what `onLate` returns. `onLate` also tells the work to end; work
 * that does not listen is left behind, and how it ends is no one's news any more.
 */
export async function within<T>(clock: Clock, limitMs: number, work: Promise<T>, onLate: () => unknown): Promise<T> {
  let timer: { dispose(): void } | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = clock.after(limitMs, () => reject(onLate()));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    timer?.dispose();
  }
}
