// Cron lines in another time zone than UTC. A line is read by the wall clock there: when clocks are put forward, a time
// that does not exist is taken as the same distance after the gap; when they are put back, the first of the two counts.

import { parseTime } from '../../base/index.ts';
import type { CronSchedule } from './cron.ts';

export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** The schedule, read by the wall clock of the zone. */
export function inTimeZone(schedule: CronSchedule, timeZone: string): CronSchedule {
  const offset = offsetOf(timeZone);
  /** The first instant at which clocks there show this. */
  const instantAt = (wallMs: number): number => {
    const before = wallMs - offset(wallMs - dayMs);
    if (before + offset(before) === wallMs) return before;
    const after = wallMs - offset(wallMs + dayMs);
    return after + offset(after) === wallMs ? after : before;
  };
  return {
    nextAfter(instantMs) {
      // Around a change of clocks the wall clock repeats or skips an hour: begin well before it and go on until later.
      let wallMs = schedule.nextAfter(instantMs + offset(instantMs) - changeMs);
      while (wallMs !== undefined && instantAt(wallMs) <= instantMs) wallMs = schedule.nextAfter(wallMs);
      return wallMs === undefined ? undefined : instantAt(wallMs);
    },
  };
}

const dayMs = 86_400_000;
/** Clocks are put forward or back by at most this. */
const changeMs = 2 * 3_600_000;

/** Milliseconds by which clocks in the zone are ahead of UTC at an instant. */
function offsetOf(timeZone: string): (instantMs: number) => number {
  // Swedes write dates as machines read them.
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  return (instantMs) => {
    const wholeMs = Math.floor(instantMs / 1000) * 1000;
    return (parseTime(`${format.format(wholeMs).replace(' ', 'T')}Z`) ?? wholeMs) - wholeMs;
  };
}
