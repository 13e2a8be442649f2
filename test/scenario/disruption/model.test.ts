// Anything may happen in any order, and no rule is ever broken: see model/run.ts for what happens and model/judge.ts for
// the rules.
import { expect, test } from 'vitest';
import { campaign, firstObjection } from './model/campaign.ts';
import { lies } from './model/lies.ts';

test('in 250 random histories no budget, limit or protection is exceeded, and nothing is left over', async () => {
  const seen = await campaign(1, 251);
  // Rules that no one came near prove nothing.
  expect(seen.commands).toBeGreaterThan(100);
  expect(seen.replacements).toBeGreaterThan(40);
  expect(seen.forced).toBeGreaterThan(5);
  expect(seen.evictions).toBeGreaterThan(300);
  expect(seen.launches).toBeGreaterThan(300);
}, 1_800_000);

test.each(lies)(
  'controllers that ignore $ignored are caught',
  async ({ lie, objection }) => {
    // Ends at the first history that the judge objects to; rare meetings take more than a hundred.
    expect(await firstObjection(250, { lie }, objection)).toBeDefined();
  },
  900_000,
);
