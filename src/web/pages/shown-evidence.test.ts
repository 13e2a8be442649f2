import { expect, test } from 'vitest';
import { shownEvidence } from './shown-evidence.ts';

test('lines that say the same are counted, and the first says where it is from', () => {
  const text = 'Disrupting NodeClaim: Underutilized';
  expect(
    shownEvidence([
      { source: 'Event default/a.1', text },
      { source: 'NodeClaim default-x', text: 'NodeClaim default-x: spec.expireAfter: Never' },
      { source: 'Event default/b.2', text },
    ]),
  ).toEqual([
    { source: 'Event default/a.1', text, count: 2 },
    { source: '', text: 'NodeClaim default-x: spec.expireAfter: Never', count: 1 },
  ]);
});
