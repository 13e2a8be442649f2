// Runs a long computation without holding up the event loop: after each slice of work, everybody else gets a turn.
import type { Clock } from '../../base/index.ts';
import type { Sliced } from '../../core/index.ts';

/** Watches, probes and the lease are never kept waiting for longer than a slice and one piece of work. */
const sliceMs = 15;

export async function inSlices<T>(clock: Clock, work: Sliced<T>): Promise<T> {
  let sliceEndMs = clock.now() + sliceMs;
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    if (clock.now() < sliceEndMs) continue;
    await clock.sleep(0);
    sliceEndMs = clock.now() + sliceMs;
  }
}
