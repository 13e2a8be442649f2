import { describe, expect, test } from 'vitest';
import { annotation, label } from '../../api/names.ts';
import type { SnapshotObject } from '../index.ts';
import {
  instanceType,
  nodeAffinity,
  nodePool,
  object,
  offering,
  pod,
  provider,
  requirement,
  sizes,
} from '../testing/builders.testing.ts';
import { approvedText } from './balanced.ts';
import { commandText, partText, startedText } from './command.ts';
import { driftCommand, staticDriftCommands } from './drift.ts';
import { instanceTypeGone, requirementsDrifted } from './drift-reasons.ts';
import { consolidationProblem } from './eligibility.ts';
import { emptinessCommand } from './emptiness.ts';
import { finish, fleetOf, machine, names, pool, replicaSet, roundOf, running } from './fleet.testing.ts';
import { multiNodeCommand } from './multi-node.ts';
import { singleNodeCommand } from './single-node.ts';
import { validateConsolidation, validateEmptiness } from './validation.ts';

const three = ['a', 'b', 'c'].flatMap((name) => machine(name));

describe('emptiness', () => {
  const gone = (objects: SnapshotObject[]) => names(emptinessCommand(roundOf(objects)).command?.members);

  test.each([
    ['100%', 3],
    ['0', 0],
    ['2', 2],
    ['1%', 1],
  ])('takes as many nodes as a budget of %s allows', (nodes, count) => {
    const { command, constrained } = emptinessCommand(roundOf([pool('default', { budgets: [{ nodes }] }), ...three]));
    expect(command?.members ?? []).toHaveLength(count);
    expect(constrained).toBe(count < 3);
  });

  test('keeps each pool to its own budget', () => {
    const other = pool('other', { budgets: [{ nodes: '1' }] });
    expect(
      gone([pool(), other, ...machine('a'), ...machine('b', { pool: 'other' }), ...machine('c', { pool: 'other' })]),
    ).toEqual(['a', 'b']);
  });

  test('counts nodes that are out already', () => {
    const leaving = machine('x', { claimMetadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });
    expect(gone([pool('default', { budgets: [{ nodes: '2' }] }), ...leaving, ...three])).toEqual(['a']);
  });

  test('waits for the quiet time, and leaves pools alone that do not consolidate or are static', () => {
    expect(gone([pool(), ...machine('a', { conditions: { Consolidatable: 'False' } })])).toEqual([]);
    expect(gone([pool('default', { consolidateAfter: 'Never' }), ...three])).toEqual([]);
    expect(gone([pool('default', {}, { replicas: 3 }), ...three])).toEqual([]);
  });

  test('applies to every policy, and to drifted nodes too', () => {
    expect(gone([pool('default', { consolidationPolicy: 'WhenEmpty' }), ...machine('a')])).toEqual(['a']);
    expect(gone([pool('default', { consolidationPolicy: 'Balanced' }), ...machine('a')])).toEqual(['a']);
    expect(gone([pool(), ...machine('a', { conditions: { Drifted: 'True' } })])).toEqual(['a']);
  });

  test('leaves nodes alone that hold room for a capacity buffer', () => {
    const buffer = pod({ cpu: '1', annotations: { [annotation.bufferFakePod]: 'true' } });
    expect(gone([pool(), ...machine('a'), buffer])).toEqual([]);
  });

  test('of nodes that changed meanwhile, the others still go', () => {
    const { command } = emptinessCommand(roundOf([pool(), ...three]));
    const later = roundOf([pool(), ...three, running('b')]);
    const checked = validateEmptiness(later, command as never);
    expect(checked.kind === 'valid' && names(checked.command.members)).toEqual(['a', 'c']);
    const busy = roundOf([pool(), ...three, running('a'), running('b'), running('c')]);
    expect(validateEmptiness(busy, command as never)).toEqual({ kind: 'rejected', reason: 'churn' });
  });
});

