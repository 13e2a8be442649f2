// The demo company through a day of full length: `kerf doctor` looks every hour and has nothing to say above low.
import { expect, test } from 'vitest';
import { playDay } from './demo-day.ts';

test('a day of full length has no findings above low', async () => {
  const { moments, failures } = await playDay({ seed: 3, hours: 24, dayMs: 24 * 3_600_000 });
  expect(failures).toEqual([]);
  expect(moments).toHaveLength(24);
  expect(moments.flatMap(({ findings }) => findings)).toEqual([]);
}, 7_200_000);
