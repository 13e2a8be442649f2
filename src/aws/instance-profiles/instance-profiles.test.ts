import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { VirtualClock } from '../../base/index.ts';
import { awsRefusal } from '../fake-client.testing.ts';
import { nodeClass } from '../node-class.testing.ts';
import { InstanceProfiles } from './instance-profiles.ts';
import { type MemoryIam, memoryIam } from './memory-iam.testing.ts';
import { isValidProfileName, legacyProfileName } from './profile-names.ts';

const scope = { region: 'us-west-2', clusterName: 'my-cluster' };
const minuteMs = 60_000;
let clock: VirtualClock;
let iam: MemoryIam;
let profiles: InstanceProfiles;

function open(clusterName = scope.clusterName): InstanceProfiles {
  let serial = 0;
  return new InstanceProfiles({ ...scope, clusterName, iam: iam.client, clock, unique: () => `uuid-${(serial += 1)}` });
}

beforeEach(() => {
  clock = new VirtualClock({ settle: () => setImmediate() });
  iam = memoryIam();
  profiles = open();
});

const team = nodeClass({ tags: { team: 'a', 'topology.kubernetes.io/region': 'mine' } });
const other = nodeClass({}, { metadata: { name: 'other', uid: 'uid-other' } });

describe('a new profile', () => {
  test('has path, tags and name as IAM policies expect them; ours win over tags of the class', async () => {
    const name = await profiles.create(team, 'node-role');
    expect(name).toMatch(/^my-cluster_\d+$/);
    expect(iam.profiles.get(name)).toEqual({
      path: '/karpenter/us-west-2/my-cluster/uid-default/',
      roles: ['node-role'],
      tags: {
        team: 'a',
        'kubernetes.io/cluster/my-cluster': 'owned',
        'eks:eks-cluster-name': 'my-cluster',
        'karpenter.k8s.aws/ec2nodeclass': 'default',
        'topology.kubernetes.io/region': 'us-west-2',
      },
    });
  });

  test('a role with a path is attached by its bare name', async () => {
    const name = await profiles.create(team, 'some/path/node-role');
    expect(iam.profiles.get(name)?.roles).toEqual(['node-role']);
  });

  test('is used again within a minute for the same role and class, not for another role or class', async () => {
    const first = await profiles.create(team, 'a');
    expect(await profiles.create(team, 'a')).toBe(first);
    expect(await profiles.create(team, 'b')).not.toBe(first);
    expect(await profiles.create(other, 'a')).not.toBe(first);
    await clock.runFor(minuteMs);
    expect(await profiles.create(team, 'a')).not.toBe(first);
  });

  test('two classes with one role get two profiles; A, B, C, A get four once the minute is over', async () => {
    await profiles.create(team, 'a');
    await profiles.create(other, 'a');
    expect(iam.profiles.size).toBe(2);
    iam.profiles.clear();
    await clock.runFor(minuteMs);
    for (const role of ['a', 'b', 'c', 'a']) {
      await profiles.create(team, role);
      await clock.runFor(minuteMs);
    }
    expect(iam.profiles.size).toBe(4);
  });

  test('that cannot get its role is deleted again, once, and an error is thrown', async () => {
    iam.answers['AddRoleToInstanceProfile'] = () => {
      throw awsRefusal('AccessDenied', 'not you', 403);
    };
    await expect(profiles.create(team, 'a')).rejects.toThrow(
      "creating instance profile, not you; allow the controller's role iam:CreateInstanceProfile, TagInstanceProfile, AddRoleToInstanceProfile, and iam:PassRole for a (kerf iam policy",
    );
    expect(iam.profiles.size).toBe(0);
    expect(iam.count('DeleteInstanceProfile')).toBe(1);
  });

  test('a missing role is remembered for a minute: no profile is created meanwhile', async () => {
    iam.missingRoles.add('ghost');
    await expect(profiles.create(team, 'ghost')).rejects.toThrow('role not found');
    expect(iam.profiles.size).toBe(0);
    await expect(profiles.create(team, 'ghost')).rejects.toThrow('role not found');
    expect(iam.count('CreateInstanceProfile')).toBe(1);
    iam.missingRoles.clear();
    await clock.runFor(minuteMs);
    await profiles.create(team, 'ghost');
    expect(iam.profiles.size).toBe(1);
  });

  test('a role that exists is not remembered as missing', async () => {
    await profiles.create(team, 'a');
    await clock.runFor(minuteMs);
    await profiles.create(team, 'a');
    expect(iam.count('CreateInstanceProfile')).toBe(2);
  });

  test('whose name is taken is given the right role, another one is taken off first', async () => {
    const name = await profiles.create(team, 'a');
    await profiles.create(team, 'a');
    const again = open();
    await again.create(team, 'b');
    expect(iam.profiles.get(name)?.roles).toEqual(['b']);
  });
});

