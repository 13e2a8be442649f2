// The Balanced policy, rule by rule: shares of a pool's cost against shares of its disruption.
import { describe, expect, test } from 'vitest';
import { instanceType } from '../testing/builders.testing.ts';
import { finish, machine, names, pool, roundOf, running } from './fleet.testing.ts';
import { singleNodeCommand } from './single-node.ts';

const balanced = (name = 'default') => pool(name, { consolidationPolicy: 'Balanced' });
/** Two nodes of 0.40 with one pod each: a pool that costs 0.80 and whose disruption is 4. */
const pair = (own = 'default') =>
  ['a', 'b'].flatMap((name) => [...machine(`${own}-${name}`, { pool: own }), running(`${own}-${name}`)]);
const membersOf = (round: ReturnType<typeof roundOf>, ...wanted: string[]) =>
  round.fleet.members.filter(({ name }) => wanted.includes(name));

describe('the score of a move', () => {
  const round = roundOf([balanced(), ...pair()]);
  const scoreOf = (savings: number) => round.scores(membersOf(round, 'default-a'), savings)[0];

  test('is its share of the cost over its share of the disruption', () => {
    expect(scoreOf(0.4)).toMatchObject({ approved: true });
    expect(scoreOf(0.4)?.score).toBeCloseTo(1);
    expect(scoreOf(0.1)?.score).toBeCloseTo(0.25);
  });

  test('is approved from one half on', () => {
    expect(scoreOf(0.2)?.score).toBeCloseTo(0.5);
    expect(scoreOf(0.2001)?.approved).toBe(true);
    expect(scoreOf(0.1999)?.approved).toBe(false);
  });

  test('is zero without savings', () => {
    expect(scoreOf(0)).toMatchObject({ score: 0, approved: false });
    expect(scoreOf(-1)).toMatchObject({ score: 0, approved: false });
  });

  test('is zero in a pool whose cost is unknown', () => {
    const types = [instanceType({ name: 'c4', price: Number.NaN })];
    const unknown = roundOf([balanced(), ...pair()], { types });
    expect(unknown.scores(membersOf(unknown, 'default-a'), 0.4)[0]).toMatchObject({ score: 0, approved: false });
  });
});

describe('a move of several pools', () => {
  test('is scored by each Balanced pool with its share of the savings, and by no other', () => {
    const round = roundOf([balanced('x'), pool('y'), ...pair('x'), ...pair('y')]);
    const scores = round.scores(membersOf(round, 'x-a', 'y-a'), 0.4);
    expect(scores.map(({ poolName }) => poolName)).toEqual(['x']);
    expect(scores[0]?.score).toBeCloseTo(0.5);
  });

  test('needs the approval of every Balanced pool', () => {
    const crowded = Array.from({ length: 9 }, () => running('y-a', { cpu: '10m' }));
    const round = roundOf([balanced('x'), balanced('y'), ...pair('x'), ...pair('y'), ...crowded]);
    const approvals = round.scores(membersOf(round, 'x-a', 'y-a'), 0.5).map(({ approved }) => approved);
    expect(approvals).toEqual([true, false]);
  });
});

test('pods of nodes that are not candidates count in the disruption of their pool', () => {
  const alone = roundOf([balanced(), ...pair()]);
  const guarded = running('default-b', { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } });
  const crowded = roundOf([balanced(), ...pair(), guarded, running('default-b', { deleting: true })]);
  const scoreIn = (round: typeof alone) => round.scores(membersOf(round, 'default-a'), 0.4)[0]?.score ?? 0;
  expect(scoreIn(alone)).toBeCloseTo(1);
  // Six instead of four: the guarded pod, and the ending one that only candidates leave out.
  expect(scoreIn(crowded)).toBeCloseTo(1.5);
});

test('a node that not even going for nothing would justify is not asked about', () => {
  const crowd = Array.from({ length: 15 }, () => running('crowded', { cpu: '10m' }));
  const objects = [
    ...machine('crowded', { type: 'c2' }),
    ...crowd,
    ...machine('dear', { type: 'c16' }),
    running('dear', { cpu: '15', annotations: { 'karpenter.sh/do-not-disrupt': 'true' } }),
  ];
  expect(finish(singleNodeCommand(roundOf([balanced(), ...objects])))).toMatchObject({
    command: undefined,
    refused: [],
    rejected: [],
  });
  const asked = finish(singleNodeCommand(roundOf([pool(), ...objects])));
  expect(names(asked.command?.members)).toEqual(['crowded']);
});