describe('drift', () => {
  const drifted = (name: string, since: string, more: Parameters<typeof machine>[1] = {}) =>
    machine(name, { conditions: { Drifted: 'True' }, since, ...more });
  const run = (objects: SnapshotObject[]) => finish(driftCommand(roundOf(objects)));
  const old = '2025-12-01T00:00:00Z';
  const newer = '2025-12-02T00:00:00Z';

  test('takes nodes without pods to move first, then the ones that have waited longest', () => {
    const busy = [...drifted('a', old), running('a')];
    expect(names(run([pool(), ...busy, ...drifted('b', newer)]).command?.members)).toEqual(['b']);
    const both = [...drifted('a', newer), running('a'), ...drifted('b', old), running('b')];
    expect(names(run([pool(), ...both]).command?.members)).toEqual(['b']);
  });

  test('replaces by as many nodes as the pods need', () => {
    const big = [
      ...drifted('a', old, { type: 'c16', cpu: '32' }),
      running('a', { cpu: '14' }),
      running('a', { cpu: '14' }),
    ];
    const { command } = run([pool(), ...big]);
    expect(command?.replacements).toHaveLength(2);
  });

  test('goes on with the next node when the pods of the first have no place, and says so', () => {
    const stuck = running('a', { name: 'stuck', spec: { nodeSelector: { only: 'here' } } });
    const { command, refused } = run([pool(), ...drifted('a', old), stuck, ...drifted('b', newer), running('b')]);
    expect(names(command?.members)).toEqual(['b']);
    expect(refused[0]?.answer.message).toMatch(/^Not all pods would schedule, default\/stuck => /);
  });

  test('does not care for consolidation settings, but for budgets', () => {
    const never = pool('default', { consolidateAfter: 'Never', consolidationPolicy: 'WhenEmpty' });
    expect(names(run([never, ...drifted('a', old), running('a')]).command?.members)).toEqual(['a']);
    expect(
      run([pool('default', { budgets: [{ nodes: '0', reasons: ['Drifted'] }] }), ...drifted('a', old)]).command,
    ).toBeUndefined();
  });

  test('of a static pool is an exchange, one for one, within budget and node limit', () => {
    const spec = { replicas: 3, limits: { nodes: '4' } };
    const nodes = ['a', 'b', 'c'].flatMap((name) => drifted(name, old));
    const exchanges = (objects: SnapshotObject[]) => {
      const { command, also } = staticDriftCommands(roundOf(objects));
      return command === undefined ? [] : [command, ...also];
    };
    const commands = exchanges([pool('default', {}, spec), ...nodes]);
    expect(commands.map((command) => [names(command.members), command.replacements])).toEqual([
      [['a'], [{ kind: 'template', nodePool: 'default' }]],
    ]);
    expect(exchanges([pool('default', {}, { replicas: 2 }), ...nodes])).toEqual([]);
    const budgeted = pool('default', { budgets: [{ nodes: '2' }] }, { replicas: 3 });
    expect(exchanges([budgeted, ...nodes])).toHaveLength(2);
    expect(run([pool('default', {}, spec), ...nodes]).command).toBeUndefined();
  });

  describe('of a static pool in the middle of an exchange', () => {
    const going = (marked: boolean) => {
      const objects = [
        pool('default', { budgets: [{ nodes: '2' }] }, { replicas: 3 }),
        ...['a', 'b', 'c'].flatMap((name) => drifted(name, old)),
        ...machine('instead-of-a', { initialized: false }),
      ];
      const nodeState = ['a', 'b', 'c', 'instead-of-a'].map((name) => ({
        node: name,
        nodeClaim: name,
        markedForDeletion: marked && name === 'a',
      }));
      const { command, also } = staticDriftCommands(roundOf(objects, { nodeState }, { queued: new Set(['a']) }));
      return command === undefined ? [] : [command, ...also];
    };

    test('goes on as far as the budget allows, without waiting for the nodes that came first', () => {
      expect(going(true).map((command) => names(command.members))).toEqual([['b']]);
    });

    test('waits while a replacement is there whose node does not leave yet: that looks like one node too many', () => {
      expect(going(false)).toEqual([]);
    });
  });
});

