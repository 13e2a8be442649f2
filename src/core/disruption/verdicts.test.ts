import { expect, test } from 'vitest';
import { annotation } from '../../api/names.ts';
import type { SnapshotObject } from '../index.ts';
import { finish, machine, pool, roundOf, running } from './fleet.testing.ts';
import { nodeVerdicts } from './verdicts.ts';

const verdictsOf = (objects: SnapshotObject[]) => finish(nodeVerdicts(roundOf(objects)));
const codes = (objects: SnapshotObject[], name = 'a') =>
  verdictsOf(objects)
    .find((verdict) => verdict.node === name)
    ?.blockers.map(({ code }) => code);

test('a node that can go says by what reason and what that saves', () => {
  expect(verdictsOf([pool(), ...machine('a')])).toMatchObject([
    { node: 'a', verdict: 'remove', reason: 'Empty', savingsPerHour: 0.4, blockers: [] },
  ]);
  const oversized = [pool(), ...machine('a', { type: 'c16' }), running('a', { cpu: '3' })];
  expect(verdictsOf(oversized)).toMatchObject([
    { verdict: 'replace', reason: 'Underutilized', replacements: [{ instanceType: 'c4' }] },
  ]);
  const drifted = [pool(), ...machine('a', { type: 'c2', conditions: { Drifted: 'True' } }), running('a')];
  expect(verdictsOf(drifted)).toMatchObject([{ verdict: 'replace', reason: 'Drifted' }]);
});

test('a node that stays names everything that keeps it, not only the first thing', () => {
  const guarded = running('a', { annotations: { [annotation.doNotDisrupt]: 'true' } });
  const node = machine('a', {
    type: 'c16',
    annotations: { [annotation.doNotDisrupt]: 'true' },
    conditions: { Consolidatable: 'False' },
  });
  expect(codes([pool(), ...node, guarded])).toEqual(['NodeDoNotDisrupt', 'PodDoNotDisrupt', 'NotQuiet']);
});

test('removing what is named lets the node go', () => {
  const closed = pool('default', { budgets: [{ nodes: '0' }] });
  expect(codes([closed, ...machine('a')])).toEqual(['Budget']);
  expect(codes([pool(), ...machine('a')])).toEqual([]);
  expect(codes([pool(), ...machine('a', { type: 'c2' }), running('a', { cpu: '1.5' })])).toEqual(['NotCheaper']);
});
