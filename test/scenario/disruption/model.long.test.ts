// The long campaign of model.test.ts.
import { expect, test } from 'vitest';
import { campaign } from './model/campaign.ts';

test('in 10,000 random histories no budget, limit or protection is exceeded, and nothing is left over', async () => {
  expect((await campaign(1_000, 11_000)).commands).toBeGreaterThan(3_600);
}, 5_400_000);
