// From look to look: what pauses a class, and what ends a pause.
import { expect, test } from 'vitest';
import type { Finding } from '../../failures/index.ts';
import { type ClassLook, LaunchVerdicts } from './launch-verdicts.ts';

const finding = (id: Finding['id']): Finding => ({
  id,
  severity: 'critical',
  confidence: 'certain',
  objects: [],
  summary: 'It fails.',
  evidence: [],
  fix: ['do this'],
});
const mapped = finding('registration/node-role-not-mapped');
const look = (stopping?: Finding, notMade: string[] = []): ClassLook => ({
  stopping,
  findings: stopping === undefined ? [] : [stopping],
  notMade: new Map(notMade.map((id) => [id, 'a right'])),
});

test('one look is a suspicion, the same in the next one a pause', () => {
  const verdicts = new LaunchVerdicts();
  expect(verdicts.after('a', look(mapped))).toBeUndefined();
  expect(verdicts.pauseOf('a')).toBeUndefined();
  expect(verdicts.isOpen('a')).toBe(true);
  expect(verdicts.after('a', look(mapped))).toMatchObject({ kind: 'paused' });
  expect(verdicts.pauseOf('a')?.id).toBe(mapped.id);
  expect(verdicts.after('a', look(mapped))).toBeUndefined();
  expect(verdicts.pauseOf('b')).toBeUndefined();
});

test('a look in between that finds nothing, or something else, starts anew', () => {
  const verdicts = new LaunchVerdicts();
  verdicts.after('a', look(mapped));
  verdicts.after('a', look());
  expect(verdicts.after('a', look(mapped))).toBeUndefined();
  expect(verdicts.after('a', look(finding('iam/node-role-trust-wrong')))).toBeUndefined();
  expect(verdicts.pauseOf('a')).toBeUndefined();
});

test('a pause ends with the first look that proves it gone', () => {
  const verdicts = new LaunchVerdicts();
  for (const _ of [1, 2]) verdicts.after('a', look(mapped));
  expect(verdicts.after('a', look())).toMatchObject({ kind: 'resumed', isProven: true });
  expect(verdicts.pauseOf('a')).toBeUndefined();
  expect(verdicts.isOpen('a')).toBe(false);
});

test('a pause that cannot be proven any more ends after two looks: a lost right holds nothing back', () => {
  const verdicts = new LaunchVerdicts();
  for (const _ of [1, 2]) verdicts.after('a', look(mapped));
  expect(verdicts.after('a', look(undefined, [mapped.id]))).toBeUndefined();
  expect(verdicts.pauseOf('a')?.id).toBe(mapped.id);
  expect(verdicts.after('a', look(undefined, [mapped.id]))).toMatchObject({ kind: 'resumed', isProven: false });
});

test('another failure that comes after the first takes its place once it was seen twice', () => {
  const verdicts = new LaunchVerdicts();
  const trust = finding('iam/node-role-trust-wrong');
  for (const _ of [1, 2]) verdicts.after('a', look(mapped));
  expect(verdicts.after('a', look(trust))).toBeUndefined();
  expect(verdicts.after('a', look(trust))).toMatchObject({ kind: 'paused', finding: { id: trust.id } });
});

test('after a restart what the class says counts as one look', () => {
  const verdicts = new LaunchVerdicts();
  expect(verdicts.hasLooked('a')).toBe(false);
  verdicts.recall('a', 'NodeRoleNotMapped');
  expect(verdicts.after('a', look(mapped))).toMatchObject({ kind: 'paused' });
  verdicts.forgetOthers(new Set());
  expect(verdicts.hasLooked('a')).toBe(false);
});
