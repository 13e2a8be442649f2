// The second half of the random histories, so that two processes can share them.
import { expect, test } from 'vitest';
import { campaign } from './model/campaign.ts';

test('in 250 more random histories no budget, limit or protection is exceeded, and nothing is left over', async () => {
  const seen = await campaign(251, 501);
  expect(seen.commands).toBeGreaterThan(100);
}, 1_800_000);
