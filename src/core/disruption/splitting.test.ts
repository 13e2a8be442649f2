// A node that is too large for its pods makes room for several that cost less together, and only where that is worth it.
import { describe, expect, test } from 'vitest';
import { annotation } from '../../api/names.ts';
import type { SnapshotObject } from '../index.ts';
import { instanceType, requirement } from '../testing/builders.testing.ts';
import { finish, machine, pool, roundOf, running } from './fleet.testing.ts';
import { multiNodeCommand } from './multi-node.ts';
import { singleNodeCommand } from './single-node.ts';
import { validateConsolidation } from './validation.ts';
import { nodeVerdicts } from './verdicts.ts';

const gpu = 'nvidia.com/gpu';
const capacityTypes = ['on-demand'];
const type = (name: string, cpu: string, gpus: number, price: number, more = {}) =>
  instanceType({ name, cpu, memory: '64Gi', price, capacity: { [gpu]: String(gpus) }, capacityTypes, ...more });
/** Four GPUs together cost five times what four apart cost. */
const small = type('g1', '4', 1, 0.5);
const large = type('g4', '48', 4, 4);
const huge = type('g8', '96', 8, 13);
const types = [small, large, huge];
type Options = Parameters<typeof roundOf>[1];

const dear = (name = 'a', parts: Parameters<typeof machine>[1] = {}) => {
  const room = { cpu: '96', memory: '64Gi', pods: '100', [gpu]: '8' };
  const [node, claim] = machine(name, {
    type: 'g8',
    cpu: '96',
    claimStatus: { capacity: room, allocatable: room },
    ...parts,
  });
  return [
    { ...(node as SnapshotObject), status: { ...(node?.['status'] as object), capacity: room, allocatable: room } },
    claim as SnapshotObject,
  ];
};
const pods = (count: number, on = 'a', parts = {}) =>
  Array.from({ length: count }, (_, at) =>
    running(on, { name: `${on}-${at}`, cpu: '3', requests: { cpu: '3', [gpu]: '1' }, ...parts }),
  );
const single = (objects: SnapshotObject[], options: Options = {}) =>
  finish(singleNodeCommand(roundOf(objects, { types, ...options })));
const typesOf = (command: ReturnType<typeof single>['command']) =>
  command?.replacements.map((each) => (each.kind === 'planned' ? each.node.instanceTypes : []));

