// Every entry of the catalogue over its cases, and the catalogue as a whole.
import { describe, expect, test } from 'vitest';
import { allCases } from './areas/all-cases.testing.ts';
import { diagnoseCase, type FailureCase } from './case.testing.ts';
import { areas, catalogue } from './catalogue.ts';

const covered = Object.keys(areas).filter((area) => allCases.some(({ id }) => id.startsWith(`${area}/`)));

describe.each(covered)('%s', (area) => {
  const cases = allCases.filter(({ id }) => id.startsWith(`${area}/`));
  test.each(
    cases.map((one): [string, FailureCase] => [`${one.id} ${one.nearMiss ? 'is not' : 'is'} ${one.name}`, one]),
  )('%s', (_, { id, nearMiss, instead, confidence, fix = [], ...given }) => {
    const { findings } = diagnoseCase(given);
    const found = findings.find((finding) => finding.id === id);
    const ids = findings.map((finding) => finding.id);
    expect(ids.includes(id)).toBe(nearMiss !== true);
    expect(ids).toEqual(expect.arrayContaining(instead === undefined ? [] : [instead]));
    expect(found?.confidence).toBe(confidence ?? found?.confidence);
    expect(found === undefined || found.evidence.length > 0).toBe(true);
    const fixes = found?.fix.join('\n') ?? '';
    expect(fix.filter((part) => !fixes.includes(part))).toEqual([]);
  });
});

test('ids are unique and belong to their area', () => {
  const ids = catalogue.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const [area, entries] of Object.entries(areas))
    for (const { id } of entries) expect(id.startsWith(`${area}/`)).toBe(true);
});

/** Seen in the field and not in the catalogue that this began with. */
const beyond = new Set([
  'startup/kubernetes-permission-missing',
  'crd/admission-webhook-unreachable',
  'registration/unregistered-taint-missing',
]);

test('there are 100 entries in 16 areas, and three beyond them', () => {
  const first = catalogue.filter(({ id }) => !beyond.has(id));
  const counts = Object.fromEntries(
    Object.keys(areas).map((area) => [area, first.filter(({ id }) => id.startsWith(`${area}/`)).length]),
  );
  expect(counts).toEqual({
    startup: 9,
    crd: 9,
    iam: 12,
    ami: 8,
    registration: 5,
    init: 7,
    scheduling: 12,
    storage: 2,
    net: 7,
    windows: 3,
    disruption: 6,
    termination: 3,
    interruption: 4,
    pricing: 2,
    helm: 7,
    tooling: 4,
  });
  expect(first).toHaveLength(100);
  expect(catalogue).toHaveLength(100 + beyond.size);
});

test('every literal of a sign is in lower case', () => {
  for (const { signs = [] } of catalogue)
    for (const { words } of signs) expect(words.filter((word) => word !== word.toLowerCase())).toEqual([]);
});

test('every entry that looks at something has two positive cases and a near miss', () => {
  const made = catalogue.filter(({ check, signs = [] }) => check !== undefined || signs.length > 0);
  const lacking = made.filter(({ id }) => {
    const own = allCases.filter((one) => one.id === id);
    return own.filter((one) => !one.nearMiss).length < 2 || !own.some((one) => one.nearMiss);
  });
  expect(lacking.map(({ id }) => id)).toEqual([]);
});

test('what an entry explains exists', () => {
  const ids = new Set<string>(catalogue.map(({ id }) => id));
  for (const { explains = [] } of catalogue)
    for (const other of explains) expect(other.endsWith('/') || ids.has(other), other).toBe(true);
});
