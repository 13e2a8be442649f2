import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { atOnce } from '../../base/index.ts';
import { cheapestForFew } from './few-pods.ts';
import { fits, type HostRules, type Kind, kindsThatFit, type Offer, priceOf } from './pile.ts';

const hosts: (HostRules | undefined)[] = [
  undefined,
  undefined,
  { owns: [{ rule: 0, most: 1 }], countedIn: [0] },
  { owns: [{ rule: 1, most: 2 }], countedIn: [1] },
  { owns: [{ rule: 0, most: 0 }], countedIn: [1] },
  { owns: [], countedIn: [0, 1] },
];

const kind = fc
  .record({
    cpu: fc.integer({ min: 1, max: 6 }),
    memory: fc.integer({ min: 1, max: 6 }),
    count: fc.integer({ min: 1, max: 3 }),
    host: fc.constantFrom(...hosts),
  })
  .map(({ cpu, memory, count, host }): Kind => ({ need: Float64Array.of(cpu, memory), count, host }));

interface Pile {
  readonly kinds: Kind[];
  readonly offers: Offer[];
}

const piles = fc
  .record({
    kinds: fc.array(kind, { minLength: 1, maxLength: 3 }),
    sizes: fc.array(
      fc.tuple(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 20 })),
      {
        minLength: 1,
        maxLength: 6,
      },
    ),
    refused: fc.integer({ min: 0, max: 5 }),
  })
  .map(
    ({ kinds, sizes, refused }): Pile => ({
      kinds,
      offers: sizes.map(([cpu, memory, price], row) => {
        const room = Float64Array.of(cpu, memory);
        const allowed = [...kinds.keys()].filter((at) => (at + row) % 6 !== refused);
        return { row, price, room, kinds: kindsThatFit(kinds, room, allowed) };
      }),
    }),
  );

/** What one node for these pods costs, given by kind. */
function onOneNode({ kinds, offers }: Pile, pods: readonly number[]): number {
  for (const owner of pods) {
    for (const { rule, most } of kinds[owner]?.host?.owns ?? [])
      if (pods.filter((pod) => kinds[pod]?.host?.countedIn.includes(rule)).length > most)
        return Number.POSITIVE_INFINITY;
  }
  const need = Float64Array.of(0, 0);
  for (const pod of pods) kinds[pod]?.need.forEach((amount, at) => (need[at] = (need[at] as number) + amount));
  const fitting = offers.filter(({ room, kinds: own }) => fits(need, room) && pods.every((pod) => own.includes(pod)));
  return Math.min(Number.POSITIVE_INFINITY, ...fitting.map(({ price }) => price));
}

/** Puts each pod on each node in turn. */
function cheapest(pile: Pile, pods: readonly number[], nodes: readonly (readonly number[])[]): number {
  const [pod, ...rest] = pods;
  if (pod === undefined) return nodes.reduce((sum, own) => sum + onOneNode(pile, own), 0);
  const apart = cheapest(pile, rest, [...nodes, [pod]]);
  return nodes.reduce((least, own, at) => Math.min(least, cheapest(pile, rest, nodes.with(at, [...own, pod]))), apart);
}

test('few pods get the cheapest nodes there are', () => {
  let [bought, impossible] = [0, 0];
  fc.assert(
    fc.property(piles, (pile) => {
      const { kinds, offers } = pile;
      const pods = kinds.flatMap(({ count }, at) => Array.from({ length: count }, () => at));
      fc.pre(pods.length <= 6);
      const least = cheapest(pile, pods, []);
      const found = atOnce(cheapestForFew(kinds, offers));
      if (found === undefined) impossible += 1;
      else bought += 1;
      expect(found === undefined ? Number.POSITIVE_INFINITY : priceOf(found)).toBe(least);
      const held = found?.flatMap((own) =>
        own.kinds.flatMap((at, index) => Array.from({ length: own.counts[index] as number }, () => at)),
      );
      expect(held?.sort() ?? pods).toEqual(pods);
      for (const { kinds: own, counts, price } of found ?? []) {
        const there = own.flatMap((at, index) => Array.from({ length: counts[index] as number }, () => at));
        expect(onOneNode(pile, there)).toBe(price);
      }
    }),
    { seed: 17, numRuns: 600 },
  );
  expect(bought).toBeGreaterThan(100);
  expect(impossible).toBeGreaterThan(20);
});

test('many pods are left to others', () => {
  const kinds = Array.from(
    { length: 13 },
    (_, at): Kind => ({ need: Float64Array.of(at + 1), count: 1, host: undefined }),
  );
  const offers = [{ row: 0, price: 1, room: Float64Array.of(100), kinds: Int32Array.from(kinds.keys()) }];
  expect(atOnce(cheapestForFew(kinds, offers))).toBeUndefined();
  expect(atOnce(cheapestForFew(kinds.slice(0, 12), offers))).toHaveLength(1);
});
