import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { conditionOf } from '../base/index.ts';
import {
  type Condition,
  type ConditionChange,
  type ConditionContext,
  clearCondition,
  ec2NodeClassConditions,
  initConditions,
  isTrue,
  nodeClaimConditions,
  nodeOverlayConditions,
  nodePoolConditions,
  setCondition,
} from './index.ts';

const second = 1000;
const noon = Date.parse('2026-01-01T12:00:00Z');
const owner: ConditionContext = { generation: 1, creationTimestamp: '2026-01-01T00:00:00Z', nowMs: noon };

/** Applies changes one second apart. */
function changed(changes: ConditionChange[], subject = owner, set = nodePoolConditions): readonly Condition[] {
  return changes.reduce<readonly Condition[]>(
    (conditions, change, index) => setCondition(set, conditions, change, { ...subject, nowMs: noon + index * second }),
    [],
  );
}

const valid = { type: 'ValidationSucceeded', status: 'True' } as const;
const classReady = { type: 'NodeClassReady', status: 'True' } as const;
const types = (conditions: readonly Condition[]): string[] => conditions.map(({ type }) => type);

describe('first touch', () => {
  test('root and dependents are unknown since the object was created', () => {
    const conditions = initConditions(nodePoolConditions, undefined, owner);
    expect(types(conditions)).toEqual(['ValidationSucceeded', 'NodeClassReady', 'Ready']);
    for (const condition of conditions) {
      expect(condition).toMatchObject({
        status: 'Unknown',
        reason: 'AwaitingReconciliation',
        message: 'object is awaiting reconciliation',
        lastTransitionTime: owner.creationTimestamp,
      });
    }
  });

  test('nothing is added to a complete list', () => {
    const conditions = initConditions(nodePoolConditions, undefined, owner);
    expect(initConditions(nodePoolConditions, conditions, owner)).toBe(conditions);
  });

  test.each([
    ['NodeClaim', nodeClaimConditions, ['Launched', 'Registered', 'Initialized', 'Ready']],
    ['NodeOverlay', nodeOverlayConditions, ['ValidationSucceeded', 'Ready']],
  ])('%s is ready by its own conditions', (_, set, expected) => {
    expect(types(initConditions(set, undefined, owner))).toEqual(expected);
  });

  test('an EC2NodeClass has 8 conditions with reserved capacity, 7 without, sorted by type', () => {
    expect(initConditions(ec2NodeClassConditions(true), undefined, owner)).toHaveLength(8);
    expect(types(initConditions(ec2NodeClassConditions(false), undefined, owner))).toEqual([
      'AMIsReady',
      'InstanceProfileReady',
      'PlacementGroupReady',
      'Ready',
      'SecurityGroupsReady',
      'SubnetsReady',
      'ValidationSucceeded',
    ]);
  });
});

describe('setting a condition', () => {
  test('True without words gets its type as the reason and no message', () => {
    expect(conditionOf(changed([valid]), 'ValidationSucceeded')).toMatchObject({
      reason: 'ValidationSucceeded',
      message: '',
      observedGeneration: 1,
      lastTransitionTime: '2026-01-01T12:00:00Z',
    });
  });

  test('the same again changes nothing, not even the list', () => {
    const conditions = changed([valid, classReady]);
    expect(setCondition(nodePoolConditions, conditions, valid, { ...owner, nowMs: noon + 60 * second })).toBe(
      conditions,
    );
  });

  test('other words with the same status keep the time of the transition', () => {
    const conditions = changed([
      { type: 'NodeClassReady', status: 'False', reason: 'NodeClassNotFound' },
      { type: 'NodeClassReady', status: 'False', reason: 'NodeClassTerminating' },
    ]);
    expect(conditionOf(conditions, 'NodeClassReady')).toMatchObject({
      reason: 'NodeClassTerminating',
      lastTransitionTime: '2026-01-01T12:00:00Z',
    });
  });

  test('conditions are stored by the time of their transition, Ready last', () => {
    const conditions = changed([classReady, { type: 'NodeRegistrationHealthy', status: 'True' }, valid]);
    expect(types(conditions)).toEqual(['NodeClassReady', 'NodeRegistrationHealthy', 'ValidationSucceeded', 'Ready']);
  });
});

