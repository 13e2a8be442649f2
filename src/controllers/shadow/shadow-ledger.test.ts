import { expect, test } from 'vitest';
import { ShadowLedger } from './shadow-ledger.ts';

const at = '2026-11-18T00:00:00Z';
const launch = (pods: string[]) => ({
  at,
  nodePool: 'default',
  instanceType: 'm7g.large',
  capacityType: 'spot',
  zone: 'a',
  pricePerHour: 0.05,
  pods,
});
const move = (nodes: string[]) => ({
  at,
  reason: 'Underutilized',
  decision: 'delete' as const,
  nodes,
  replacements: [],
  savingsPerHour: 0.1,
});

test('the same pods planned for again are one launch, a new one among them is another', () => {
  const ledger = new ShadowLedger(at);
  expect(ledger.launch(launch(['a', 'b']), ['1', '2'])).toBe(true);
  expect(ledger.launch(launch(['a', 'b']), ['1', '2'])).toBe(false);
  expect(ledger.launch(launch(['b', 'c']), ['2', '3'])).toBe(true);
  expect(ledger.report.totals).toMatchObject({ wouldLaunch: 2, wouldLaunchPerHour: 0.1 });
});

test('a command that is found round after round counts once, in any order of its nodes', () => {
  const ledger = new ShadowLedger(at);
  expect(ledger.move(move(['x', 'y']), ['1', '2'])).toBe(true);
  expect(ledger.move(move(['y', 'x']), ['2', '1'])).toBe(false);
  expect(ledger.report.totals).toMatchObject({ wouldRemove: 2, wouldSavePerHour: 0.1 });
});

test('the lists are bounded, the totals count on', () => {
  const ledger = new ShadowLedger(at);
  for (let each = 0; each < 60_000; each += 1) ledger.launch(launch([`p-${each}`]), [`${each}`]);
  expect(ledger.report.launches).toHaveLength(500);
  expect(ledger.report.launches.at(-1)?.pods).toEqual(['p-59999']);
  expect(ledger.report.totals.wouldLaunch).toBe(60_000);
  expect(ledger.knowsPod('59999')).toBe(true);
  expect(ledger.knowsPod('0')).toBe(false);
});
