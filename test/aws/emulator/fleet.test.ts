// CreateFleet of the emulator: the rules of EC2 that moto lacks.
import {
  CreateFleetCommand,
  DescribeInstanceAttributeCommand,
  DescribeSubnetsCommand,
  TerminateInstancesCommand,
} from '@aws-sdk/client-ec2';
import { expect, describe as suite, test } from 'vitest';
import { useAwsEmulator } from '../../setup/use-aws-emulator.ts';
import { createTemplate, describe, idsOf, launch, prepareAccount, useAccount } from './account.ts';

const emulator = useAwsEmulator();
const account = useAccount(emulator);

suite('which pool serves', () => {
  test('the cheapest, wherever it stands in the request', async () => {
    const fleet = await launch(account, { template: account.template, pools: ['m5.4xlarge', 'm5.large', 'm5.xlarge'] });
    expect(fleet.Instances?.[0]?.InstanceType).toBe('m5.large');
    expect(fleet.Errors).toEqual([]);
  });

  test('the one with the lowest priority number when the strategy says prioritized', async () => {
    const pools = ['m5.large', 'm5.xlarge'];
    const fleet = await launch(account, {
      template: account.template,
      pools,
      extra: {
        OnDemandOptions: { AllocationStrategy: 'prioritized' },
        LaunchTemplateConfigs: [
          {
            LaunchTemplateSpecification: { LaunchTemplateName: account.template, Version: '$Latest' },
            Overrides: pools.map((type, index) => ({
              InstanceType: type as 'm5.large',
              SubnetId: account.subnets[0]?.SubnetId,
              Priority: 10 - index,
            })),
          },
        ],
      },
    });
    expect(fleet.Instances?.[0]?.InstanceType).toBe('m5.xlarge');
  });

  test('the next one, with an error for each that has no capacity', async () => {
    emulator().control.exhaust(['spot:m5.large:us-east-1a']);
    const fleet = await launch(account, {
      template: account.template,
      capacityType: 'spot',
      pools: ['m5.large', 'm5.large@us-east-1b'],
    });
    expect(fleet.Instances?.[0]?.LaunchTemplateAndOverrides?.Overrides?.AvailabilityZone).toBe('us-east-1b');
    expect(fleet.Errors).toMatchObject([
      {
        ErrorCode: 'InsufficientInstanceCapacity',
        Lifecycle: 'spot',
        LaunchTemplateAndOverrides: { Overrides: { InstanceType: 'm5.large', AvailabilityZone: 'us-east-1a' } },
      },
    ]);
  });

  test('none, with errors only, when no pool has capacity; the other market is untouched', async () => {
    emulator().control.exhaust(['spot:*:*']);
    const spot = await launch(account, {
      template: account.template,
      capacityType: 'spot',
      pools: ['m5.large', 'm5.xlarge'],
    });
    expect(idsOf(spot)).toEqual([]);
    expect(spot.Errors?.map(({ ErrorCode }) => ErrorCode)).toEqual([
      'InsufficientInstanceCapacity',
      'InsufficientInstanceCapacity',
    ]);
    expect(idsOf(await launch(account, { template: account.template, pools: ['m5.large'] }))).toHaveLength(1);
  });

  test('several, when the first has fewer than wanted', async () => {
    emulator().control.setCapacity({ pool: 'on-demand:m5.large:us-east-1a', count: 2 });
    const fleet = await launch(account, { template: account.template, pools: ['m5.large', 'm5.xlarge'], count: 3 });
    expect(fleet.Instances?.map((entry) => [entry.InstanceType, entry.InstanceIds?.length])).toEqual([
      ['m5.large', 2],
      ['m5.xlarge', 1],
    ]);
    expect(fleet.Errors?.[0]?.ErrorCode).toBe('InsufficientInstanceCapacity');
  });

  test('none in a zone that does not offer the type, nor for an image of another architecture', async () => {
    const elsewhere = await launch(account, { template: account.template, pools: ['a1.large@us-east-1f'] });
    expect(elsewhere.Errors?.[0]?.ErrorCode).toBe('Unsupported');
    const arm = await launch(account, { template: account.template, pools: ['m6g.large'] });
    expect(arm.Errors?.[0]).toMatchObject({ ErrorCode: 'InvalidParameterValue' });
  });
});

