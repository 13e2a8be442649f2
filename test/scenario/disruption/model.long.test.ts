// The long campaign of model.test.ts, its first half.
import { expect, test } from 'vitest';
import { campaign } from './model/campaign.ts';

test('in 1,700 random histories no budget, limit or protection is exceeded, and nothing is left over', async () => {
  expect((await campaign(1_000, 2_700)).commands).toBeGreaterThan(1_300);
}, 5_400_000);
