import { expect, test } from 'vitest';
import { shownEvidence } from './shown-evidence.ts';

test.each([
  ['objects/events.json:1', 'NodeClaim default-4mlp8: Unconsolidatable: a', ''],
  ['objects/events.json:1', 'Disrupting NodeClaim: Underutilized', 'Event'],
  ['objects/nodepools.json', 'weight 5', 'NodePool'],
  ['logs/kube-system/karpenter-7d/controller.log:12', 'could not launch', 'log of kube-system/karpenter-7d, line 12'],
  ['aws/ec2-describe-subnets.err', 'UnauthorizedOperation', 'AWS ec2-describe-subnets'],
  ['notes.txt:3', 'anything', 'notes.txt:3'],
])('%s with "%s" is shown as from "%s"', (source, text, shown) => {
  expect(shownEvidence([{ source, text }])).toEqual([{ source: shown, text, count: 1 }]);
});

test('lines that say the same are counted', () => {
  const line = { source: 'objects/events.json:1', text: 'Disrupting NodeClaim: Underutilized' };
  expect(shownEvidence([line, line, { ...line, source: 'objects/events.json:9' }])).toEqual([
    { source: 'Event', text: line.text, count: 3 },
  ]);
});