suite('limits', () => {
  test('a subnet without free addresses refuses by its id; a terminated instance gives its address back', async () => {
    const subnetId = account.subnets[0]?.SubnetId ?? '';
    const free = async (): Promise<number | undefined> => {
      const { Subnets } = await account.ec2.send(new DescribeSubnetsCommand({ SubnetIds: [subnetId] }));
      return Subnets?.[0]?.AvailableIpAddressCount;
    };
    const before = await free();
    const fleet = await launch(account, { template: account.template, pools: ['m5.large'] });
    expect(await free()).toBe((before ?? 0) - 1);
    await account.ec2.send(new TerminateInstancesCommand({ InstanceIds: idsOf(fleet) }));
    expect(await free()).toBe(before);
    emulator().control.setFreeAddresses({ subnetId, count: 1 });
    const full = await launch(account, { template: account.template, pools: ['m5.large'], count: 2 });
    expect(idsOf(full)).toHaveLength(1);
    expect(full.Errors?.[0]?.ErrorCode).toBe('InsufficientFreeAddressesInSubnet');
    expect(full.Errors?.[0]?.ErrorMessage).toContain(subnetId);
  });

  test('a vCPU quota counts running instances of the market', async () => {
    emulator().control.setVcpuLimit({ capacityType: 'on-demand', vcpus: 4 });
    const first = await launch(account, { template: account.template, pools: ['m5.large'], count: 3 });
    expect(idsOf(first)).toHaveLength(2);
    expect(first.Errors?.[0]?.ErrorCode).toBe('VcpuLimitExceeded');
    await account.ec2.send(new TerminateInstancesCommand({ InstanceIds: idsOf(first) }));
    expect(idsOf(await launch(account, { template: account.template, pools: ['m5.large'] }))).toHaveLength(1);
  });

  test('any other error of a pool can be set', async () => {
    const message = 'not allowed to create the role';
    const code = 'AuthFailure.ServiceLinkedRoleCreationNotPermitted';
    emulator().control.setPoolError({ pool: 'spot:*:*', code, message });
    const fleet = await launch(account, { template: account.template, capacityType: 'spot', pools: ['m5.large'] });
    expect(fleet.Errors).toMatchObject([{ ErrorCode: code, ErrorMessage: message }]);
  });
});

suite('what the instance was launched with', () => {
  test('security groups, profile, tags, fleet id, image and user data of the template', async () => {
    const fleet = await launch(account, {
      template: account.template,
      pools: ['m5.large'],
      extra: {
        TagSpecifications: [{ ResourceType: 'instance', Tags: [{ Key: 'karpenter.sh/nodepool', Value: 'a' }] }],
      },
    });
    const instance = await describe(account, idsOf(fleet)[0] ?? '');
    expect(instance).toMatchObject({
      ImageId: account.imageId,
      InstanceType: 'm5.large',
      Architecture: 'x86_64',
      SecurityGroups: [{ GroupId: account.groupId }],
      State: { Name: 'running' },
      Placement: { AvailabilityZone: 'us-east-1a', Tenancy: 'default' },
    });
    expect(instance.IamInstanceProfile?.Arn).toMatch(new RegExp(`instance-profile/${account.profile}$`));
    expect(instance.NetworkInterfaces?.[0]?.Groups).toMatchObject([{ GroupId: account.groupId }]);
    expect(instance.Tags).toEqual(
      expect.arrayContaining([
        { Key: 'karpenter.sh/nodepool', Value: 'a' },
        { Key: 'aws:ec2:fleet-id', Value: fleet.FleetId },
      ]),
    );
    expect(instance.SpotInstanceRequestId).toBeUndefined();
    const { UserData } = await account.ec2.send(
      new DescribeInstanceAttributeCommand({ InstanceId: instance.InstanceId, Attribute: 'userData' }),
    );
    expect(Buffer.from(UserData?.Value ?? '', 'base64').toString()).toBe('hello');
  });

  test('spot instances carry their request id and life cycle', async () => {
    const fleet = await launch(account, { template: account.template, capacityType: 'spot', pools: ['m5.large'] });
    const instance = await describe(account, idsOf(fleet)[0] ?? '');
    expect(instance.InstanceLifecycle).toBe('spot');
    expect(instance.SpotInstanceRequestId).toMatch(/^sir-/);
  });

  test('EFA interfaces, metadata options, monitoring and tenancy', async () => {
    const efa = await createTemplate(account, {
      NetworkInterfaces: [
        { DeviceIndex: 0, NetworkCardIndex: 0, InterfaceType: 'efa', Groups: [account.groupId] },
        { DeviceIndex: 1, NetworkCardIndex: 1, InterfaceType: 'efa-only', Groups: [account.groupId] },
      ],
      MetadataOptions: { HttpTokens: 'required', HttpPutResponseHopLimit: 1 },
      Monitoring: { Enabled: true },
      Placement: { Tenancy: 'dedicated' },
    });
    const instance = await describe(
      account,
      idsOf(await launch(account, { template: efa, pools: ['m5.large'] }))[0] ?? '',
    );
    expect(instance.NetworkInterfaces).toMatchObject([
      { InterfaceType: 'efa', Attachment: { DeviceIndex: 0, NetworkCardIndex: 0 } },
      { InterfaceType: 'efa-only', Attachment: { DeviceIndex: 1, NetworkCardIndex: 1 } },
    ]);
    expect(instance.MetadataOptions).toMatchObject({ HttpTokens: 'required', HttpPutResponseHopLimit: 1 });
    expect(instance.Monitoring?.State).toBe('enabled');
    expect(instance.Placement?.Tenancy).toBe('dedicated');
  });

  test('private names of another region are that region’s', async () => {
    const west = await prepareAccount(emulator(), 'us-west-2');
    const name = await createTemplate(west);
    const instance = await describe(west, idsOf(await launch(west, { template: name, pools: ['m5.large'] }))[0] ?? '');
    expect(instance.PrivateDnsName).toMatch(/^ip-[\d-]+\.us-west-2\.compute\.internal$/);
  });

  test('the partition of a partition placement group', async () => {
    const group = emulator().control.addPlacementGroup({ groupName: 'pg', strategy: 'partition', partitionCount: 3 });
    const placed = await createTemplate(account, { Placement: { GroupId: group.groupId, PartitionNumber: 2 } });
    const instance = await describe(
      account,
      idsOf(await launch(account, { template: placed, pools: ['m5.large'] }))[0] ?? '',
    );
    expect(instance.Placement).toMatchObject({ GroupName: 'pg', PartitionNumber: 2 });
  });
});

