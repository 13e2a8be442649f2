import { expect, test } from 'vitest';
import type { NodeClaim } from '../../api/index.ts';
import { withRemark } from './claim-conditions.ts';

const since = { lastTransitionTime: '2026-01-01T00:00:00Z', reason: 'x', message: '' };

test.each([
  ['at the end', ['Launched'], ['Launched', 'DisruptionVerdict']],
  ['before the summary', ['Launched', 'Ready'], ['Launched', 'DisruptionVerdict', 'Ready']],
  ['in its own place', ['DisruptionVerdict', 'Launched', 'Ready'], ['Launched', 'DisruptionVerdict', 'Ready']],
])('a remark stands %s', (_, before, after) => {
  const conditions = before.map((type) => ({ type, status: 'True' as const, ...since }));
  const claim = { metadata: { name: 'a' }, status: { conditions } } as NodeClaim;
  const { status } = withRemark(claim, { type: 'DisruptionVerdict', status: 'False' }, 0);
  expect(status?.conditions?.map(({ type }) => type)).toEqual(after);
});