describe('requirements drift', () => {
  const labels = { [label.zone]: 'zone-1', team: 'x' };
  const isDrifted = (...requirements: Parameters<typeof requirementsDrifted>[0]) =>
    requirementsDrifted(requirements, labels, provider);

  test('when a value was taken away, a label is asked for that is missing, or one is forbidden that is there', () => {
    expect(isDrifted(requirement(label.zone, 'In', ['zone-2']))).toBe(true);
    expect(isDrifted(requirement('other', 'Exists'))).toBe(true);
    expect(isDrifted(requirement('other', 'Gt', ['1']))).toBe(true);
    expect(isDrifted(requirement('team', 'DoesNotExist'))).toBe(true);
  });

  test('not when more is allowed or what is forbidden is absent', () => {
    expect(isDrifted(requirement(label.zone, 'In', ['zone-1', 'zone-2']))).toBe(false);
    expect(isDrifted(requirement('other', 'DoesNotExist'), requirement('other', 'NotIn', ['y']))).toBe(false);
  });
});

describe('an instance type', () => {
  const labels = { [label.instanceType]: 'c4', [label.zone]: 'zone-1', [label.capacityType]: 'on-demand' };
  const type = (zone: string, capacity: string, available = true) => [
    instanceType({ name: 'c4', offerings: [offering(zone, capacity, 1, { available })] }),
  ];

  test('is gone when it is not offered any more, at all or there', () => {
    expect(instanceTypeGone(labels, [], provider)).toBe(true);
    expect(instanceTypeGone(labels, type('zone-2', 'on-demand'), provider)).toBe(true);
    expect(instanceTypeGone(labels, type('zone-1', 'spot'), provider)).toBe(true);
  });

  test('is not gone for being sold out', () => {
    expect(instanceTypeGone(labels, type('zone-1', 'on-demand', false), provider)).toBe(false);
  });

  test('of a reserved node lives on as on-demand', () => {
    const reserved = { ...labels, [label.capacityType]: 'reserved', 'example.com/reservation-id': 'r-1' };
    expect(instanceTypeGone(reserved, type('zone-1', 'on-demand'), provider)).toBe(false);
    expect(instanceTypeGone(reserved, type('zone-1', 'spot'), provider)).toBe(true);
  });
});

describe('consolidation leaves a node alone and says why', () => {
  const problem = (disruption: Record<string, unknown>, parts: Parameters<typeof machine>[1] = {}) => {
    const fleet = fleetOf([pool('default', disruption), ...machine('a', parts), running('a')]);
    const [member] = fleet.members;
    return member === undefined ? undefined : consolidationProblem(member);
  };

  test('in words users know', () => {
    expect(problem({}, { type: 'gone', cpu: '4' })?.message).toBe('Instance Type "gone" not found');
    expect(problem({ consolidateAfter: 'Never' })?.message).toBe('NodePool "default" has consolidation disabled');
    expect(problem({ consolidationPolicy: 'WhenEmpty' })?.message).toBe(
      'NodePool "default" has consolidation policy WhenEmpty, but node is not empty',
    );
    expect(problem({}, { conditions: { Consolidatable: 'False' } })).toMatchObject({ code: 'NotQuiet', silent: true });
    expect(problem({})).toBeUndefined();
  });
});

