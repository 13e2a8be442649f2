import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { awsRefusal } from '../../aws/fake-client.testing.ts';
import { ec2NodeClasses } from '../../aws/index.ts';
import { nodeClaims } from '../../controllers/index.ts';
import { minuteMs, type NodeClassBench, openNodeClasses } from './nodeclass-bench.testing.ts';

let bench: NodeClassBench;
beforeEach(async () => {
  bench = await openNodeClasses();
});
afterEach(() => bench.close());

const profile = async () => (await bench.status()).instanceProfile ?? '';
const rolesOf = (name: string) => bench.iam.profiles.get(name)?.roles;
const addProfile = (name: string, ...roles: string[]) => bench.iam.profiles.set(name, { path: '/', roles, tags: {} });
const isProtected = (name: string) => bench.services().profiles.isProtected(name);
const remove = async (name = 'default') => {
  await bench.remove(ec2NodeClasses, name);
  await bench.run(1_000);
};

describe('instance profiles', () => {
  test('role A, B, C in turn make three profiles; the class takes all of them with it', async () => {
    await bench.classOf({ role: 'a' });
    await bench.classOf({ role: 'b' });
    await bench.classOf({ role: 'c' });
    expect(bench.iam.profiles.size).toBe(3);
    expect(rolesOf(await profile())).toEqual(['c']);
    await remove();
    expect([await bench.isGone(), bench.iam.profiles.size]).toEqual([true, 0]);
  });

  test.each([
    ['without a role', []],
    ['with another role', ['other']],
  ])('one %s is left alone, a second one holds the right role', async (_, roles) => {
    const { metadata } = await bench.classOf({ role: 'a' });
    const first = await profile();
    addProfile(first, ...roles);
    await bench.run(16 * minuteMs);
    await bench.apply(ec2NodeClasses, { metadata: { name: metadata.name ?? '', labels: { touched: 'yes' } } });
    await bench.run(1_000);
    expect(await profile()).not.toBe(first);
    expect([rolesOf(first), rolesOf(await profile())]).toEqual([roles, ['a']]);
  });

  test('one with the right role is kept without another call that changes anything', async () => {
    await bench.classOf({ role: 'a' });
    const made = await profile();
    await bench.run(40 * minuteMs);
    expect(await profile()).toBe(made);
    expect([bench.iam.count('CreateInstanceProfile'), bench.iam.count('AddRoleToInstanceProfile')]).toEqual([1, 1]);
  });

  test('a role with a path keeps its profile too', async () => {
    await bench.classOf({ role: 'path/to/a' });
    const made = await profile();
    await bench.run(40 * minuteMs);
    expect([await profile(), rolesOf(made)]).toEqual([made, ['a']]);
  });

  test('one of the user’s own is copied, and IAM is not asked to make or delete anything', async () => {
    await bench.classOf({ role: undefined, instanceProfile: 'mine' } as never);
    expect(await profile()).toBe('mine');
    expect(await bench.condition('InstanceProfileReady')).toMatchObject({ status: 'True' });
    addProfile('mine', 'r');
    await remove();
    expect(await bench.isGone()).toBe(true);
    for (const action of [
      'CreateInstanceProfile',
      'AddRoleToInstanceProfile',
      'DeleteInstanceProfile',
      'RemoveRoleFromInstanceProfile',
    ])
      expect(bench.iam.count(action)).toBe(0);
  });

  test('a new one is protected; an old one becomes so when the role changes or the user brings their own', async () => {
    await bench.classOf({ role: 'a' });
    const first = await profile();
    await bench.run(61 * minuteMs);
    expect(isProtected(first)).toBe(false);
    await bench.classOf({ role: 'b' });
    const second = await profile();
    expect([isProtected(first), isProtected(second)]).toEqual([true, true]);
    await bench.run(61 * minuteMs);
    await bench.classOf({ role: null, instanceProfile: 'mine' } as never);
    expect(isProtected(second)).toBe(true);
  });

  test('when IAM cannot be asked, the reconcile fails and no profile is made', async () => {
    await bench.classOf({ role: 'a' });
    bench.iam.answers['GetInstanceProfile'] = () => {
      throw awsRefusal('ServiceFailure', 'iam is down', 500);
    };
    await bench.run(20 * minuteMs);
    expect(bench.iam.profiles.size).toBe(1);
    expect(bench.log.lines.some(({ error }) => String(error).includes('getting instance profile, iam is down'))).toBe(
      true,
    );
  });

  test('a role that does not exist leaves InstanceProfileReady and Ready unknown', async () => {
    bench.iam.missingRoles.add('ghost');
    await bench.classOf({ role: 'ghost' });
    expect(await bench.condition('InstanceProfileReady')).toMatchObject({ status: 'Unknown' });
    expect(await bench.condition('Ready')).toMatchObject({ status: 'Unknown' });
    await bench.run(3 * minuteMs);
    expect(bench.iam.profiles.size).toBe(0);
  });

  test('the profile in the status is what launches take', async () => {
    await bench.classOf({ role: 'a' });
    expect(await profile()).toMatch(/^my-cluster_\d+$/);
  });
});

