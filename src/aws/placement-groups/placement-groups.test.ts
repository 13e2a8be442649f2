import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { VirtualClock } from '../../base/index.ts';
import { awsRefusal, fakeEc2 } from '../fake-client.testing.ts';
import { nodeClass } from '../node-class.testing.ts';
import { PlacementGroups } from './placement-groups.ts';

function open(answer: () => unknown) {
  const clock = new VirtualClock({ settle: () => setImmediate() });
  const ec2 = fakeEc2({ DescribePlacementGroups: answer });
  return { clock, ec2, groups: new PlacementGroups({ ec2: ec2.client, clock }) };
}

const byName = nodeClass({ placementGroupSelector: { name: 'pg-looks-like-an-id' } });
const byId = nodeClass({ placementGroupSelector: { id: 'pg-1' } });
const group = { GroupId: 'pg-1', GroupName: 'one', Strategy: 'cluster' };

describe('the placement group of a class', () => {
  test('without a selector there is none, and EC2 is not asked', async () => {
    const { groups, ec2 } = open(() => undefined);
    expect(await groups.resolve(nodeClass())).toEqual({ kind: 'none' });
    expect(ec2.calls).toEqual([]);
  });

  test('a name is asked for as a name even if it looks like an id, an id as an id, only available ones', async () => {
    const { groups, ec2 } = open(() => ({ PlacementGroups: [group] }));
    await groups.resolve(byName);
    await groups.resolve(byId);
    const state = [{ Name: 'state', Values: ['available'] }];
    expect(ec2.inputs('DescribePlacementGroups')).toEqual([
      { Filters: state, GroupNames: ['pg-looks-like-an-id'] },
      { Filters: state, GroupIds: ['pg-1'] },
    ]);
  });

  test.each([
    [group, { id: 'pg-1', name: 'one', strategy: 'cluster' }],
    [
      { ...group, Strategy: 'partition', PartitionCount: 7 },
      { id: 'pg-1', name: 'one', strategy: 'partition', partitions: 7 },
    ],
    [
      { ...group, Strategy: 'spread', SpreadLevel: 'rack' },
      { id: 'pg-1', name: 'one', strategy: 'spread', spreadLevel: 'rack' },
    ],
  ])('%j is read with what its strategy brings', async (described, resolved) => {
    const { groups } = open(() => ({ PlacementGroups: [described] }));
    expect(await groups.resolve(byId)).toEqual({ kind: 'resolved', group: resolved });
    expect(groups.known(byId)).toEqual(resolved);
  });

  test('of several results the first is used', async () => {
    const { groups } = open(() => ({ PlacementGroups: [group, { ...group, GroupId: 'pg-2' }] }));
    expect(await groups.resolve(byName)).toMatchObject({ group: { id: 'pg-1' } });
  });

  test.each([
    ['no result', () => ({ PlacementGroups: [] })],
    [
      'a refusal that names it',
      () => {
        throw awsRefusal('InvalidPlacementGroup.Unknown');
      },
    ],
  ])('%s means that there is no such group', async (_, answer) => {
    const { groups } = open(answer);
    expect(await groups.resolve(byName)).toEqual({ kind: 'notFound' });
    expect(groups.known(byName)).toBeUndefined();
  });

  test('a second lookup is served from what is known, for a minute', async () => {
    const { groups, ec2, clock } = open(() => ({ PlacementGroups: [group] }));
    await groups.resolve(byId);
    await groups.resolve(byId);
    expect(ec2.calls).toHaveLength(1);
    await clock.runFor(60_000);
    await groups.resolve(byId);
    expect(ec2.calls).toHaveLength(2);
  });

  test('when EC2 fails, what was resolved before comes with the error', async () => {
    let isDown = false;
    const { groups, clock } = open(() => {
      if (isDown) throw awsRefusal('InternalError');
      return { PlacementGroups: [group] };
    });
    expect(groups.isLookedUp(byId)).toBe(false);
    await groups.resolve(byId);
    expect(groups.isLookedUp(byId)).toBe(true);
    isDown = true;
    await clock.runFor(60_000);
    expect(await groups.resolve(byId)).toMatchObject({ kind: 'failed', group: { id: 'pg-1' } });
    expect(groups.known(byId)).toMatchObject({ id: 'pg-1' });
    expect(await groups.resolve(byName)).toMatchObject({ kind: 'failed' });
    expect(await groups.resolve(byName)).not.toHaveProperty('group');
    expect([groups.isLookedUp(byName), groups.isLookedUp(nodeClass())]).toEqual([false, true]);
  });

  test('a group that was there and is gone is forgotten; another selector has its own group', async () => {
    let found: unknown[] = [group];
    const { groups, clock } = open(() => ({ PlacementGroups: found }));
    await groups.resolve(byId);
    expect(groups.known(byName)).toBeUndefined();
    found = [];
    await clock.runFor(60_000);
    expect(await groups.resolve(byId)).toEqual({ kind: 'notFound' });
    expect(groups.known(byId)).toBeUndefined();
    expect(groups.known(nodeClass())).toBeUndefined();
  });
});
