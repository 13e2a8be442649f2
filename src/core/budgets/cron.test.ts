import { Cron } from 'croner';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseCron } from './cron.ts';

const at = (text: string): number => Date.parse(text);
const next = (line: string, from: string): string | undefined => {
  const hit = parseCron(line)?.nextAfter(at(from));
  return hit === undefined ? undefined : new Date(hit).toISOString();
};

test('the next hit is strictly later', () => {
  expect(next('0 9 * * *', '2026-01-01T09:00:00Z')).toBe('2026-01-02T09:00:00.000Z');
  expect(next('0 9 * * *', '2026-01-01T08:59:59Z')).toBe('2026-01-01T09:00:00.000Z');
});

test('names, ranges, lists and steps are understood', () => {
  expect(next('30 8-10/2 * * mon-fri', '2026-01-03T00:00:00Z')).toBe('2026-01-05T08:30:00.000Z');
  expect(next('5/15 * * * *', '2026-01-01T00:06:00Z')).toBe('2026-01-01T00:20:00.000Z');
  expect(next('0 0 1 JAN,jul *', '2026-01-01T00:00:00Z')).toBe('2026-07-01T00:00:00.000Z');
});

test('with both kinds of day restricted, either will do', () => {
  expect(next('0 0 13 * fri', '2026-01-01T00:00:00Z')).toBe('2026-01-02T00:00:00.000Z');
  expect(next('0 0 13 * *', '2026-01-01T00:00:00Z')).toBe('2026-01-13T00:00:00.000Z');
});

test('macros stand for their lines', () => {
  expect(next('@hourly', '2026-01-01T00:30:00Z')).toBe('2026-01-01T01:00:00.000Z');
  expect(next('@weekly', '2026-01-01T00:30:00Z')).toBe('2026-01-04T00:00:00.000Z');
  expect(next('@yearly', '2026-01-01T00:00:00Z')).toBe('2027-01-01T00:00:00.000Z');
});

test('a leap day is found, an impossible day is not', () => {
  expect(next('0 0 29 2 *', '2026-01-01T00:00:00Z')).toBe('2028-02-29T00:00:00.000Z');
  expect(next('0 0 31 2 *', '2026-01-01T00:00:00Z')).toBeUndefined();
});

test.each([
  '',
  '* * * *',
  '60 * * * *',
  '* 24 * * *',
  '* * 0 * *',
  '* * * 13 *',
  '* * * * 7',
  '*/0 * * * *',
  '9-5 * * * *',
  '@often',
  'TZ=UTC 0 9 * * *',
])('the line %j is unreadable', (line) => expect(parseCron(line)).toBeUndefined());

test('hits agree with an independent implementation', () => {
  const field = (least: number, most: number) =>
    fc.oneof(
      fc.constant('*'),
      fc.integer({ min: least, max: most }).map(String),
      fc
        .tuple(fc.integer({ min: least, max: most }), fc.integer({ min: least, max: most }))
        .map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
      fc.integer({ min: 2, max: 7 }).map((step) => `${least}-${most}/${step}`),
    );
  const line = fc
    .tuple(field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 6))
    .map((all) => all.join(' '));
  const instant = fc.integer({ min: at('2025-01-01T00:00:00Z'), max: at('2027-01-01T00:00:00Z') });
  fc.assert(
    fc.property(line, instant, (text, from) => {
      const expected = new Cron(text, { timezone: 'UTC' }).nextRun(new Date(Math.floor(from / 1000) * 1000));
      expect(parseCron(text)?.nextAfter(from)).toBe(expected?.getTime());
    }),
    { seed: 7, numRuns: 60 },
  );
});
