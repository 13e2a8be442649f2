// Cron lines in another time zone than UTC. A line is read by the wall clock there: when clocks are put forward, a time
// that does not exist is taken as the same distance after the gap; when they are put back, the first of the two counts.

import type { CronSchedule } from './cron.ts';

export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return true;
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
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return (instantMs) => {
    const parts = new Map(format.formatToParts(instantMs).map(({ type, value }) => [type, Number(value)]));
    const part = (type: string): number => parts.get(type as Intl.DateTimeFormatPartTypes) ?? 0;
    const wallMs = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
    return wallMs - Math.floor(instantMs / 1000) * 1000;
  };
}