describe('pools take turns', () => {
  test('and those a scan did not reach come first the next time', () => {
    const stuck = (name: string, own: string) => [
      ...machine(name, { pool: own, type: 'c2' }),
      running(name, { cpu: '1.9' }),
    ];
    const objects = [pool('x'), pool('y'), ...stuck('a', 'x'), ...stuck('b', 'x'), ...stuck('c', 'y')];
    let asked = 0;
    const cut = finish(singleNodeCommand(roundOf(objects), { isTimeUp: () => asked++ >= 1 }));
    expect(cut).toMatchObject({ timedOut: true, memory: { unseen: new Set(['y']) } });
    const seen = finish(singleNodeCommand(roundOf(objects), { unseen: new Set(['y']) })).refused.map(
      ({ member }) => member.name,
    );
    expect(seen).toEqual(['c', 'a', 'b']);
  });

  test('and in a cluster too large for one scan every node is looked at in turn', () => {
    const tight = Array.from({ length: 23 }, (_, index) => `n${index}`).flatMap((name) => [
      ...machine(name, { type: 'c2' }),
      running(name, { cpu: '1.9' }),
    ]);
    const looked: string[] = [];
    let seen: ReadonlySet<string> = new Set();
    for (let scan = 0; scan < 4; scan++) {
      let left = 7;
      const outcome = finish(singleNodeCommand(roundOf([pool(), ...tight]), { seen, isTimeUp: () => left-- === 0 }));
      looked.push(...outcome.refused.map(({ member }) => member.name));
      expect(outcome.timedOut).toBe(true);
      seen = outcome.memory.seen ?? new Set();
    }
    expect(new Set(looked).size).toBe(23);
    const complete = finish(singleNodeCommand(roundOf([pool(), ...tight]), { seen }));
    expect(complete).toMatchObject({ timedOut: false, memory: {} });
  });
});

describe('the Balanced policy', () => {
  const balanced = pool('default', { consolidationPolicy: 'Balanced' });

  test('approves replacing an oversized node', () => {
    const objects = [
      balanced,
      ...machine('big', { type: 'c16' }),
      running('big'),
      ...machine('b', { type: 'c2' }),
      running('b', { cpu: '1.9' }),
    ];
    const { command, scores } = finish(singleNodeCommand(roundOf(objects)));
    expect(names(command?.members)).toEqual(['big']);
    expect(scores).toHaveLength(1);
    expect(approvedText(scores[0] as never)).toMatch(
      /^score \d+\.\d\d >= threshold 0\.50 \(k: 2, savings \d+\.\d%, disruption \d+\.\d%\)$/,
    );
  });

  test('rejects a small saving for many pods', () => {
    const crowded = Array.from({ length: 12 }, () => running('a', { cpu: '100m' }));
    const objects = [
      balanced,
      ...machine('a', { type: 'c2' }),
      ...crowded,
      ...machine('b', { type: 'c16' }),
      running('b', { cpu: '12' }),
    ];
    const outcome = finish(singleNodeCommand(roundOf(objects)));
    expect(outcome.command).toBeUndefined();
    const free = finish(singleNodeCommand(roundOf([pool(), ...objects.slice(1)])));
    expect(names(free.command?.members)).toEqual(['a']);
  });

  test('does not depend on how large the pool is', () => {
    const scoreOf = (copies: number) => {
      const members = Array.from({ length: copies }, (_, at) => [
        ...machine(`n${at}`, { type: 'c8' }),
        running(`n${at}`),
      ]).flat();
      const round = roundOf([balanced, ...members]);
      return round.scores([round.fleet.members[0] as never], 0.4)[0]?.score;
    };
    expect(scoreOf(2)).toBeCloseTo(scoreOf(10) as number);
  });
});

describe('pods that move', () => {
  test('are not sent to a node someone is deleting, even while its claim does not leave yet', () => {
    const ending = machine('b', { nodeMetadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });
    const decide = (other: SnapshotObject[]) => {
      const round = roundOf([pool(), ...machine('a'), ...other, running('a'), running('b', { cpu: '2' })]);
      return round.single(round.fleet.members.find(({ name }) => name === 'a') as never).kind;
    };
    expect(decide(machine('b'))).toBe('delete');
    expect(decide(ending)).not.toBe('delete');
  });
});

