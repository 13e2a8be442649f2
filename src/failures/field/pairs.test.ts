// Two causes at once are two findings, whatever else each of them explains; and what was not collected makes no finding.
import { describe, expect, test } from 'vitest';
import { diagnoseCase } from '../case.testing.ts';
import type { FailureId } from '../failure.ts';
import { type Breaker, breakers } from './breakers.testing.ts';
import { type FieldCluster, healthy } from './field.testing.ts';

function broken(...ways: readonly Breaker[]): FieldCluster {
  const cluster = healthy();
  for (const way of ways) way.breakIt(cluster);
  return cluster;
}

/** What is found above low, and those of the wanted that are only suspected. */
function causesIn(cluster: FieldCluster, wanted: readonly FailureId[] = []): FailureId[] {
  const { findings } = diagnoseCase(cluster);
  const ids = findings.filter(({ severity, id }) => severity !== 'low' || wanted.includes(id)).map(({ id }) => id);
  return [...new Set(ids)].sort();
}

const pairs = breakers.flatMap((one, index) =>
  breakers
    .slice(index + 1)
    .filter((other) => !one.at.some((place) => other.at.includes(place)))
    .map((other): [Breaker, Breaker] => [one, other]),
);

test.each(breakers.map((one) => [one.id, one] as const))('%s alone is the only cause', (id, one) => {
  expect(causesIn(broken(one), [id])).toEqual([id]);
});

test(`each of ${pairs.length} pairs of causes is two findings`, () => {
  for (const [one, other] of pairs) {
    const ids = [one.id, other.id].sort();
    expect(causesIn(broken(one, other), ids), ids.join(' and ')).toEqual(ids);
  }
});

describe('what was not collected is not absent', () => {
  /** What remains to be said when the evidence for the cause itself was left out. */
  const lesser: readonly string[] = ['registration/undiagnosed-timeout', 'crd/nodepool-not-ready-because-nodeclass'];
  const partsOf = (cluster: FieldCluster): [string, (from: FieldCluster) => void][] => [
    ...[...new Set(cluster.objects.map(({ kind }) => kind as string))].flatMap(
      (kind): [string, (from: FieldCluster) => void][] => [
        [`without ${kind}`, (from) => void (from.objects = from.objects.filter((one) => one.kind !== kind))],
        [`only ${kind}`, (from) => void (from.objects = from.objects.filter((one) => one.kind === kind))],
      ],
    ),
    ...Object.keys(cluster.aws).map((name): [string, (from: FieldCluster) => void] => [
      `without ${name}`,
      (from) => void delete from.aws[name],
    ]),
    ['without logs', (from) => void (from.texts = {})],
  ];
  test.each(breakers.map((one) => [one.id, one] as const))('%s, one part left out', (id, one) => {
    for (const [name, leaveOut] of partsOf(broken(one))) {
      const cluster = broken(one);
      leaveOut(cluster);
      expect([id, ...lesser], name).toEqual(expect.arrayContaining(causesIn(cluster)));
    }
  });
});