describe('Ready', () => {
  const ready = (changes: ConditionChange[], subject?: ConditionContext) =>
    conditionOf(changed(changes, subject), 'Ready');

  test('is True once every dependent is', () => {
    expect(ready([valid, classReady])).toMatchObject({ status: 'True', reason: 'Ready', message: '' });
    expect(isTrue(changed([valid, classReady]), 'Ready')).toBe(true);
  });

  test('is Unknown while a dependent is, and names it', () => {
    expect(ready([valid])).toMatchObject({
      status: 'Unknown',
      reason: 'ReconcilingDependents',
      message: 'NodeClassReady=Unknown',
    });
  });

  test('is False as soon as a dependent is, naming the latest transition first', () => {
    expect(
      ready([
        { type: 'NodeClassReady', status: 'False', reason: 'x' },
        { type: 'ValidationSucceeded', status: 'False', reason: 'x' },
      ]),
    ).toMatchObject({
      status: 'False',
      reason: 'UnhealthyDependents',
      message: 'ValidationSucceeded=False, NodeClassReady=False',
    });
  });

  test('does not depend on other conditions', () => {
    expect(ready([valid, classReady, { type: 'NodeRegistrationHealthy', status: 'False', reason: 'x' }])).toMatchObject(
      {
        status: 'True',
      },
    );
  });

  test('a dependent of an older generation is unhealthy, but cannot make it False', () => {
    const old = changed([{ type: 'NodeClassReady', status: 'False', reason: 'x' }]);
    const conditions = setCondition(nodePoolConditions, old, valid, { ...owner, generation: 2 });
    expect(conditionOf(conditions, 'Ready')).toMatchObject({
      status: 'Unknown',
      reason: 'ReconcilingDependents',
      message: 'NodeClassReady=False',
      observedGeneration: 2,
    });
  });

  test('of an object that is being deleted, older observations count as current', () => {
    const old = changed([valid, classReady]);
    const conditions = setCondition(
      nodePoolConditions,
      old,
      { type: 'NodeRegistrationHealthy', status: 'True' },
      { ...owner, generation: 5, deleting: true },
    );
    expect(conditionOf(conditions, 'Ready')).toMatchObject({ status: 'True' });
    expect(conditions.every(({ observedGeneration }) => observedGeneration === 5)).toBe(true);
  });
});

describe('clearing', () => {
  test('removes a condition that is not a dependent', () => {
    const conditions = changed([{ type: 'Drifted', status: 'True' }], owner, nodeClaimConditions);
    const cleared = clearCondition(nodeClaimConditions, conditions, 'Drifted', owner);
    expect(conditionOf(cleared, 'Drifted')).toBeUndefined();
  });

  test.each(['Launched', 'Ready', 'Drifted'])('leaves the list alone when asked for %s', (type) => {
    const conditions = initConditions(nodeClaimConditions, undefined, owner);
    expect(clearCondition(nodeClaimConditions, conditions, type, owner)).toBe(conditions);
  });
});

test('whatever is set in whatever order, Ready follows from the dependents and no type appears twice', () => {
  const change = fc.record({
    type: fc.constantFrom('Launched', 'Registered', 'Initialized', 'Drifted', 'Consolidatable'),
    status: fc.constantFrom('True' as const, 'False' as const, 'Unknown' as const),
    reason: fc.constantFrom('A', 'B'),
  });
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 12 }), (changes) => {
      const conditions = changed(changes, owner, nodeClaimConditions);
      expect(new Set(types(conditions)).size).toBe(conditions.length);
      expect(conditions.at(-1)?.type).toBe('Ready');
      const statuses = nodeClaimConditions.dependents.map((type) => conditionOf(conditions, type)?.status);
      const expected = statuses.includes('False') ? 'False' : statuses.includes('Unknown') ? 'Unknown' : 'True';
      expect(conditionOf(conditions, 'Ready')?.status).toBe(expected);
    }),
    { seed: 7, numRuns: 200 },
  );
});

test('of dependents that changed at the same time, Ready names the one written last at the end', () => {
  const failed = { type: 'Launched', status: 'Unknown', reason: 'LaunchFailed', message: 'x' } as const;
  const unseen = { type: 'Registered', status: 'Unknown', reason: 'NodeNotFound', message: 'y' } as const;
  const conditions = changed([failed, unseen], owner, nodeClaimConditions);
  expect(conditionOf(conditions, 'Ready')?.message).toBe('Initialized=Unknown, Launched=Unknown, Registered=Unknown');
});
