import { expect, test } from 'vitest';
import type { Operator } from '../snapshot.ts';
import { requirementOf } from './requirement.ts';
import { RequirementTable } from './requirement-set.ts';

const table = new RequirementTable(new Set(['topology.kubernetes.io/zone', 'kubernetes.io/arch']));
const set = (...entries: [string, Operator, string[]?][]) =>
  table.setOf(entries.map(([key, operator, values]) => requirementOf(key, operator, values ?? [])));

test('equal sets are the same object, whatever the order they were written in', () => {
  expect(set(['a', 'In', ['1', '2']], ['b', 'Exists'])).toBe(set(['b', 'Exists'], ['a', 'In', ['2', '1']]));
});

test('a set keeps one requirement per key, the intersection of all given', () => {
  expect(set(['a', 'In', ['1', '2']], ['a', 'NotIn', ['2']])).toBe(set(['a', 'In', ['1']]));
});

test.each<[string, Operator, string[], boolean]>([
  ['an undefined custom key', 'In', ['x'], false],
  ['an undefined custom key', 'Exists', [], false],
  ['an undefined custom key', 'NotIn', ['x'], true],
  ['an undefined custom key', 'DoesNotExist', [], true],
])('%s with %s is refused or not', (_, operator, values, allowed) => {
  expect(table.compatible(table.empty, set(['team', operator, values]), 'wellKnown')).toBe(allowed);
});

test('an undefined well-known key is fine on a node to be, not on one that is there', () => {
  const zone = set(['topology.kubernetes.io/zone', 'In', ['z1']]);
  expect(table.compatible(table.empty, zone, 'wellKnown')).toBe(true);
  expect(table.compatible(table.empty, zone, 'strict')).toBe(false);
});

test.each<[Operator, string[], boolean]>([
  ['In', ['x'], true],
  ['In', ['y'], false],
  ['NotIn', ['x'], false],
  ['NotIn', ['y'], true],
  ['Exists', [], true],
  ['DoesNotExist', [], false],
])('a key defined as x meets %s %j', (operator, values, allowed) => {
  expect(table.compatible(set(['team', 'In', ['x']]), set(['team', operator, values]), 'strict')).toBe(allowed);
});

test('two requirements that accept absence agree even without a common value', () => {
  expect(table.compatible(set(['t', 'DoesNotExist']), set(['t', 'NotIn', ['x']]), 'wellKnown')).toBe(true);
});

test('a missing label is reported with the one that was probably meant', () => {
  expect(table.incompatibility(table.empty, set(['zone', 'In', ['z1']]), 'wellKnown')).toBe(
    'label "zone" does not have known values (typo of "topology.kubernetes.io/zone"?)',
  );
  expect(table.incompatibility(set(['team', 'In', ['x']]), set(['team', 'In', ['y']]), 'strict')).toBe(
    'key team, team In [y] not in team In [x]',
  );
});
