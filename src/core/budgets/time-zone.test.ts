import { Cron } from 'croner';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { allowedDisruptions } from './budgets.ts';
import { type CronSchedule, parseCron } from './cron.ts';
import { inTimeZone, isTimeZone } from './time-zone.ts';

const at = (text: string): number => Date.parse(text);
const berlin = (line: string): CronSchedule => inTimeZone(parseCron(line) as CronSchedule, 'Europe/Berlin');
const next = (line: string, from: string): string => new Date(berlin(line).nextAfter(at(from)) ?? 0).toISOString();

test('names of time zones are distinguished from other words', () => {
  expect(['UTC', 'Europe/Berlin', 'America/New_York'].every(isTimeZone)).toBe(true);
  expect(['Berlin', 'Mars/Olympus'].some(isTimeZone)).toBe(false);
});

test('a line is read by the wall clock, in summer and in winter', () => {
  expect(next('0 9 * * *', '2026-07-01T00:00:00Z')).toBe('2026-07-01T07:00:00.000Z');
  expect(next('0 9 * * *', '2026-01-01T00:00:00Z')).toBe('2026-01-01T08:00:00.000Z');
});

test('an hour that comes twice counts once', () => {
  expect(next('30 2 * * *', '2026-10-24T23:00:00Z')).toBe('2026-10-25T00:30:00.000Z');
  expect(next('30 2 * * *', '2026-10-25T00:30:00Z')).toBe('2026-10-26T01:30:00.000Z');
});

test('a budget of office hours protects them there', () => {
  const budget = { nodes: '0', schedule: '0 9 * * mon-fri', duration: '8h' };
  const allowed = (time: string, zone?: string): number => allowedDisruptions([budget], 'Empty', 3, at(time), zone);
  expect(allowed('2026-07-01T07:30:00Z')).toBe(Number.POSITIVE_INFINITY);
  expect(allowed('2026-07-01T07:30:00Z', 'Europe/Berlin')).toBe(0);
  expect(allowed('2026-07-01T15:30:00Z', 'Europe/Berlin')).toBe(Number.POSITIVE_INFINITY);
});

test('hits agree with an independent implementation away from changes of clocks', () => {
  const line = fc
    .tuple(fc.integer({ min: 0, max: 59 }), fc.integer({ min: 4, max: 22 }), fc.integer({ min: 0, max: 6 }))
    .map(([minute, hour, weekday]) => `${minute} ${hour} * * ${weekday}`);
  const instant = fc.integer({ min: at('2025-01-01T00:00:00Z'), max: at('2027-01-01T00:00:00Z') });
  const zone = fc.constantFrom('Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Sydney');
  fc.assert(
    fc.property(line, instant, zone, (text, from, timeZone) => {
      const expected = new Cron(text, { timezone: timeZone }).nextRun(new Date(Math.floor(from / 1000) * 1000));
      expect(inTimeZone(parseCron(text) as CronSchedule, timeZone).nextAfter(from)).toBe(expected?.getTime());
    }),
    { seed: 5, numRuns: 60 },
  );
});
