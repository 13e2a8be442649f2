// Timers that wake themselves: one alarm for the earliest of them. Without timers there is no alarm either, because it would
// keep the process alive.
import type { Timer } from './clock.ts';
import { TimerQueue } from './timer-queue.ts';

/** Sets an alarm for the time; undefined where there is to be none now. */
export type SetAlarm = (dueMs: number) => Timer | undefined;

export class AlarmedTimers {
  private readonly timers = new TimerQueue();
  private readonly setAlarm: SetAlarm;
  private alarm: Timer | undefined;
  private alarmMs = Number.POSITIVE_INFINITY;

  constructor(setAlarm: SetAlarm) {
    this.setAlarm = setAlarm;
  }

  add(dueMs: number, task: () => void): Timer {
    const timer = this.timers.add(dueMs, task);
    this.arm();
    return {
      dispose: () => {
        timer.dispose();
        if (this.nextDueMs() === undefined) this.disarm();
      },
    };
  }

  nextDueMs(): number | undefined {
    return this.timers.nextDueMs();
  }

  takeDue(nowMs: number): { dueMs: number; task: () => void } | undefined {
    return this.timers.takeDue(nowMs);
  }

  /** An alarm for the earliest timer, if none is set that goes off as early. */
  arm(): void {
    const dueMs = this.nextDueMs();
    if (dueMs === undefined || dueMs >= this.alarmMs) return;
    this.disarm();
    this.alarm = this.setAlarm(dueMs);
    if (this.alarm !== undefined) this.alarmMs = dueMs;
  }

  disarm(): void {
    this.alarm?.dispose();
    this.alarm = undefined;
    this.alarmMs = Number.POSITIVE_INFINITY;
  }
}
