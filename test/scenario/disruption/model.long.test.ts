// The long campaign of model.test.ts, its first half.
import { expect, test } from 'vitest';
import { freshSeeds } from '../../campaigns/seeds.ts';
import { campaign } from './model/campaign.ts';

test('in 3,790 random histories no budget, limit or protection is exceeded, and nothing is left over', async () => {
  const [first = 1] = freshSeeds('disruption', 1);
  const from = first;
  expect((await campaign(from, from + 3_790)).commands).toBeGreaterThan(2_200);
}, 5_400_000);
