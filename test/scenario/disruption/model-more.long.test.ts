// The second half of the long campaign, so that two processes can share it.
import { expect, test } from 'vitest';
import { campaign } from './model/campaign.ts';

test('in 1,700 more random histories no budget, limit or protection is exceeded, and nothing is left over', async () => {
  expect((await campaign(6_000, 7_700)).commands).toBeGreaterThan(1_300);
}, 5_400_000);