describe('looking at a profile', () => {
  test('is asked once in fifteen minutes; a missing one is asked for again', async () => {
    expect(await profiles.get('x')).toBeUndefined();
    iam.profiles.set('x', { path: '/', roles: ['r'], tags: {} });
    expect(await profiles.get('x')).toEqual({ name: 'x', role: 'r' });
    await profiles.get('x');
    expect(iam.count('GetInstanceProfile')).toBe(2);
    await clock.runFor(15 * minuteMs);
    await profiles.get('x');
    expect(iam.count('GetInstanceProfile')).toBe(3);
  });

  test('an error that is not about existence is thrown', async () => {
    iam.answers['GetInstanceProfile'] = () => {
      throw awsRefusal('ServiceFailure', 'down', 500);
    };
    await expect(profiles.get('x')).rejects.toThrow(/getting instance profile, down$/);
  });
});

describe('deleting', () => {
  test('takes the role off first; missing and role-less profiles are not an error', async () => {
    iam.profiles.set('with', { path: '/', roles: ['r'], tags: {} });
    iam.profiles.set('without', { path: '/', roles: [], tags: {} });
    for (const name of ['with', 'without', 'missing']) await profiles.delete(name);
    expect(iam.profiles.size).toBe(0);
    expect(iam.count('RemoveRoleFromInstanceProfile')).toBe(1);
  });

  test('a class takes all its profiles with it, those of older versions included, and those of no other class', async () => {
    for (const role of ['a', 'b', 'c']) await profiles.create(team, role);
    const kept = await profiles.create(other, 'a');
    iam.profiles.set(legacyProfileName(scope, 'default'), { path: '/', roles: ['a'], tags: {} });
    await profiles.deleteAllOf(team);
    expect([...iam.profiles.keys()]).toEqual([kept]);
    // And with them what was remembered: a new one is made at once.
    await profiles.create(team, 'a');
    expect(iam.profiles.size).toBe(2);
  });

  test('the profile of older versions has the name it had then', () => {
    expect(legacyProfileName({ region: 'us-west-2', clusterName: 'c' }, 'default')).toBe('c_4067990795380418201');
  });

  test('where the older name could not be one of IAM, IAM is not asked about it', async () => {
    const odd = open('my cluster');
    await odd.deleteAllOf(team);
    expect(iam.calls.map(({ action }) => action)).toEqual(['ListInstanceProfiles']);
    expect(isValidProfileName('a'.repeat(129))).toBe(false);
    expect(isValidProfileName('a+=,.@-_1')).toBe(true);
  });
});

describe('lists', () => {
  test('by class only that class’s, by cluster only that cluster’s, whatever the filter lets through', async () => {
    const mine = [await profiles.create(team, 'a'), await profiles.create(other, 'a')];
    const foreign = await open('another').create(team, 'a');
    expect(await profiles.list()).toEqual(mine);
    const { InstanceProfiles: all } = (
      iam.answers['ListInstanceProfiles'] as (input: object) => { InstanceProfiles: unknown }
    )({ PathPrefix: '/' });
    iam.answers['ListInstanceProfiles'] = () => ({ InstanceProfiles: all });
    expect(await profiles.list()).not.toContain(foreign);
    await profiles.deleteAllOf(team);
    expect([...iam.profiles.keys()]).toEqual([mine[1], foreign]);
  });
});

test('protection lasts an hour', async () => {
  profiles.protect('x');
  await clock.runFor(60 * minuteMs - 1);
  expect(profiles.isProtected('x')).toBe(true);
  await clock.runFor(1);
  expect(profiles.isProtected('x')).toBe(false);
});
