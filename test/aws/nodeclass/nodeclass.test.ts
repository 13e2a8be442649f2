// The life of an EC2NodeClass against the emulated AWS: what its selectors really find, what is made and deleted in IAM
// and EC2, what its conditions say.
import { DescribeLaunchTemplatesCommand } from '@aws-sdk/client-ec2';
import { CreateInstanceProfileCommand } from '@aws-sdk/client-iam';
import { PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { afterEach, beforeEach, expect, describe as suite, test } from 'vitest';
import { ec2NodeClasses } from '../../../src/aws/index.ts';
import { nodeClaims } from '../../../src/controllers/index.ts';
import { useAwsEmulator } from '../../setup/use-aws-emulator.ts';
import { clusterName, type NodeClassRig, openRig } from './node-class-rig.ts';

const emulator = useAwsEmulator();
let rig: NodeClassRig;
beforeEach(async () => {
  await emulator().control.reset();
  rig = await openRig(emulator());
  rig.control.forgetCalls();
});
afterEach(() => rig.stop());

const status = async () => (await rig.get())?.status ?? {};
const actions = (action: string) => rig.control.calls().filter((call) => call.action === action);
const ready = async (spec: Parameters<NodeClassRig['apply']>[0] = {}) => {
  await rig.apply(spec);
  return rig.reconcile();
};

suite('an ordinary class', () => {
  test('becomes ready: subnets, groups, images, profile, and launches that would be let through', async () => {
    rig.taggedSubnets.forEach(({ SubnetId = '' }, index) =>
      rig.control.setFreeAddresses({ subnetId: SubnetId, count: [20, 100, 50][index] ?? 0 }),
    );
    expect(await ready()).toEqual({ kind: 'again', afterMs: 60_000 });
    const { subnets, securityGroups, amis, instanceProfile } = await status();
    const [a, b, c] = rig.taggedSubnets;
    expect(subnets?.map(({ id }) => id)).toEqual([b?.SubnetId, c?.SubnetId, a?.SubnetId]);
    expect(subnets?.[0]).toEqual({ id: b?.SubnetId, zone: b?.AvailabilityZone, zoneID: b?.AvailabilityZoneId });
    expect(securityGroups?.map(({ id }) => id)).toEqual([rig.groupId]);
    expect(amis).toHaveLength(5);
    for (const { name } of amis ?? []) expect(name).toMatch(/^amazon-eks-node-al2023-.*-1\.34-v20260610$/);
    const profile = await rig.profileNamed(instanceProfile ?? '');
    expect(profile?.Path).toMatch(new RegExp(`^/karpenter/us-east-1/${clusterName}/.+/$`));
    expect(profile?.Roles?.map(({ RoleName }) => RoleName)).toEqual(['node-role']);
    const tags = Object.fromEntries(profile?.Tags?.map(({ Key, Value }) => [Key, Value]) ?? []);
    expect(tags).toEqual({
      [`kubernetes.io/cluster/${clusterName}`]: 'owned',
      'eks:eks-cluster-name': clusterName,
      'karpenter.k8s.aws/ec2nodeclass': 'default',
      'topology.kubernetes.io/region': 'us-east-1',
    });
    expect(await rig.condition('Ready')).toMatchObject({ status: 'True', reason: 'Ready' });
    expect(actions('CreateFleet')).toHaveLength(1);
    expect(actions('RunInstances')).toHaveLength(1);
  });

  test('asks nothing again within the minute that its answers are believed', async () => {
    await ready();
    rig.control.forgetCalls();
    await rig.reconcile();
    expect(rig.control.calls()).toEqual([]);
  });

  test('finds images by pinned alias, id, name, tags, owner and parameter', async () => {
    const [image] = rig.control.images().filter(({ architecture }) => architecture === 'arm64');
    rig.control.setImage({
      imageId: 'ami-0123456789abcdef0',
      name: 'mine-1',
      ownerId: '123456789012',
      architecture: 'x86_64',
      creationDate: '2026-01-01T00:00:00.000Z',
      tags: { team: 'a' },
    });
    const ssm = new SSMClient(emulator().clientOptions);
    await ssm.send(new PutParameterCommand({ Name: '/mine/image', Value: 'ami-0123456789abcdef0', Type: 'String' }));
    const own = ['ami-0123456789abcdef0'];
    const cases = [
      [[{ id: image?.imageId ?? '' }], [image?.imageId]],
      [[{ name: 'mine-*' }], own],
      [[{ tags: { team: 'a' } }], own],
      [[{ name: 'mine-1', owner: 'self' }], own],
      [[{ ssmParameter: '/mine/image' }], own],
    ] as const;
    await ready({ amiSelectorTerms: [{ alias: 'bottlerocket@v1.52.0' }] });
    expect((await status()).amis).toHaveLength(5);
    for (const [amiSelectorTerms, expected] of cases) {
      await rig.apply({ amiSelectorTerms: [...amiSelectorTerms], amiFamily: 'Custom' });
      await rig.reconcile();
      expect((await status()).amis?.map(({ id }) => id)).toEqual(expected);
    }
    ssm.destroy();
  });

  test('finds capacity reservations and its placement group', async () => {
    const reservation = rig.control.addCapacityReservation({
      instanceType: 'm5.large',
      zone: 'us-east-1a',
      tags: { team: 'a' },
      totalInstanceCount: 7,
    });
    const group = rig.control.addPlacementGroup({ groupName: 'tight', strategy: 'partition', partitionCount: 3 });
    await ready({
      capacityReservationSelectorTerms: [{ tags: { team: 'a' } }],
      placementGroupSelector: { name: 'tight' },
    });
    expect((await status()).capacityReservations).toMatchObject([{ id: reservation.id, state: 'active' }]);
    expect(rig.counts.available(reservation.id)).toBe(7);
    const nodeClass = await rig.get();
    expect(nodeClass && rig.placementGroups.known(nodeClass)).toMatchObject({ id: group.groupId, partitions: 3 });
    await rig.apply({ placementGroupSelector: { name: 'elsewhere' } });
    await rig.reconcile();
    expect(await rig.condition('PlacementGroupReady')).toMatchObject({
      status: 'False',
      reason: 'PlacementGroupNotFound',
      message: 'Placement group "elsewhere" not found',
    });
  });
});

suite('a class with something wrong', () => {
  test('selects nothing: reported, and looked for again in a minute', async () => {
    const outcome = await ready({ subnetSelectorTerms: [{ tags: { team: 'nobody' } }] });
    expect(outcome).toEqual({ kind: 'again', afterMs: 60_000 });
    expect(await rig.condition('SubnetsReady')).toMatchObject({ status: 'False', reason: 'SubnetsNotFound' });
    expect(await rig.condition('ValidationSucceeded')).toMatchObject({ reason: 'DependenciesNotReady' });
    expect((await status()).subnets).toBeUndefined();
  });

  test('names a role that does not exist: unknown, and no profile is left behind', async () => {
    await rig.apply({ role: 'ghost' });
    await expect(rig.reconcile()).rejects.toThrow('role not found');
    for (const type of ['InstanceProfileReady', 'ValidationSucceeded', 'Ready'])
      expect(await rig.condition(type)).toMatchObject({ status: 'Unknown' });
    expect(actions('DeleteInstanceProfile')).toHaveLength(1);
  });

  test('may not be launched: the denial is reported in words, and dry runs are tried once each', async () => {
    rig.control.addFault({
      action: 'CreateFleet',
      count: 10,
      code: 'UnauthorizedOperation',
      status: 403,
      message: 'no',
    });
    await ready();
    expect(await rig.condition('ValidationSucceeded')).toMatchObject({
      status: 'False',
      reason: 'CreateFleetAuthCheckFailed',
      message:
        "Controller isn't authorized to call ec2:CreateFleet: User is not authorized to perform this operation because no identity-based policy allows it",
    });
    expect(actions('CreateFleet')).toHaveLength(1);
  });

  test('meets a throttled EC2: the dry run is not repeated by the SDK, but soon by us', async () => {
    rig.control.addFault({ action: 'CreateFleet', count: 1, code: 'RequestLimitExceeded', status: 503 });
    expect(await ready()).toEqual({ kind: 'again', afterMs: 5_000 });
    expect(actions('CreateFleet')).toHaveLength(1);
    await rig.reconcile();
    expect(await rig.condition('Ready')).toMatchObject({ status: 'True' });
  });

  test('has too much user data: reported as such', async () => {
    await ready({ userData: `#!/bin/bash\n${'echo hello\n'.repeat(2_000)}` });
    expect(await rig.condition('ValidationSucceeded')).toMatchObject({ reason: 'UserDataSizeLimitExceeded' });
  });
});

suite('deleting a class', () => {
  test('waits for its claims, then takes its own profiles and templates with it', async () => {
    await ready();
    const made = (await status()).instanceProfile ?? '';
    await rig.iam.send(
      new CreateInstanceProfileCommand({ InstanceProfileName: 'other', Path: '/karpenter/us-east-1/other/x/' }),
    );
    await rig.claim('node-1');
    await rig.remove(ec2NodeClasses, 'default');
    expect(await rig.reconcile()).toEqual({ kind: 'again', afterMs: 600_000 });
    expect(rig.events.at(-1)?.message).toBe('Waiting on NodeClaim termination for node-1');
    await rig.remove(nodeClaims, 'node-1');
    expect(await rig.reconcile()).toEqual({ kind: 'done' });
    expect(await rig.get()).toBeUndefined();
    expect(await rig.profileNamed(made)).toBeUndefined();
    expect(await rig.profileNamed('other')).toBeDefined();
    const { LaunchTemplates } = await rig.ec2.send(new DescribeLaunchTemplatesCommand({}));
    expect(LaunchTemplates).toEqual([]);
  });
});

suite('beside the class', () => {
  test('profiles that nothing uses are collected, protected and used ones are not', async () => {
    await ready();
    const current = (await status()).instanceProfile ?? '';
    const path = `/karpenter/us-east-1/${clusterName}/gone/`;
    for (const name of ['unused', 'used'])
      await rig.iam.send(new CreateInstanceProfileCommand({ InstanceProfileName: name, Path: path }));
    await rig.claim('node-1', { 'karpenter.k8s.aws/instance-profile-name': 'used' });
    // Seen as unused twice, some seconds apart.
    await rig.reconcile('profiles', 'instanceprofile.garbagecollection');
    await rig.clock.runFor(10_000);
    await rig.reconcile('profiles', 'instanceprofile.garbagecollection');
    const left = await Promise.all(
      [current, 'used', 'unused'].map(async (name) => (await rig.profileNamed(name)) !== undefined),
    );
    expect(left).toEqual([true, true, false]);
  });

  test('the hash is stamped with the version of the clusters we take over', async () => {
    await rig.apply();
    await rig.reconcile('default', 'nodeclass.hash');
    expect((await rig.get())?.metadata.annotations).toMatchObject({
      'karpenter.k8s.aws/ec2nodeclass-hash': expect.stringMatching(/^\d+$/),
      'karpenter.k8s.aws/ec2nodeclass-hash-version': 'v6',
    });
  });

  test('what latest stood for is asked for again once it is deprecated', async () => {
    await ready();
    const old = (await status()).amis?.[0]?.id ?? '';
    const known = rig.control.images().find(({ imageId }) => imageId === old);
    if (known !== undefined) rig.control.setImage({ ...known, deprecationTime: '2026-01-01T00:00:00.000Z' });
    rig.control.forgetCalls();
    await rig.reconcile('parameters', 'providers.ssm.invalidation');
    await rig.apply({ detailedMonitoring: true });
    await rig.reconcile();
    expect(actions('GetParameter')).toHaveLength(1);
  });
});
