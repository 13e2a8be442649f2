import { afterEach, expect, test, vi } from 'vitest';
import { RealClock } from './real-clock.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

test('timers run in due order, those of the same instant in the order set', async () => {
  // The time at which timers are set is held still: on a busy machine it moves between two lines.
  vi.spyOn(performance, 'now').mockReturnValue(performance.now());
  vi.spyOn(Date, 'now').mockReturnValue(Date.now());
  const clock = new RealClock();
  const ran: string[] = [];
  const early = clock.after(5, () => ran.push('disposed'));
  clock.after(10, () => ran.push('ten'));
  clock.after(1, () => ran.push('one'));
  clock.after(0, () => ran.push('zero'));
  clock.after(0, () => ran.push('zero again'));
  early.dispose();
  expect(ran).toEqual([]);
  const slept = clock.sleep(20);
  vi.restoreAllMocks();
  await slept;
  expect(ran).toEqual(['zero', 'zero again', 'one', 'ten']);
});

test('the wall clock is followed as it is, forwards and back; lengths of time do not notice', () => {
  const wall = vi.spyOn(Date, 'now').mockReturnValue(10_000_000);
  const monotonic = vi.spyOn(performance, 'now').mockReturnValue(500);
  const clock = new RealClock();
  const days = 86_400_000;
  wall.mockReturnValue(10_000_000 + 40 * days);
  monotonic.mockReturnValue(550);
  expect([clock.now(), clock.elapsed()]).toEqual([10_000_000 + 40 * days, 550]);
  wall.mockReturnValue(10_000_100);
  monotonic.mockReturnValue(600);
  expect([clock.now(), clock.elapsed()]).toEqual([10_000_100, 600]);
});

test('a timer runs after its time has passed, whatever the wall clock is set to meanwhile', async () => {
  const wall = vi.spyOn(Date, 'now');
  const clock = new RealClock();
  const ran: string[] = [];
  clock.after(20, () => ran.push('timer'));
  wall.mockReturnValue(0);
  await clock.sleep(60);
  expect(ran).toEqual(['timer']);
  clock.after(5_000, () => ran.push('too early')).dispose();
  wall.mockReturnValue(Number.MAX_SAFE_INTEGER);
  const later = clock.after(5_000, () => ran.push('too early'));
  await clock.sleep(20);
  later.dispose();
  expect(ran).toEqual(['timer']);
});

test('a wait longer than a platform timeout still ends when it should', () => {
  // In one turn of the loop: anybody else who re-armed a short timer meanwhile would have it run for two months.
  vi.useFakeTimers();
  const clock = new RealClock();
  let ran = false;
  const days = 86_400_000;
  clock.after(60 * days, () => {
    ran = true;
  });
  vi.advanceTimersByTime(59 * days);
  expect(ran).toBe(false);
  vi.advanceTimersByTime(2 * days);
  expect(ran).toBe(true);
});

test('a clock without timers keeps no process alive', () => {
  const before = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const clock = new RealClock();
  const timer = clock.after(60_000, () => {});
  expect(process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length).toBe(before + 1);
  timer.dispose();
  expect(process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length).toBe(before);
});

test('work that breathes gives timers their turn, and is not held up while a turn is short', async () => {
  const clock = new RealClock();
  let ticks = 0;
  const ticking = setInterval(() => ticks++, 1);
  const untilMs = performance.now() + 200;
  let pauses = 0;
  while (performance.now() < untilMs) {
    const turn = clock.breathe();
    if (turn === undefined) continue;
    pauses += 1;
    await turn;
  }
  clearInterval(ticking);
  expect(pauses).toBeGreaterThan(0);
  expect(pauses).toBeLessThanOrEqual(21);
  expect(ticks).toBeGreaterThan(0);
});

test('all who breathe in one turn wait for the same next one', async () => {
  vi.spyOn(performance, 'now').mockReturnValueOnce(0).mockReturnValue(1_000);
  const clock = new RealClock();
  const turn = clock.breathe();
  expect(turn).toBeInstanceOf(Promise);
  expect(clock.breathe()).toBe(turn);
  await turn;
  expect(clock.breathe()).toBeUndefined();
});

test('thousands of timers due at once are fired over several turns', async () => {
  const clock = new RealClock();
  let fired = 0;
  let firedBeforeOthers: number | undefined;
  const busy = (): void => {
    fired += 1;
    const untilMs = performance.now() + 0.5;
    while (performance.now() < untilMs);
  };
  for (let index = 0; index < 1_000; index++) clock.after(1, busy);
  setTimeout(() => setImmediate(() => (firedBeforeOthers = fired)), 1);
  await clock.sleep(2);
  await vi.waitFor(() => expect(fired).toBe(1_000), { timeout: 15_000 });
  expect(firedBeforeOthers).toBeLessThan(1_000);
});
