import { expect, test } from 'vitest';
import { type ControllerSettings, concurrencyFor } from './context.ts';

test('as much is done at once as the cores it was given allow: the least with one, the most with sixty', () => {
  const at = (cpuRequests: number): number => concurrencyFor({ cpuRequests } as ControllerSettings, 10, 1_000);
  expect([1_000, 30_500, 60_000].map(at)).toEqual([10, 505, 1_000]);
  expect([100, 500, 120_000].map(at)).toEqual([10, 10, 1_000]);
});
