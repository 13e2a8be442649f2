// The second half of the long campaign, so that two processes can share it.
import { expect, test } from 'vitest';
import { freshSeeds } from '../../campaigns/seeds.ts';
import { campaign } from './model/campaign.ts';

test('in 5,000 more random histories no budget, limit or protection is exceeded, and nothing is left over', async () => {
  const [first = 1] = freshSeeds('disruption', 1);
  const from = first + 5_000;
  expect((await campaign(from, from + 5_000)).commands).toBeGreaterThan(3_000);
}, 5_400_000);
