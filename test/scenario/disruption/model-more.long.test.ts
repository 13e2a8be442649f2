// The second half of the long campaign, so that two processes can share it.
import { expect, test } from 'vitest';
import { campaign } from './model/campaign.ts';

test('in 5,000 more random histories no budget, limit or protection is exceeded, and nothing is left over', async () => {
  expect((await campaign(6_000, 11_000)).commands).toBeGreaterThan(3_900);
}, 5_400_000);
