import { expect, test } from 'vitest';
import { humanDuration } from './cells.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

test.for([
  [-5 * second, '<invalid>'],
  [-1 * second, '0s'],
  [119 * second, '119s'],
  [2 * minute, '2m'],
  [9 * minute + 5 * second, '9m5s'],
  [10 * minute + 5 * second, '10m'],
  [3 * hour, '3h'],
  [7 * hour + 30 * minute, '7h30m'],
  [47 * hour, '47h'],
  [2 * day, '2d'],
  [7 * day + 3 * hour, '7d3h'],
  [100 * day, '100d'],
  [800 * day, '2y70d'],
  [3_000 * day, '8y'],
] as const)('%d ms is %s', ([durationMs, text]) => {
  expect(humanDuration(durationMs)).toBe(text);
});