describe('a consolidation that was decided a moment ago', () => {
  const before = [
    pool(),
    ...machine('a', { type: 'c16' }),
    running('a', { name: 'p', cpu: '3', labels: { app: 'web' } }),
  ];
  const decided = finish(singleNodeCommand(roundOf(before))).command as never;
  const again = (objects: SnapshotObject[], parts: Parameters<typeof roundOf>[1] = {}) =>
    finish(validateConsolidation(roundOf(objects, parts), decided));

  test('holds if nothing changed', () => {
    expect(again(before).kind).toBe('valid');
  });

  test('is churn when a pod came that must not be disturbed, or a budget blocks now', () => {
    const guarded = running('a', { annotations: { [annotation.doNotDisrupt]: 'true' } });
    expect(again([...before, guarded])).toEqual({ kind: 'rejected', reason: 'churn' });
    const budget = object('policy/v1', 'PodDisruptionBudget', 'web', {
      metadata: { namespace: 'default' },
      spec: { selector: { matchLabels: { app: 'web' } } },
      status: { disruptionsAllowed: 0 },
    });
    expect(again([...before, budget])).toEqual({ kind: 'rejected', reason: 'churn' });
  });

  test('is churn when a pod is about to come', () => {
    const nodeState = [{ node: 'a', nodeClaim: 'a', initialized: true, nominated: true }];
    expect(again(before, { nodeState })).toEqual({ kind: 'rejected', reason: 'churn' });
  });

  test('is stopped by a budget', () => {
    const closed = pool('default', { budgets: [{ nodes: '0' }] });
    expect(again([closed, ...before.slice(1)])).toEqual({ kind: 'rejected', reason: 'budget' });
  });

  test('launches what the pods of now ask for, not those of then', () => {
    const picky = running('a', { name: 'q', cpu: '500m', spec: { nodeSelector: { [label.zone]: 'zone-1' } } });
    const checked = again([...before, picky]);
    const [replacement] = checked.kind === 'valid' ? checked.command.replacements : [];
    const requirements = replacement?.kind === 'planned' ? replacement.node.requirements : [];
    expect(requirements).toContainEqual(requirement(label.zone, 'In', ['zone-1']));
  });

  test('no longer fits when other instance types are on offer', () => {
    const types = sizes.filter(({ name }) => name !== 'c4');
    expect(again(before, { types })).toEqual({ kind: 'rejected', reason: 'scheduling' });
  });
});

describe('preferences', () => {
  const preferring = (name: string) =>
    running(name, {
      spec: {
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: 1, preference: { matchExpressions: [requirement(label.instanceType, 'In', ['c8'])] } },
            ],
          },
        },
      },
    });
  const objects = [pool(), ...machine('a', { type: 'c8' }), preferring('a')];

  test('can keep a node, and do not when they are ignored', () => {
    const { command } = finish(singleNodeCommand(roundOf(objects)));
    expect(command).toBeUndefined();
    const ignoring = finish(singleNodeCommand(roundOf(objects, { settings: { preferencePolicy: 'Ignore' } })));
    expect(names(ignoring.command?.members)).toEqual(['a']);
  });
});

