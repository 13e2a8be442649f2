import { expect, test } from 'vitest';
import { growth, type Sample } from './flatness.ts';

const mib = 2 ** 20;
const sample = (over: Partial<Sample> = {}): Sample => ({
  rss: 100 * mib,
  heapUsed: 40 * mib,
  external: 0,
  descriptors: 30,
  maps: { 'i-#': 10 },
  sets: {},
  ...over,
});
const rising = (change: (round: number) => Partial<Sample>): Sample[] =>
  Array.from({ length: 9 }, (_, round) => sample(change(round)));

test('what stays the same, or breathes, is flat', () => {
  expect(growth(rising(() => ({})))).toEqual([]);
  expect(growth(rising((round) => ({ rss: (100 + (round % 2) * 5) * mib, maps: { 'i-#': 5 + (round % 3) } })))).toEqual(
    [],
  );
});

test('a memory with a time limit grows and shrinks', () => {
  const sizes = [52, 52, 100, 143, 163, 150, 114, 67, 70];
  expect(growth(rising((round) => ({ maps: { event: sizes[round] ?? 0 } })))).toEqual([]);
});

test.each<[string, (round: number) => Partial<Sample>]>([
  ['resident memory', (round) => ({ rss: (100 + round * 6) * mib })],
  ['live heap', (round) => ({ heapUsed: (40 + round * 3) * mib })],
  ['descriptors', (round) => ({ descriptors: 30 + round * 3 })],
  ['maps of i-#', (round) => ({ maps: { 'i-#': 10 + round * 20 } })],
  ['maps of new-#', (round) => ({ maps: { 'new-#': round * 20 } })],
  ['sets of #', (round) => ({ sets: { '#': round * 2_000 } })],
  ['maps of d-#', (round) => ({ maps: { 'd-#': round * 1_000 } })],
])('%s that grows is reported', (what, change) => {
  expect(growth(rising(change)).join()).toContain(what);
});

test('a memory that is bounded by a number may fill', () => {
  expect(growth(rising((round) => ({ sets: { '#': round * 100 } })))).toEqual([]);
  const event = '["karpenter.sh/v#","NodePool",null,"default","#","No';
  expect(growth(rising((round) => ({ maps: { 'd-#': round * 100, [event]: round * 400 } })))).toEqual([]);
});
