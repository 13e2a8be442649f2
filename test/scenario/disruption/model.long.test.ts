// The long campaign of model.test.ts, its first half.
import { expect, test } from 'vitest';
import { freshSeeds } from '../../campaigns/seeds.ts';
import { campaign } from './model/campaign.ts';

test('in 5,000 random histories no budget, limit or protection is exceeded, and nothing is left over', async () => {
  const [first = 1] = freshSeeds('disruption', 1);
  expect((await campaign(first, first + 5_000)).commands).toBeGreaterThan(3_000);
}, 5_400_000);
