// What readers are to take for the time of a cluster whose clock has a pace of its own: a moment, when that was, and how
// fast it goes on from there. Said again when a reader would be off by more than a second of the machine's, as on a
// machine that cannot keep up: then with the pace that the cluster really has.
import { type Clock, formatTime } from '../../base/index.ts';
import type { PublishedState } from '../../controllers/index.ts';

export interface Pace {
  /** As it was asked for; 0 while time stands still. */
  speed(): number;
  real: Clock;
}

type PublishedClock = NonNullable<PublishedState['clock']>;

/** Said again this often in any case. */
const longestMs = 30_000;
const allowedErrorMs = 1000;

export function publishedClock(clock: Clock, { speed, real }: Pace): () => PublishedClock {
  let last: { atMs: number; realMs: number; asked: number; said: number; text: PublishedClock } | undefined;
  return () => {
    const [atMs, realMs, asked] = [clock.now(), real.now(), speed()];
    let said = asked;
    if (last?.asked === asked) {
      const passedMs = realMs - last.realMs;
      const errorMs = Math.abs(last.atMs + passedMs * last.said - atMs);
      if (passedMs <= longestMs && errorMs <= allowedErrorMs * asked) return last.text;
      if (passedMs > 0) said = Math.min(asked, Math.round((100 * (atMs - last.atMs)) / passedMs) / 100);
    }
    // Thousandths matter for the machine's time: one of them is worth `speed` of the cluster's.
    const text = { time: formatTime(atMs), realTime: new Date(realMs).toISOString(), speed: said };
    last = { atMs, realMs, asked, said, text };
    return text;
  };
}
