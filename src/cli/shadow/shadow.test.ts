import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ShadowReport } from '../../ports/index.ts';
import { runCommand } from '../run-command.testing.ts';
import { configure } from './shadow.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kerf-shadow-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const report: ShadowReport = {
  apiVersion: 'kerf/v1',
  kind: 'ShadowReport',
  since: '2026-11-17T00:00:00Z',
  now: '2026-11-18T00:00:00Z',
  nodes: 12,
  costPerHour: 2,
  savingsPerHour: 0.5,
  unschedulable: 1,
  verdicts: { remove: 1, replace: 2, keep: 9, blockers: { PodDisruptionBudget: 9 } },
  totals: {
    wouldLaunch: 3,
    wouldLaunchPerHour: 0.3,
    launched: 4,
    launchedPerHour: 0.5,
    wouldRemove: 1,
    wouldReplace: 2,
    wouldSavePerHour: 0.5,
    removed: 1,
    rounds: 8640,
    failures: 0,
  },
  launches: [],
  moves: [],
  claimsMade: [],
  claimsRemoved: [],
};

const save = (content: unknown): string => {
  const file = join(folder, 'report.json');
  writeFileSync(file, JSON.stringify(content));
  return file;
};

test('a saved report becomes a page that says what differs in dollars', async () => {
  const { out, code } = await runCommand(configure, ['report', '--from', save(report)]);
  expect(code).toBe(0);
  expect(out).toContain('(24.0 h)');
  expect(out).toContain("For the pods that waited, Kerf's nodes would have cost $0.200 per hour less.");
  expect(out).toContain("Kerf's next command would save $0.500 per hour ($365 a month).");
  expect(out).toContain('| PodDisruptionBudget | 9     |');
  expect(out).toContain('1 waiting pod fits nowhere');
});

test('-o json gives it back as it is', async () => {
  const { out } = await runCommand(configure, ['report', '--from', save(report), '-o', 'json']);
  expect(JSON.parse(out)).toEqual(report);
});

test.each([
  ['a file that is something else', () => save({ kind: 'Pod' }), 'is not a report of a shadow (kind Pod)'],
  ['a file that does not exist', () => join(folder, 'none.json'), 'cannot read the report from'],
  [
    'an address where no one answers',
    () => 'http://127.0.0.1:9/shadow',
    'cannot read the report from http://127.0.0.1:9',
  ],
])('%s is refused with what was tried', async (_, from, message) => {
  await expect(runCommand(configure, ['report', '--from', from()])).rejects.toThrow(message);
});
