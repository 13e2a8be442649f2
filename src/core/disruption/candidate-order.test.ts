// What nodes are worth to consolidation, and in which order it comes to them.
import { describe, expect, test } from 'vitest';
import { annotation } from '../../api/names.ts';
import { bySavingsRatio, firstBlocker } from './candidates.ts';
import { daemonSet, finish, fleetOf, machine, names, pool, roundOf, running, statefulSet } from './fleet.testing.ts';
import { multiNodeCommand, prefixCommand } from './multi-node.ts';
import { singleNodeCommand } from './single-node.ts';

test('of several things that keep a node the first in order is reported', () => {
  const restless = machine('a', {
    initialized: false,
    annotations: { [annotation.doNotDisrupt]: 'true' },
    claimMetadata: { deletionTimestamp: '2026-01-01T00:00:00Z' },
  });
  const guarded = running('a', { annotations: { [annotation.doNotDisrupt]: 'true' } });
  const nodeState = [{ node: 'a', nodeClaim: 'a', initialized: false, nominated: true, markedForDeletion: true }];
  const firstOf = (objects: Parameters<typeof fleetOf>[0], parts: Parameters<typeof fleetOf>[1] = {}) => {
    const fleet = fleetOf(objects, parts);
    return firstBlocker(fleet, fleet.members[0] as never, 'graceful')?.code;
  };
  expect(firstOf([...restless, guarded], { nodeState })).toBe('Leaving');
  const early = [{ node: 'a', nodeClaim: 'a', initialized: false, nominated: true }];
  expect(firstOf([...machine('a', { initialized: false }), guarded], { nodeState: early })).toBe('NotInitialized');
  const nominated = [{ node: 'a', nodeClaim: 'a', initialized: true, nominated: true }];
  const annotated = machine('a', { annotations: { [annotation.doNotDisrupt]: 'true' } });
  expect(firstOf([...annotated, guarded], { nodeState: nominated })).toBe('Nominated');
  expect(firstOf([...annotated, guarded])).toBe('NodeDoNotDisrupt');
  expect(firstOf([...machine('a'), guarded])).toBe('NoPool');
  expect(firstOf([pool(), ...machine('a'), guarded])).toBe('PodDoNotDisrupt');
});

describe('disturbing a node costs', () => {
  const costOf = (...pods: Parameters<typeof fleetOf>[0]) =>
    fleetOf([pool(), ...machine('a'), ...pods]).members[0]?.rescheduleCost;
  const deletionCost = (cost: number) => ({ annotations: { [annotation.podDeletionCost]: String(cost) } });

  test('one, and what each of its reschedulable pods costs', () => {
    expect(costOf()).toBe(1);
    expect(costOf(running('a'), running('a'))).toBe(3);
    expect(costOf(running('a', deletionCost(2 ** 27)))).toBe(3);
  });

  test('nothing for pods that would rather go, and does not fall below one for them', () => {
    expect(costOf(running('a', deletionCost(-(2 ** 31))), running('a'))).toBe(2);
  });

  test('nothing for daemons and ending pods, but something for an ending StatefulSet pod', () => {
    expect(costOf(running('a', { owner: daemonSet }), running('a', { deleting: true }))).toBe(1);
    expect(costOf(running('a', { owner: statefulSet, deleting: true }))).toBe(2);
  });
});

describe('consolidation comes first to', () => {
  const fleet = [
    pool(),
    ...machine('dear', { type: 'c16' }),
    ...['1', '2', '3', '4', '5', '6', '7'].map((name) => running('dear', { name, cpu: '100m' })),
    ...machine('cheap', { type: 'c4' }),
    running('cheap'),
    ...machine('middle', { type: 'c8' }),
    running('middle'),
  ];

  test('nodes that save most for each pod that has to move', () => {
    expect(bySavingsRatio(fleetOf(fleet).members).map(({ name }) => name)).toEqual(['middle', 'cheap', 'dear']);
  });

  test('nodes whose pools still have a budget: others are skipped, and remembered as constrained', () => {
    const closed = pool('default', { budgets: [{ nodes: '0' }] });
    const outcome = finish(singleNodeCommand(roundOf([closed, ...fleet.slice(1)])));
    expect(outcome).toMatchObject({ command: undefined, constrained: true, refused: [] });
  });
});

describe('the search over prefixes', () => {
  const light = (count: number) =>
    Array.from({ length: count }, (_, index) => `n${String(index).padStart(3, '0')}`).flatMap((name) => [
      ...machine(name, { type: 'c4' }),
      running(name, { cpu: '10m' }),
    ]);

  test('needs two nodes', () => {
    expect(finish(prefixCommand(roundOf([pool(), ...light(1)]))).command).toBeUndefined();
    expect(finish(prefixCommand(roundOf([pool(), ...light(3)]))).command?.members.length).toBeGreaterThanOrEqual(2);
  });

  test('takes no more than the first hundred and one', () => {
    const sink = [pool('never', { consolidateAfter: 'Never' }), ...machine('sink', { type: 'c64', pool: 'never' })];
    const objects = [pool(), ...sink, ...light(120)];
    expect(finish(prefixCommand(roundOf(objects))).command?.members).toHaveLength(101);
    expect(finish(multiNodeCommand(roundOf(objects))).command?.members.length).toBeLessThanOrEqual(101);
  });

  test('gives what it has found when its time is up, and nothing if it has found nothing', () => {
    let left = 2;
    const cut = finish(prefixCommand(roundOf([pool(), ...light(40)]), { isTimeUp: () => left-- <= 0 }));
    expect(cut.timedOut).toBe(true);
    expect(cut.command?.members.length).toBeGreaterThanOrEqual(2);
    const none = finish(prefixCommand(roundOf([pool(), ...light(40)]), { isTimeUp: () => true }));
    expect(none).toMatchObject({ timedOut: true, command: undefined });
  });

  test('drops nodes of pools whose budget is used up and goes on with the others', () => {
    const objects = [
      pool('x', { budgets: [{ nodes: '1' }] }),
      pool('y'),
      ...['a', 'b'].flatMap((name) => [...machine(name, { pool: 'x', type: 'c16' }), running(name, { cpu: '10m' })]),
      ...['c', 'd', 'e'].flatMap((name) => [...machine(name, { pool: 'y' }), running(name, { cpu: '10m' })]),
    ];
    const { command, constrained } = finish(prefixCommand(roundOf(objects)));
    const pools = command?.members.map(({ poolName }) => poolName);
    expect(pools?.filter((name) => name === 'x')).toHaveLength(1);
    expect(pools?.filter((name) => name === 'y').length).toBeGreaterThanOrEqual(1);
    expect(constrained).toBe(true);
    expect(names(command?.members)).toContain('a');
  });
});
