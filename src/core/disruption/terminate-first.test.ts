import { describe, expect, test } from 'vitest';
import type { SnapshotObject } from '../index.ts';
import { instanceType, offering, provider, requirement } from '../testing/builders.testing.ts';
import { decisionOf } from './command.ts';
import { driftCommand, staticDriftCommands } from './drift.ts';
import { finish, machine, pool, roundOf, running } from './fleet.testing.ts';
import { repairCommand } from './repair.ts';

const gates = { featureGates: { TerminateFirstDrift: true, TerminateFirstRepair: true } };
const status = { conditions: [{ type: 'Ready', status: 'True' }] };
const repairPolicies = [{ conditionType: 'Ready', conditionStatus: 'False', tolerationMs: 0 }] as const;
const round = (objects: SnapshotObject[], isOn = true, more: object = {}) =>
  roundOf(objects, {
    settings: isOn ? gates : {},
    provider: { ...provider, repairPolicies },
    time: '2026-01-02T00:00:00Z',
    ...more,
  });
const drifted = (name: string, more: object = {}) => machine(name, { conditions: { Drifted: 'True' }, ...more });

describe('a static pool at its limit', () => {
  const fixed = (spec = {}) => ({ ...pool('default', {}, { replicas: 2, limits: { nodes: '2' }, ...spec }), status });
  const text = 'static NodePool is at its node limit and cannot stage a replacement';

  test('lets a drifted node go first behind the gate; without it the node stays and is reported', () => {
    const objects = [fixed(), ...drifted('a'), ...machine('b')];
    const { command } = staticDriftCommands(round(objects));
    expect(command).toMatchObject({ terminateFirst: 'static-at-limit', replacements: [], members: [{ name: 'a' }] });
    expect(command && decisionOf(command)).toBe('terminate-first');
    const off = staticDriftCommands(round(objects, false));
    expect([off.command, off.refused.map(({ answer }) => answer.message)]).toEqual([undefined, [text]]);
  });

  test('lets a broken node go first in the same way', () => {
    const objects = [fixed(), ...machine('a', { ready: 'False' }), ...machine('b')];
    expect(finish(repairCommand(round(objects))).command).toMatchObject({ terminateFirst: 'static-at-limit' });
    expect(finish(repairCommand(round(objects, false))).refused[0]?.answer.message).toBe(text);
  });

  test('keeps its nodes if it would not get new ones, and exchanges while there is room', () => {
    const unready = { ...fixed(), status: { conditions: [{ type: 'Ready', status: 'False' }] } };
    expect(staticDriftCommands(round([unready, ...drifted('a'), ...machine('b')])).command).toBeUndefined();
    const room = staticDriftCommands(round([fixed({ limits: { nodes: '3' } }), ...drifted('a'), ...drifted('b')]));
    expect([room.command?.replacements.length, room.also, room.refused]).toEqual([1, [], []]);
  });

  test('lets no more go at once than budgets allow', () => {
    const budgeted = {
      ...pool('default', { budgets: [{ nodes: '1' }] }, { replicas: 2, limits: { nodes: '2' } }),
      status,
    };
    const { command, also } = staticDriftCommands(round([budgeted, ...drifted('a'), ...drifted('b')]));
    expect([command?.members[0]?.name, also]).toEqual(['a', []]);
  });
});

describe('a full reservation', () => {
  const slot = { [provider.reservationIDLabel ?? '']: 'r-1' };
  const reserved = (reservationCapacity: number, id = 'r-1') =>
    offering('zone-1', 'reserved', 0.01, {
      requirements: [requirement(provider.reservationIDLabel ?? '', 'In', [id])],
      reservationCapacity,
    });
  const types = (...offerings: ReturnType<typeof offering>[]) => [instanceType({ name: 'c4', price: 0.4, offerings })];
  const held = { capacityType: 'reserved', type: 'c4', labels: slot };
  const dynamic = [pool(), ...drifted('a', held), running('a', { cpu: '3' })];

  test('lets a drifted node go whose pods fit only its own slot', () => {
    const { command } = finish(driftCommand(round(dynamic, true, { types: types(reserved(0)) })));
    expect(command).toMatchObject({ terminateFirst: 'no-reserved-capacity', replacements: [] });
    const off = finish(driftCommand(round(dynamic, false, { types: types(reserved(0)) })));
    expect([off.command, off.refused[0]?.answer.code]).toEqual([undefined, 'PodsDoNotFit']);
  });

  test('is not waited for where another node can come first', () => {
    const free = finish(driftCommand(round(dynamic, true, { types: types(reserved(1)) }))).command;
    expect([free?.terminateFirst, free?.replacements.length]).toEqual([undefined, 1]);
    const onDemand = types(reserved(0), offering('zone-1', 'on-demand', 0.4));
    const other = finish(driftCommand(round(dynamic, true, { types: onDemand }))).command;
    expect([other?.terminateFirst, other?.replacements.length]).toEqual([undefined, 1]);
  });

  test('does not help a node that holds no slot of it, nor pods that need two', () => {
    const foreign = [pool(), ...drifted('a', { ...held, capacityType: 'on-demand' }), running('a', { cpu: '3' })];
    expect(finish(driftCommand(round(foreign, true, { types: types(reserved(0)) }))).command).toBeUndefined();
    const wide = [
      pool(),
      ...drifted('a', { ...held, cpu: '8' }),
      running('a', { cpu: '3' }),
      running('a', { cpu: '3' }),
    ];
    expect(finish(driftCommand(round(wide, true, { types: types(reserved(0)) }))).command).toBeUndefined();
  });

  test('of a static pool lets those go that hold a slot, and keeps the others', () => {
    const fixed = { ...pool('default', {}, { replicas: 2 }), status };
    const objects = [fixed, ...drifted('a', { type: 'c4' }), ...drifted('b', held)];
    const { command, also, refused } = staticDriftCommands(round(objects, true, { types: types(reserved(0)) }));
    expect([command?.members[0]?.name, command?.terminateFirst, also]).toEqual(['b', 'no-reserved-capacity', []]);
    expect(refused.map(({ member }) => member.name)).toEqual(['a']);
    const none = staticDriftCommands(
      round([fixed, ...drifted('a'), ...machine('b')], true, { types: types(reserved(0)) }),
    );
    expect(none.refused[0]?.answer.message).toBe(
      "static NodePool's capacity reservations are full and cannot stage a replacement",
    );
  });
});