describe('collection of profiles', () => {
  const path = '/karpenter/us-east-1/my-cluster/uid/';
  const add = (name: string) => bench.iam.profiles.set(name, { path, roles: ['r'], tags: {} });

  test('keeps what a class, a claim or its youth protects, and deletes the rest every half hour', async () => {
    await bench.classOf({ role: 'a' });
    const current = await profile();
    await bench.claimOf('node', { metadata: { annotations: { 'karpenter.k8s.aws/instance-profile-name': 'used' } } });
    for (const name of ['used', 'young', 'old']) add(name);
    bench.iam.profiles.set('foreign', { path: '/karpenter/us-east-1/another/uid/', roles: [], tags: {} });
    await bench.run(20 * minuteMs);
    bench.services().profiles.protect('young');
    expect(bench.iam.profiles.has('old')).toBe(true);
    await bench.run(11 * minuteMs);
    expect([...bench.iam.profiles.keys()].toSorted()).toEqual([current, 'foreign', 'used', 'young'].toSorted());
  });

  test('an error ends the pass; it is tried again soon', async () => {
    await bench.run(1_000);
    add('old');
    const list = bench.iam.answers['ListInstanceProfiles'];
    bench.iam.answers['ListInstanceProfiles'] = () => {
      throw awsRefusal('AccessDenied', 'not you', 403);
    };
    await bench.run(30 * minuteMs);
    bench.iam.answers['ListInstanceProfiles'] = list as never;
    await bench.run(6 * minuteMs);
    expect(bench.iam.profiles.size).toBe(0);
  });
});

describe('deleting a class', () => {
  test('it stays while NodeClaims refer to it and tells which; it goes with the last', async () => {
    await bench.classOf();
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    for (const name of names) await bench.claimOf(name);
    await bench.claimOf('elsewhere', {}, 'other');
    await remove();
    expect(await bench.isGone()).toBe(false);
    const waiting = bench.events.filter(({ reason }) => reason === 'WaitingOnNodeClaimTermination');
    expect(waiting[0]).toMatchObject({
      type: 'Normal',
      subject: { kind: 'EC2NodeClass', name: 'default' },
      message: 'Waiting on NodeClaim termination for a, b, c, d, e and 2 other(s)',
    });
    for (const name of names) await bench.remove(nodeClaims, name);
    await bench.run(1_000);
    expect(await bench.isGone()).toBe(true);
  });

  test('its launch templates go, others stay; an error keeps the class', async () => {
    await bench.classOf();
    const templates = () => [...bench.world.templates.keys()];
    bench.world.templates.set('karpenter.k8s.aws/1', 'default').set('karpenter.k8s.aws/2', 'other');
    bench.world.errors['DeleteLaunchTemplate'] = awsRefusal('InternalError', 'down', 500);
    await remove();
    expect(await bench.isGone()).toBe(false);
    expect(templates()).toContain('karpenter.k8s.aws/1');
    bench.world.errors = {};
    await bench.run(2 * minuteMs);
    expect([await bench.isGone(), templates()]).toEqual([true, ['karpenter.k8s.aws/2']]);
  });

  test('a profile that is missing or has no role is not an obstacle', async () => {
    await bench.classOf({ role: 'a' });
    bench.iam.profiles.clear();
    await remove();
    expect(await bench.isGone()).toBe(true);
  });
});

test('in an isolated VPC the profile is left and the class goes; nothing is collected either', async () => {
  await bench.close();
  bench = await openNodeClasses({ isolatedVpc: true });
  await bench.classOf({ role: 'a' });
  await remove();
  expect([await bench.isGone(), bench.iam.profiles.size]).toEqual([true, 1]);
  await bench.run(120 * minuteMs);
  expect(bench.iam.profiles.size).toBe(1);
});