describe('consolidation among pools', () => {
  test('works beside a pool without instance types, and evicts pods without an owner', () => {
    const orphan = pod({ node: 'a', cpu: '1' });
    const instanceTypes = [
      { nodePool: 'default', items: sizes },
      { nodePool: 'broken', error: 'no subnets' },
    ];
    const objects = [pool(), nodePool({ name: 'broken' }), ...machine('a', { type: 'c8' }), orphan];
    expect(names(finish(singleNodeCommand(roundOf(objects, { instanceTypes }))).command?.members)).toEqual(['a']);
  });

  test('several nodes of several pools may go together', () => {
    const objects = [
      pool('x'),
      pool('y'),
      ...machine('a', { pool: 'x', type: 'c4' }),
      running('a', { cpu: '2.5' }),
      ...machine('b', { pool: 'y', type: 'c16' }),
      running('b', { cpu: '2.5' }),
    ];
    expect(names(finish(multiNodeCommand(roundOf(objects))).command?.members)).toEqual(['a', 'b']);
  });

  test('several nodes become one in one move, whatever their claims are called', () => {
    const nodes = ['a', 'b', 'c'];
    const objects = nodes.flatMap((name) => [
      ...machine(name, { type: 'c16', claimName: `claim-of-${name}` }),
      running(name),
    ]);
    const nodeState = nodes.map((name) => ({ node: name, nodeClaim: `claim-of-${name}`, initialized: true }));
    for (const parts of [{}, { nodeState }]) {
      const { command } = finish(multiNodeCommand(roundOf([pool(), ...objects], parts)));
      expect(names(command?.members)).toEqual(nodes);
      expect(command?.replacements).toHaveLength(1);
    }
  });

  test('does not move for the price of a reservation that is full', () => {
    const full = offering('zone-1', 'reserved', 0.01, {
      requirements: [requirement('example.com/reservation-id', 'In', ['r-1'])],
      reservationCapacity: 0,
    });
    const types = [
      instanceType({ name: 'c4', price: 0.4, offerings: [offering('zone-1', 'on-demand', 0.4), full] }),
      instanceType({ name: 'c8', price: 0.8, offerings: [offering('zone-1', 'on-demand', 0.8), full] }),
    ];
    const objects = [pool(), ...machine('a', { type: 'c4' }), running('a', { cpu: '3' })];
    expect(finish(singleNodeCommand(roundOf(objects, { types }))).command).toBeUndefined();
  });

  test('moves from on-demand to reserved capacity that is cheaper', () => {
    const reserved = offering('zone-1', 'reserved', 0.01, {
      requirements: [requirement('example.com/reservation-id', 'In', ['r-1'])],
      reservationCapacity: 5,
    });
    const types = [
      instanceType({ name: 'c4', price: 0.4, offerings: [offering('zone-1', 'on-demand', 0.4), reserved] }),
    ];
    const objects = [pool(), ...machine('a', { type: 'c4' }), running('a', { cpu: '3' })];
    const { command } = finish(singleNodeCommand(roundOf(objects, { types })));
    expect(command?.replacements[0]).toMatchObject({ node: { chosen: { capacityType: 'reserved' } } });
  });
});

describe('a command', () => {
  const round = roundOf([pool(), pool('other'), ...machine('a'), ...machine('b', { pool: 'other' })]);
  const command = emptinessCommand(round).command as NonNullable<ReturnType<typeof emptinessCommand>['command']>;

  test('is put in the words events and logs use', () => {
    expect(commandText(command)).toBe('delete: [a, b]');
    const replacing = { ...command, replacements: [{ kind: 'template' as const, nodePool: 'default' }] };
    expect(commandText(replacing)).toBe('replace: [a, b] -> [1 replacement]');
    expect(partText(replacing, command.members[0] as never)).toBe('replace: [a] (part of 2-node consolidation)');
    expect(startedText(command, 'id')).toBe('Empty/id: delete: nodepools=[default,other]: [a, b] (savings: $0.80)');
  });
});

test('pods with required node affinity keep it when they move', () => {
  const picky = running('a', {
    cpu: '1',
    owner: replicaSet,
    spec: nodeAffinity([requirement(label.zone, 'In', ['zone-2'])]),
  });
  const objects = [
    pool(),
    ...machine('a', { type: 'c8', zone: 'zone-2' }),
    ...machine('b', { type: 'c8' }),
    running('b', { cpu: '7' }),
    picky,
  ];
  const { command } = finish(singleNodeCommand(roundOf(objects)));
  expect(command?.placements).toEqual([]);
  expect(command?.replacements).toHaveLength(1);
});
