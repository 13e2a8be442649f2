import { expect, test } from 'vitest';
import { activeUntil, allowedDisruptions, remainingDisruptions, unreadableSchedules } from './budgets.ts';

const nine = Date.parse('2026-01-01T09:00:00Z');
const hour = 3_600_000;

test('without a budget for the reason there is no bound', () => {
  expect(allowedDisruptions([], 'Empty', 10, nine)).toBe(Number.POSITIVE_INFINITY);
  expect(allowedDisruptions([{ nodes: '0', reasons: ['Drifted'] }], 'Empty', 10, nine)).toBe(Number.POSITIVE_INFINITY);
});

test('the tightest budget decides, and shares are rounded up', () => {
  expect(allowedDisruptions([{ nodes: '10%' }, { nodes: '3' }], 'Empty', 19, nine)).toBe(2);
  expect(allowedDisruptions([{ nodes: '1%' }], 'Empty', 3, nine)).toBe(1);
  expect(allowedDisruptions([{ nodes: '100%' }], 'Empty', 3, nine)).toBe(3);
});

test('a number without quotes, as files written by hand have it, is a number of nodes', () => {
  expect(allowedDisruptions([{ nodes: 0 }], 'Empty', 10, 0)).toBe(0);
  expect(allowedDisruptions([{ nodes: 3 }], 'Empty', 10, 0)).toBe(3);
});

test('a scheduled budget counts from its hit for its duration, and not at the instant it ends', () => {
  const budget = { nodes: '0', schedule: '0 9 * * *', duration: '1h' };
  expect(allowedDisruptions([budget], 'Empty', 3, nine - 1)).toBe(Number.POSITIVE_INFINITY);
  expect(allowedDisruptions([budget], 'Empty', 3, nine)).toBe(0);
  expect(allowedDisruptions([budget], 'Empty', 3, nine + hour - 1)).toBe(0);
  expect(allowedDisruptions([budget], 'Empty', 3, nine + hour)).toBe(Number.POSITIVE_INFINITY);
  expect(activeUntil(budget, nine + 1)).toBe(nine + hour);
});

test('a duration longer than the recurrence is always active', () => {
  const budget = { nodes: '0', schedule: '@hourly', duration: '2h' };
  for (let minute = 0; minute < 130; minute += 7) {
    expect(allowedDisruptions([budget], 'Empty', 3, nine + minute * 60_000)).toBe(0);
  }
});

test('an unreadable schedule, even for another reason, allows nothing', () => {
  const budgets = [{ nodes: '5' }, { nodes: '5', reasons: ['Drifted'], schedule: 'whenever', duration: '1h' }];
  expect(allowedDisruptions(budgets, 'Empty', 3, nine)).toBe(0);
  expect(unreadableSchedules(budgets)).toEqual(['whenever']);
});

test('nodes that are out already use the budget, and the rest is never negative', () => {
  expect(remainingDisruptions([{ nodes: '2' }], 'Empty', { total: 10, consuming: 1 }, nine)).toBe(1);
  expect(remainingDisruptions([{ nodes: '2' }], 'Empty', { total: 10, consuming: 5 }, nine)).toBe(0);
});