describe('a node too large for its pods', () => {
  test('is replaced by as many small ones as its pods need', () => {
    const { command } = single([pool(), ...dear(), ...pods(4)]);
    expect(typesOf(command)).toEqual([['g1'], ['g1'], ['g1'], ['g1']]);
    expect(command?.savings).toBeCloseTo(13 - 4 * 0.5);
    const placed = command?.replacements.flatMap((each) => (each.kind === 'planned' ? each.node.pods : []));
    expect(placed?.toSorted()).toEqual(['default/a-0', 'default/a-1', 'default/a-2', 'default/a-3']);
  });

  test('remembers in each of them what they came instead of', () => {
    const { command } = single([pool(), ...dear(), ...pods(2)]);
    for (const each of command?.replacements ?? []) {
      if (each.kind !== 'planned') throw new Error('replacements are planned');
      expect(each.node.annotations[annotation.replaces]).toMatch(/^g8\/zone-1\/on-demand\//);
    }
  });

  test('gets one node where several would save little more', () => {
    const close = [type('g1', '4', 1, 0.5), type('g2', '8', 2, 1.05), huge];
    const { command } = single([pool(), ...dear(), ...pods(2)], { types: close });
    expect(typesOf(command)).toHaveLength(1);
  });

  test('stays where several cost as much or more, and the event has the words users know', () => {
    const apart = [type('g1', '4', 1, 6.6), huge];
    const outcome = single([pool(), ...dear('a', { type: 'g8' }), ...pods(2)], { types: apart });
    expect(outcome.command).toBeUndefined();
    const two = single([pool(), ...dear(), ...pods(2, 'a', { spec: { topologySpreadConstraints: [] } })], {
      types: [type('g1', '4', 1, 6.5)],
    });
    expect(two.command).toBeUndefined();
  });

  test('whatever is launched, all of them cost less than it by the line', () => {
    const dearer = type('h1', '4', 1, 3.2);
    const { command } = single([pool(), ...dear(), ...pods(4)], { types: [small, dearer, large, huge] });
    // Four of h1 would come to 12.8, which is less than 13, but not by five cents a pod and what nodes cost beside.
    expect(typesOf(command)?.flat()).not.toContain('h1');
  });

  test('waits while pods that wait need new nodes as well', () => {
    const waiting = running('', { name: 'w', cpu: '3', requests: { cpu: '3', [gpu]: '1' } });
    const { command } = single([pool(), ...dear(), ...pods(8), waiting]);
    expect(command).toBeUndefined();
  });

  test('stays within the limits of its pool while both are there', () => {
    const limited = (nodes: number) => pool('default', {}, { limits: { nodes } });
    expect(single([limited(5), ...dear(), ...pods(4)]).command?.replacements).toHaveLength(4);
    expect(single([limited(4), ...dear(), ...pods(4)]).command?.replacements).toHaveLength(1);
  });

  test('is not split where minValues of the pool would not hold', () => {
    const flexible = pool(
      'default',
      {},
      {
        template: {
          spec: { requirements: [{ ...requirement('node.kubernetes.io/instance-type', 'Exists'), minValues: 2 }] },
        },
      },
    );
    const { command } = single([flexible, ...dear(), ...pods(4)]);
    expect(command?.replacements.length ?? 0).toBeLessThan(2);
  });

  test('is split only if that earns itself within the payback time', () => {
    const settings = { consolidationPaybackSeconds: 60 };
    expect(single([pool(), ...dear(), ...pods(4)], { settings }).command).toBeUndefined();
  });

  test('is not split into what it came instead of within a day', () => {
    const annotations = { [annotation.replaces]: 'g1/zone-1/on-demand/2026-01-01T00:00:00Z' };
    const { command } = single([pool(), ...dear('a', { claimMetadata: { annotations } }), ...pods(4)]);
    expect(typesOf(command)?.flat()).not.toContain('g1');
  });

  test('counts once against the budget of its pool, and not at all without one', () => {
    const closed = pool('default', { budgets: [{ nodes: '0' }] });
    expect(single([closed, ...dear(), ...pods(4)])).toMatchObject({ command: undefined, constrained: true });
  });
});

describe('spot nodes', () => {
  const spot = { capacityTypes: ['spot'] };
  const cheap = (count: number) =>
    Array.from({ length: count }, (_, at) => type(`s${at}`, '4', 1, 0.5 + at / 100, spot));
  const offered = (count: number) => [...cheap(count), type('g8', '96', 8, 13, spot)];
  const options = (count: number, isOn: boolean): Options => ({
    types: offered(count),
    settings: { featureGates: { SpotToSpotConsolidation: isOn } },
  });
  const objects = [pool(), ...dear('a', { capacityType: 'spot' }), ...pods(4)];

  test('are not split while spot nodes do not replace spot nodes', () => {
    expect(single(objects, options(20, false)).command).toBeUndefined();
  });

  test('are not exchanged for spot nodes in the company of others either', () => {
    const both = [...objects, ...dear('b'), ...pods(4, 'b')];
    const decided = (isOn: boolean) => {
      const given = { ...options(20, isOn), types: [...offered(20), type('g8', '96', 8, 13)] };
      const round = roundOf(both, given);
      return round.consolidator.decide(round.fleet.members);
    };
    expect(decided(true)).toMatchObject({ kind: 'replace' });
    expect(decided(false)).toMatchObject({ kind: 'none' });
  });

  test('are split only into types with fifteen cheaper ones each', () => {
    expect(single(objects, options(14, true)).command).toBeUndefined();
    const { command } = single(objects, options(20, true));
    expect(typesOf(command)?.map((names) => names.length)).toEqual([15, 15, 15, 15]);
  });
});

describe('a command that brings several', () => {
  const objects = (count = 4) => [pool(), ...dear(), ...pods(count)];
  const command = () => single(objects()).command as NonNullable<ReturnType<typeof single>['command']>;
  const validated = (later: SnapshotObject[], options: Options = {}) =>
    finish(validateConsolidation(roundOf(later, { types, ...options }), command()));

  test('holds a moment later if nothing changed', () => {
    const planned = { kind: 'planned' };
    const replacements = [planned, planned, planned, planned];
    expect(validated(objects())).toMatchObject({ kind: 'valid', command: { replacements } });
  });

  test('does not hold if other pods are there, or prices are others', () => {
    expect(validated(objects(3))).toEqual({ kind: 'rejected', reason: 'scheduling' });
    const dearer = [type('g1', '4', 1, 3.2), large, huge];
    expect(validated(objects(), { types: dearer })).toEqual({ kind: 'rejected', reason: 'scheduling' });
  });

  test('is what the verdict about the node says, with what comes instead', () => {
    const [verdict] = finish(nodeVerdicts(roundOf(objects(), { types })));
    expect(verdict).toMatchObject({ verdict: 'replace', reason: 'Underutilized' });
    expect(verdict?.replacements?.map(({ instanceType }) => instanceType)).toEqual(['g1', 'g1', 'g1', 'g1']);
    expect(verdict?.savingsPerHour).toBeCloseTo(11);
  });
});

test('nodes whose pods keep better company elsewhere go for several that cost less', () => {
  // Two that ask for much cpu and little memory, two the other way round: one of each fills a cheap node.
  const mixed = [
    instanceType({ name: 'c8', cpu: '8', memory: '8Gi', price: 1, capacityTypes }),
    instanceType({ name: 'r8', cpu: '2', memory: '64Gi', price: 1, capacityTypes }),
    instanceType({ name: 'm8', cpu: '8', memory: '64Gi', price: 1.2, capacityTypes }),
  ];
  const objects = ['a', 'b', 'c', 'd'].flatMap((name, at) => [
    ...machine(name, { type: at < 2 ? 'c8' : 'r8', cpu: at < 2 ? '8' : '2' }),
    running(name, { name: `${name}-0`, requests: at < 2 ? { cpu: '6', memory: '4Gi' } : { cpu: '1', memory: '50Gi' } }),
  ]);
  const { command } = finish(multiNodeCommand(roundOf([pool(), ...objects], { types: mixed })));
  expect(command?.savings).toBeGreaterThan(0.5);
});
