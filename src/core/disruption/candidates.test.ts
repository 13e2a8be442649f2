import { describe, expect, test } from 'vitest';
import { annotation } from '../../api/names.ts';
import { instanceType, nodePool, object, type PodParts, provider } from '../testing/builders.testing.ts';
import { blockersOf, firstBlocker, isEmptyNode } from './candidates.ts';
import { daemonSet, fleetOf, machine, mirror, pool, running, statefulSet } from './fleet.testing.ts';
import type { Fleet, Member } from './fleet.ts';

const memberOf = (fleet: Fleet, name = 'a'): Member => fleet.members.find((member) => member.name === name) as Member;

const firstOf = (fleet: Fleet, kind: 'graceful' | 'eventual' = 'graceful', name = 'a') =>
  firstBlocker(fleet, memberOf(fleet, name), kind)?.message;

const disruptionBudget = (parts: Record<string, unknown> = {}, name = 'web', namespace = 'default') =>
  object('policy/v1', 'PodDisruptionBudget', name, {
    metadata: { namespace },
    spec: { selector: { matchLabels: { app: 'web' } }, ...parts },
    status: { disruptionsAllowed: 0 },
  });

describe('a node is a candidate unless', () => {
  test('a command has it already', () => {
    const fleet = fleetOf([pool(), ...machine('a')], {}, { queued: new Set(['a']) });
    expect([...blockersOf(fleet, memberOf(fleet), 'graceful')]).toEqual([
      { code: 'AlreadyDisrupting', message: 'candidate is already being disrupted', silent: true },
    ]);
  });

  test('it has no claim, or no node', () => {
    const [node, claim] = machine('a') as [never, never];
    expect(firstOf(fleetOf([pool(), node]))).toBe("node isn't managed by karpenter");
    expect(firstOf(fleetOf([pool(), claim]))).toBe('nodeclaim does not have an associated node');
  });

  test('it is not initialized, is leaving, or is nominated', () => {
    expect(firstOf(fleetOf([pool(), ...machine('a', { initialized: false })]))).toBe("node isn't initialized");
    const leaving = machine('a', { claimMetadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });
    expect(firstOf(fleetOf([pool(), ...leaving]))).toBe('node is deleting or marked for deletion');
    const nodeState = [{ node: 'a', nodeClaim: 'a', nominated: true }];
    expect(firstOf(fleetOf([pool(), ...machine('a')], { nodeState }))).toBe('node is nominated for a pending pod');
  });

  test('its annotation forbids it, which only "true" does, and for every method', () => {
    const annotated = (value: string) =>
      fleetOf([
        pool(),
        ...machine('a', { annotations: { [annotation.doNotDisrupt]: value }, claim: { terminationGracePeriod: '1h' } }),
      ]);
    const message = 'disruption is blocked through the "karpenter.sh/do-not-disrupt" annotation';
    expect(firstOf(annotated('true'))).toBe(message);
    expect(firstOf(annotated('true'), 'eventual')).toBe(message);
    expect(firstOf(annotated('false'))).toBeUndefined();
    expect(firstOf(annotated('1h'))).toBeUndefined();
  });

  test('its pool is missing, belongs to someone else, or offers no instance types', () => {
    expect(firstOf(fleetOf(machine('a')))).toBe('NodePool not found (NodePool=default)');
    const foreign = { ...provider, nodeClasses: ['Other.example.com'] };
    expect(firstOf(fleetOf([pool(), ...machine('a')], { provider: foreign }))).toBe(
      'NodePool not found (NodePool=default)',
    );
    expect(firstOf(fleetOf([pool(), ...machine('a')], { types: [] }))).toBe('NodePool not found (NodePool=default)');
    const [node, claim] = machine('a', { labels: { 'karpenter.sh/nodepool': undefined as never } });
    for (const item of [node, claim])
      delete (item as { metadata: { labels: Record<string, string> } } | undefined)?.metadata.labels[
        'karpenter.sh/nodepool'
      ];
    expect(firstOf(fleetOf([pool(), node as never, claim as never]))).toBe(
      "node doesn't have required label (label=karpenter.sh/nodepool)",
    );
  });

  test('labels or the instance type being unknown do not stop it', () => {
    expect(firstOf(fleetOf([pool(), ...machine('a', { type: 'unheard-of', cpu: '4' })]))).toBeUndefined();
  });
});

