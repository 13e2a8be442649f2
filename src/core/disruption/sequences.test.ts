// Guesses on a sketch agree with the planner where the sketch leaves nothing out, and the sequences found by them are the
// same every time, within budgets, and good.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { label } from '../../api/names.ts';
import type { SnapshotObject } from '../index.ts';
import { afterCommand } from './after-command.ts';
import { consolidationCommand } from './consolidation-command.ts';
import { finish, machine, names, pool, roundOf, running } from './fleet.testing.ts';
import type { Member } from './fleet.ts';
import { Round as NewRound, type Round } from './round.ts';
import { SequenceGuess } from './sequence-guess.ts';
import { bestSequence } from './sequences.ts';
import { sketchOf } from './sketch.ts';

const free = { spotToSpot: true, budgetOf: () => 100 };
const apart = {
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: label.hostname, labelSelector: { matchLabels: { app: 'apart' } } },
      ],
    },
  },
};

const anyPod = fc.record({
  cpu: fc.constantFrom('250m', '500m', '1', '2', '3'),
  wish: fc.constantFrom('none', 'none', 'none', 'zone', 'apart'),
});
const anyMachine = fc.record({
  type: fc.constantFrom('c2', 'c4', 'c8', 'c16'),
  zone: fc.constantFrom('zone-1', 'zone-2'),
  pods: fc.array(anyPod, { minLength: 1, maxLength: 4 }),
  set: fc.constantFrom(0, 0, 1, 1, 2, 2),
});
type Drawn = typeof anyMachine extends fc.Arbitrary<infer T> ? T : never;

/** A cluster of these machines; the sets that they go with are numbers for its members. */
function drawn(machines: readonly Drawn[]): { round: Round; members: readonly Member[]; setOf: number[] } {
  const objects = machines.flatMap(({ type, zone, pods }, at) => {
    const name = `node-${at}`;
    const wishes = {
      none: {},
      zone: { spec: { nodeSelector: { [label.zone]: zone } } },
      apart: { spec: apart, labels: { app: 'apart' } },
    };
    return [
      ...machine(name, { type, zone }),
      ...pods.map(({ cpu, wish }, nth) => running(name, { name: `${name}-${nth}`, cpu, ...wishes[wish as 'none'] })),
    ];
  });
  const round = roundOf([pool(), ...objects]);
  const members = round.eligible.Underutilized;
  return { round, members, setOf: members.map(({ name }) => machines[Number(name.slice(5))]?.set ?? 0) };
}

/** The price after these sets went one after the other, as the planner has it; those that cannot go stay. */
function followed(start: Round, sets: readonly (readonly string[])[]): { pricePerHour: number; evictions: number } {
  let round = start;
  let evictions = 0;
  for (const [at, names_] of sets.entries()) {
    const members = round.eligible.Underutilized.filter(({ name }) => names_.includes(name));
    const answer = members.length < 2 ? undefined : round.consolidator.decide(members, 'one');
    if (answer === undefined || answer.kind === 'none') continue;
    const after = afterCommand(round.fleet, consolidationCommand('multi', members, answer), at + 1);
    evictions += after.evictions;
    round = NewRound.of(after.snapshot);
  }
  return { pricePerHour: round.fleet.members.reduce((sum, { price }) => sum + price, 0), evictions };
}

test('a guess about a sequence of sets is what the planner comes to', () => {
  let moves = 0;
  fc.assert(
    fc.property(fc.array(anyMachine, { minLength: 4, maxLength: 8 }), (machines) => {
      const { round, members, setOf } = drawn(machines);
      const sets = [1, 2].map((number) => members.filter((_, at) => setOf[at] === number).map(({ name }) => name));
      const sketch = finish(sketchOf(round, members));
      const guess = new SequenceGuess(sketch, { ...free, mostSets: 2 }).of(setOf);
      const real = followed(round, sets);
      expect(guess.evictions).toBe(real.evictions);
      expect(guess.pricePerHour).toBeCloseTo(real.pricePerHour, 9);
      moves += guess.sets.length;
    }),
    { seed: 11, numRuns: 120 },
  );
  expect(moves).toBeGreaterThan(60);
});

/** Two halves of large nodes, and eight small nodes that fit into each other only in the right company. */
function ragged(): Round {
  const objects: SnapshotObject[] = [];
  for (const [at, cpu] of ['2500m', '1500m', '3', '1', '2', '2', '3500m', '500m'].entries()) {
    objects.push(...machine(`node-${at}`, { type: 'c8' }), running(`node-${at}`, { cpu }));
  }
  return roundOf([pool(), ...objects]);
}

const search = (round: Round, options: Partial<Parameters<typeof bestSequence>[1]> = {}) => {
  const sketch = finish(sketchOf(round, round.eligible.Underutilized));
  return finish(bestSequence(sketch, { ...free, podWeight: 0.05, isTimeUp: () => false, ...options }));
};

test('a sequence fills what is left over to the brim', () => {
  const round = ragged();
  const sets = search(round);
  const moved = sets.flat();
  expect(new Set(moved).size).toBe(moved.length);
  const left = sets.reduce((price, set) => {
    const answer = round.consolidator.decide(set);
    return answer.kind === 'none' ? price : price - answer.savings;
  }, 6.4);
  // Sixteen cores are asked for: nothing cheaper holds them.
  expect(left).toBeCloseTo(1.6, 9);
});

test('the same cluster gives the same sequence', () => {
  expect(search(ragged()).map(names)).toEqual(search(ragged()).map(names));
});

test('no set of a sequence is larger than the budget of its pool', () => {
  for (const set of search(ragged(), { budgetOf: () => 2 })) expect(set.length).toBeLessThanOrEqual(2);
});

test('spot nodes are replaced by spot nodes only where that is allowed', () => {
  const spot = ['a', 'b', 'c', 'd'].flatMap((name) => [
    ...machine(name, { type: 'c8', capacityType: 'spot' }),
    running(name, { cpu: '3' }),
  ]);
  const count = (spotToSpot: boolean): number => {
    const round = roundOf([pool(), ...spot], { settings: { featureGates: { SpotToSpotConsolidation: spotToSpot } } });
    const sketch = finish(sketchOf(round, round.eligible.Underutilized));
    return new SequenceGuess(sketch, { ...free, spotToSpot, mostSets: 1 }).of([1, 1, 1, 1]).sets.length;
  };
  expect([count(true), count(false)]).toEqual([1, 0]);
});

test('a search whose time is up keeps what it has', () => {
  let tries = 0;
  search(ragged(), { isTimeUp: () => ++tries > 3 });
  expect(tries).toBe(4);
});
