import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  formatGoDuration,
  formatMicroTime,
  formatTime,
  goDurationProblem,
  parseGoDuration,
  parseGoDurationNs,
  parseTime,
} from './index.ts';

describe('durations', () => {
  test.each([
    ['0', 0],
    ['0s', 0],
    ['30s', 30_000],
    ['1h30m5s', 5_405_000],
    ['720h', 2_592_000_000],
    ['1.5h', 5_400_000],
    ['.5s', 500],
    ['1.s', 1_000],
    ['-1m', -60_000],
    ['+1m', 60_000],
    ['250ms', 250],
    ['1us', 0.001],
    ['1µs', 0.001],
    ['1ns', 0.000001],
    ['2562047h47m16.854775807s', 9_223_372_036_854.775],
  ])('%s is %d ms', (text, ms) => {
    expect(parseGoDuration(text)).toBeCloseTo(ms, 6);
  });

  test.each(['', '-', '1', '1.5', 's', '.s', '1hr', '1d', 'Never', '1h ', ' 1h', '1h-1m', '2562047h47m17s'])(
    '%j is not a duration',
    (text) => {
      expect(parseGoDuration(text)).toBeUndefined();
    },
  );

  test('nanoseconds are exact beyond what a double holds', () => {
    expect(parseGoDurationNs('87600h1ns')).toBe(315_360_000_000_000_001n);
  });

  test.each([
    [0, '0s'],
    [1_000, '1s'],
    [1_500, '1.5s'],
    [60_000, '1m0s'],
    [5_400_000, '1h30m0s'],
    [2_592_000_000, '720h0m0s'],
    [100, '100ms'],
    [0.0015, '1.5µs'],
    [0.000007, '7ns'],
    [-90_000, '-1m30s'],
  ])('%d ms prints as %s', (ms, text) => {
    expect(formatGoDuration(ms)).toBe(text);
  });

  test('printing and reading a whole number of milliseconds gives it back', () => {
    fc.assert(
      fc.property(fc.integer({ min: -9_000_000_000_000, max: 9_000_000_000_000 }), (ms) => {
        expect(parseGoDuration(formatGoDuration(ms))).toBe(ms === 0 ? 0 : ms);
      }),
      { seed: 7, numRuns: 500 },
    );
  });
});

describe('times', () => {
  test.each([
    ['1970-01-01T00:00:00Z', 0],
    ['2026-11-16T04:05:06Z', 1_794_801_906_000],
    ['2026-11-16T04:05:06.25Z', 1_794_801_906_250],
    ['2026-11-16T05:05:06+01:00', 1_794_801_906_000],
    ['2024-02-29T00:00:00Z', 1_709_164_800_000],
    ['0001-01-01T00:00:00Z', -62_135_596_800_000],
  ])('%s is %d', (text, ms) => {
    expect(parseTime(text)).toBe(ms);
  });

  test.each([
    '',
    'now',
    '2026-11-16',
    '2026-11-16 04:05:06Z',
    '2026-11-16T04:05:06',
    '2023-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-01T24:00:00Z',
  ])('%j is not a time', (text) => {
    expect(parseTime(text)).toBeUndefined();
  });

  test('times print in UTC with whole seconds, micro times with six decimals', () => {
    expect(formatTime(1_794_801_906_250)).toBe('2026-11-16T04:05:06Z');
    expect(formatMicroTime(1_794_801_906_250)).toBe('2026-11-16T04:05:06.250000Z');
    expect(formatMicroTime(-1)).toBe('1969-12-31T23:59:59.999000Z');
  });

  test('printing and reading a whole second gives it back', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4_000_000_000 }), (seconds) => {
        expect(parseTime(formatTime(seconds * 1000))).toBe(seconds * 1000);
      }),
      { seed: 7 },
    );
  });
});

test.each([
  ['', 'time: invalid duration ""'],
  ['-', 'time: invalid duration "-"'],
  ['soon', 'time: invalid duration "soon"'],
  ['.h', 'time: invalid duration ".h"'],
  ['5', 'time: missing unit in duration "5"'],
  ['1h30', 'time: missing unit in duration "1h30"'],
  ['1.5d', 'time: unknown unit "d" in duration "1.5d"'],
  ['9999999999h', 'time: invalid duration "9999999999h"'],
])('Go refuses the duration "%s" in its own words', (text, problem) => {
  expect(parseGoDuration(text)).toBeUndefined();
  expect(goDurationProblem(text)).toBe(problem);
});