describe('a pod that must not be disturbed', () => {
  const protectedPod = (parts: PodParts = {}) =>
    running('a', { name: 'p', annotations: { [annotation.doNotDisrupt]: 'true' }, ...parts });
  const message = 'pod has "karpenter.sh/do-not-disrupt" annotation (Pod=default/p)';

  test.each([
    ['an ordinary pod', {}],
    ['a daemon', { owner: daemonSet }],
    ['a static pod', { owner: mirror }],
  ])('blocks as %s', (_, parts) => {
    expect(firstOf(fleetOf([pool(), ...machine('a'), protectedPod(parts)]))).toBe(message);
  });

  test('does not block when it has ended or is ending', () => {
    expect(firstOf(fleetOf([pool(), ...machine('a'), protectedPod({ phase: 'Succeeded' })]))).toBeUndefined();
    expect(firstOf(fleetOf([pool(), ...machine('a'), protectedPod({ deleting: true })]))).toBeUndefined();
  });

  test('blocks drift only without a termination grace period', () => {
    expect(firstOf(fleetOf([pool(), ...machine('a'), protectedPod()]), 'eventual')).toBe(message);
    const patient = machine('a', { claim: { terminationGracePeriod: '1h' } });
    expect(firstOf(fleetOf([pool(), ...patient, protectedPod()]), 'eventual')).toBeUndefined();
    expect(firstOf(fleetOf([pool(), ...patient, protectedPod()]))).toBe(message);
  });

  test('protects for the duration it names, and not at all with a value that cannot be read', () => {
    const since = (startTime: string, value: string) =>
      protectedPod({ annotations: { [annotation.doNotDisrupt]: value }, status: { startTime } });
    const at = (startTime: string, value: string) =>
      firstOf(fleetOf([pool(), ...machine('a'), since(startTime, value)]));
    expect(at('2026-01-01T00:05:00Z', '10m')).toBe(message);
    expect(at('2026-01-01T00:05:00Z', '1m')).toBeUndefined();
    expect(at('2026-01-01T00:05:00Z', 'a while')).toBeUndefined();
  });
});

describe('a PodDisruptionBudget', () => {
  const web = (parts: PodParts = {}) => running('a', { labels: { app: 'web' }, ...parts });
  const message = 'pdb prevents pod evictions (PodDisruptionBudget=[default/web])';
  const withBudgets = (pod: ReturnType<typeof web>, ...budgets: ReturnType<typeof disruptionBudget>[]) =>
    firstOf(fleetOf([pool(), ...machine('a'), pod, ...budgets]));

  test('that allows no disruption blocks, daemons included', () => {
    expect(withBudgets(web(), disruptionBudget())).toBe(message);
    expect(withBudgets(web({ owner: daemonSet }), disruptionBudget())).toBe(message);
  });

  test('that allows some does not', () => {
    const budget = { ...disruptionBudget(), status: { disruptionsAllowed: 1 } };
    expect(withBudgets(web(), budget)).toBeUndefined();
  });

  test('of another namespace, or about static or ending pods, does not', () => {
    expect(withBudgets(web(), disruptionBudget({}, 'web', 'other'))).toBeUndefined();
    expect(withBudgets(web({ owner: mirror }), disruptionBudget())).toBeUndefined();
    expect(withBudgets(web({ deleting: true }), disruptionBudget())).toBeUndefined();
  });

  test('that lets unhealthy pods go lets an unready one go', () => {
    const unready = web({ status: { conditions: [{ type: 'Ready', status: 'False' }] } });
    const lenient = disruptionBudget({ unhealthyPodEvictionPolicy: 'AlwaysAllow' });
    expect(withBudgets(unready, lenient)).toBeUndefined();
    expect(withBudgets(web(), lenient)).toBe(message);
  });

  test('beside another about the same pod blocks, because such pods cannot be evicted', () => {
    expect(withBudgets(web(), disruptionBudget(), disruptionBudget({}, 'web-2'))).toBe(
      'eviction does not support multiple PDBs (PodDisruptionBudget(s)=[default/web default/web-2])',
    );
  });
});

describe('a node is empty', () => {
  const isEmpty = (parts: PodParts) => isEmptyNode(memberOf(fleetOf([pool(), ...machine('a'), running('a', parts)])));

  test('with daemons, static pods and ending pods of Deployments', () => {
    expect(isEmpty({ owner: daemonSet })).toBe(true);
    expect(isEmpty({ owner: mirror })).toBe(true);
    expect(isEmpty({ deleting: true })).toBe(true);
  });

  test('with pods that would rather go', () => {
    expect(isEmpty({ annotations: { [annotation.podDeletionCost]: '-2147483648' } })).toBe(true);
  });

  test('but not with an ending StatefulSet pod, nor with an ordinary one', () => {
    expect(isEmpty({ deleting: true, owner: statefulSet })).toBe(false);
    expect(isEmpty({})).toBe(false);
  });
});

describe('a pool counts', () => {
  const counts = (...objects: Parameters<typeof fleetOf>[0]) => fleetOf([pool(), ...objects]).countsOf('default');

  test('its initialized nodes, and as out those that are not ready or leaving', () => {
    expect(
      counts(
        ...machine('a'),
        ...machine('b', { ready: 'False' }),
        ...machine('c', { claimMetadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }),
        ...machine('d', { initialized: false }),
        ...machine('e', { conditions: { InstanceTerminating: 'True' } }),
        ...machine('f', { pool: 'other' }),
      ),
    ).toEqual({ total: 3, consuming: 2 });
  });

  test('the price of a node by its own zone and capacity type, whether it is available today or not', () => {
    const types = [
      instanceType({
        name: 'c4',
        offerings: [
          {
            requirements: [
              { key: 'topology.kubernetes.io/zone', operator: 'In', values: ['zone-1'] },
              { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] },
            ],
            price: 7,
            available: false,
          },
        ],
      }),
    ];
    expect(memberOf(fleetOf([nodePool(), ...machine('a')], { types })).price).toBe(7);
    expect(memberOf(fleetOf([nodePool(), ...machine('a', { zone: 'zone-2' })], { types })).price).toBe(0);
  });
});
