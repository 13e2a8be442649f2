// The long campaign of model.test.ts, its first half.
import { expect, test } from 'vitest';
import { campaign } from './model/campaign.ts';

test('in 5,000 random histories no budget, limit or protection is exceeded, and nothing is left over', async () => {
  expect((await campaign(1_000, 6_000)).commands).toBeGreaterThan(3_900);
}, 5_400_000);