suite('capacity reservations', () => {
  const reserved = (id: string) => ({
    CapacityReservationSpecification: {
      CapacityReservationPreference: 'capacity-reservations-only' as const,
      CapacityReservationTarget: { CapacityReservationId: id },
    },
  });

  test('a targeted launch takes from its reservation until nothing is left', async () => {
    const { id } = emulator().control.addCapacityReservation({
      instanceType: 'm5.large',
      zone: 'us-east-1a',
      instanceMatchCriteria: 'targeted',
    });
    const wish = { template: await createTemplate(account, reserved(id)), pools: ['m5.large'] };
    const [first = ''] = idsOf(await launch(account, wish));
    expect(await describe(account, first)).toMatchObject({
      CapacityReservationId: id,
      CapacityReservationSpecification: { CapacityReservationPreference: 'capacity-reservations-only' },
    });
    const second = await launch(account, wish);
    expect(second.Errors?.[0]?.ErrorCode).toBe('ReservationCapacityExceeded');
    await account.ec2.send(new TerminateInstancesCommand({ InstanceIds: [first] }));
    expect(idsOf(await launch(account, wish))).toHaveLength(1);
  });

  test('an on-demand launch that says nothing uses an open one, one that says none does not', async () => {
    const { id } = emulator().control.addCapacityReservation({
      instanceType: 'm5.large',
      zone: 'us-east-1a',
      totalInstanceCount: 5,
    });
    const none = await createTemplate(account, {
      CapacityReservationSpecification: { CapacityReservationPreference: 'none' },
    });
    const [silent = ''] = idsOf(await launch(account, { template: account.template, pools: ['m5.large'] }));
    const [refusing = ''] = idsOf(await launch(account, { template: none, pools: ['m5.large'] }));
    expect((await describe(account, silent)).CapacityReservationId).toBe(id);
    expect((await describe(account, refusing)).CapacityReservationId).toBeUndefined();
  });

  test('capacity blocks and interruptible reservations show their life cycle', async () => {
    for (const [capacityType, lifecycle] of [
      ['capacity-block', 'capacity-block'],
      ['reserved-capacity', 'interruptible-capacity-reservation'],
    ] as const) {
      const { id } = emulator().control.addCapacityReservation({ instanceType: 'm5.large', zone: 'us-east-1a' });
      const name = await createTemplate(account, reserved(id));
      const [instanceId = ''] = idsOf(await launch(account, { template: name, pools: ['m5.large'], capacityType }));
      expect((await describe(account, instanceId)).InstanceLifecycle).toBe(lifecycle);
    }
  });
});

suite('requests', () => {
  test('the same client token gets the same instances, other parameters under it are refused', async () => {
    const extra = { ClientToken: 'once' };
    const first = await launch(account, { template: account.template, pools: ['m5.large'], extra });
    const again = await launch(account, { template: account.template, pools: ['m5.large'], extra });
    expect(idsOf(again)).toEqual(idsOf(first));
    await expect(launch(account, { template: account.template, pools: ['m5.xlarge'], extra })).rejects.toMatchObject({
      name: 'IdempotentParameterMismatch',
    });
  });

  test('a dry run checks what the request names', async () => {
    const dry = { extra: { DryRun: true } };
    await expect(launch(account, { template: account.template, pools: ['m5.large'], ...dry })).rejects.toMatchObject({
      name: 'DryRunOperation',
    });
    await expect(launch(account, { template: 'absent', pools: ['m5.large'], ...dry })).rejects.toMatchObject({
      name: 'InvalidLaunchTemplateName.NotFoundException',
    });
    const noProfile = await createTemplate(account, { IamInstanceProfile: { Name: 'absent' } });
    await expect(launch(account, { template: noProfile, pools: ['m5.large'], ...dry })).rejects.toThrow(
      'iamInstanceProfile.name is invalid',
    );
  });

  test('a fleet without overrides is refused by name', async () => {
    const command = new CreateFleetCommand({
      Type: 'instant',
      TargetCapacitySpecification: { TotalTargetCapacity: 1 },
      LaunchTemplateConfigs: [
        { LaunchTemplateSpecification: { LaunchTemplateName: account.template, Version: '$Latest' } },
      ],
    });
    await expect(account.ec2.send(command)).rejects.toMatchObject({ name: 'InvalidFleetConfiguration' });
  });
});
