// The lists of the emulator: instances and their states, types, offerings, prices, images, templates, groups.
import {
  CreateCapacityReservationCommand,
  CreateLaunchTemplateCommand,
  CreatePlacementGroupCommand,
  CreateTagsCommand,
  DeleteLaunchTemplateCommand,
  DescribeCapacityReservationsCommand,
  DescribeImagesCommand,
  type DescribeImagesCommandInput,
  DescribeInstanceStatusCommand,
  DescribeInstancesCommand,
  DescribeInstanceTypeOfferingsCommand,
  DescribeInstanceTypesCommand,
  DescribeLaunchTemplatesCommand,
  DescribePlacementGroupsCommand,
  DescribeSpotPriceHistoryCommand,
  type InstanceTypeInfo,
  paginateDescribeInstances,
  paginateDescribeInstanceTypes,
  paginateDescribeLaunchTemplates,
  RunInstancesCommand,
  TerminateInstancesCommand,
} from '@aws-sdk/client-ec2';
import { beforeAll, expect, describe as suite, test } from 'vitest';
import { useAwsEmulator } from '../../setup/use-aws-emulator.ts';
import { createTemplate, describe, idsOf, launch, useAccount } from './account.ts';

const emulator = useAwsEmulator();
const account = useAccount(emulator);

const launchOne = async (tags: Record<string, string> = {}): Promise<string> => {
  const Tags = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
  const extra = Tags.length > 0 ? { TagSpecifications: [{ ResourceType: 'instance' as const, Tags }] } : {};
  const [id = ''] = idsOf(await launch(account, { template: account.template, pools: ['m5.large'], extra }));
  return id;
};

suite('instances', () => {
  test('two filters of the same name must both match', async () => {
    await launchOne({ a: '1' });
    const both = await launchOne({ a: '1', b: '2' });
    const { Reservations = [] } = await account.ec2.send(
      new DescribeInstancesCommand({
        Filters: [
          { Name: 'tag-key', Values: ['b'] },
          { Name: 'tag-key', Values: ['a'] },
          { Name: 'instance-state-name', Values: ['pending', 'running'] },
        ],
      }),
    );
    expect(Reservations.flatMap(({ Instances = [] }) => Instances.map(({ InstanceId }) => InstanceId))).toEqual([both]);
  });

  test('an id may be asked for twice, and is shown once', async () => {
    const id = await launchOne();
    const { Reservations } = await account.ec2.send(new DescribeInstancesCommand({ InstanceIds: [id, id] }));
    expect(Reservations).toHaveLength(1);
  });

  test('pages cover everything once', async () => {
    const ids = [await launchOne(), await launchOne(), await launchOne()];
    const seen: (string | undefined)[] = [];
    let pages = 0;
    for await (const page of paginateDescribeInstances({ client: account.ec2, pageSize: 2 }, {})) {
      pages += 1;
      for (const { Instances = [] } of page.Reservations ?? []) seen.push(...Instances.map((each) => each.InstanceId));
    }
    expect(seen.sort()).toEqual(ids.sort());
    expect(pages).toBe(2);
  });

  test('live from pending over running and shutting-down to terminated, and are forgotten, by the emulator’s clock', async () => {
    const { control } = emulator();
    control.setLifecycle({ pendingMs: 10_000, shuttingDownMs: 20_000, forgetMs: 60_000 });
    const id = await launchOne();
    const state = async (): Promise<string | undefined> => (await describe(account, id)).State?.Name;
    expect(await state()).toBe('pending');
    control.advanceClock({ byMs: 10_000 });
    expect(await state()).toBe('running');
    const { TerminatingInstances } = await account.ec2.send(new TerminateInstancesCommand({ InstanceIds: [id] }));
    expect(TerminatingInstances).toMatchObject([
      { CurrentState: { Name: 'shutting-down' }, PreviousState: { Name: 'running' } },
    ]);
    expect(await state()).toBe('shutting-down');
    control.advanceClock({ byMs: 20_000 });
    expect(await state()).toBe('terminated');
    control.advanceClock({ byMs: 60_000 });
    await expect(state()).rejects.toMatchObject({ name: 'InvalidInstanceID.NotFound' });
  });

  test('one that does not exist can be neither tagged nor terminated', async () => {
    const absent = ['i-0123456789abcdef0'];
    const tag = new CreateTagsCommand({ Resources: absent, Tags: [{ Key: 'a', Value: 'b' }] });
    await expect(account.ec2.send(tag)).rejects.toMatchObject({ name: 'InvalidInstanceID.NotFound' });
    const terminate = new TerminateInstancesCommand({ InstanceIds: absent });
    await expect(account.ec2.send(terminate)).rejects.toMatchObject({ name: 'InvalidInstanceID.NotFound' });
  });

  test('a status filter shows only instances in that status', async () => {
    const [impaired, scheduled] = [await launchOne(), await launchOne(), await launchOne()];
    emulator().control.setHealth({
      instanceId: impaired,
      systemStatus: 'impaired',
      impairedSince: '2026-01-01T00:00:00Z',
    });
    emulator().control.setHealth({ instanceId: scheduled, events: [{ code: 'instance-retirement' }] });
    const withFilter = async (Name: string, Values: string[]) =>
      (await account.ec2.send(new DescribeInstanceStatusCommand({ Filters: [{ Name, Values }] }))).InstanceStatuses;
    expect(await withFilter('system-status.status', ['impaired'])).toMatchObject([
      {
        InstanceId: impaired,
        SystemStatus: { Details: [{ Status: 'failed', ImpairedSince: new Date('2026-01-01T00:00:00Z') }] },
      },
    ]);
    expect(await withFilter('event.code', ['instance-retirement', 'instance-stop'])).toMatchObject([
      { InstanceId: scheduled, Events: [{ Code: 'instance-retirement' }] },
    ]);
    expect(await withFilter('instance-status.status', ['impaired'])).toEqual([]);
  });
});

suite('the catalogue', () => {
  test('types come in pages of at most 100, with every field the provider reads', async () => {
    const types: InstanceTypeInfo[] = [];
    const filters = [
      { Name: 'supported-virtualization-type', Values: ['hvm'] },
      { Name: 'processor-info.supported-architecture', Values: ['x86_64', 'arm64'] },
    ];
    const pages = paginateDescribeInstanceTypes({ client: account.ec2, pageSize: 100 }, { Filters: filters });
    for await (const page of pages) {
      expect(page.InstanceTypes?.length).toBeLessThanOrEqual(100);
      types.push(...(page.InstanceTypes ?? []));
    }
    expect(types.length).toBeGreaterThan(1000);
    expect(new Set(types.map(({ InstanceType }) => InstanceType)).size).toBe(types.length);
    const find = (name: string) => types.find(({ InstanceType }) => InstanceType === name);
    expect(find('t2.micro')?.Hypervisor).toBe('xen');
    expect(find('g4dn.8xlarge')).toMatchObject({
      VCpuInfo: { DefaultVCpus: 32 },
      MemoryInfo: { SizeInMiB: 131_072 },
      ProcessorInfo: { Manufacturer: 'Intel', SupportedArchitectures: ['x86_64'], SustainedClockSpeedInGhz: 2.5 },
      GpuInfo: { Gpus: [{ Name: 'T4', Manufacturer: 'NVIDIA', Count: 1, MemoryInfo: { SizeInMiB: 16_384 } }] },
      InstanceStorageInfo: { TotalSizeInGB: 900, NvmeSupport: 'required' },
      EbsInfo: { EbsOptimizedSupport: 'default', EbsOptimizedInfo: { MaximumBandwidthInMbps: 9500 } },
      NetworkInfo: { EnaSupport: 'required', EfaInfo: { MaximumEfaInterfaces: 1 } },
      SupportedUsageClasses: ['on-demand', 'spot'],
    });
    expect(find('inf2.xlarge')?.NeuronInfo?.NeuronDevices?.[0]).toMatchObject({ Name: 'Inferentia2', Count: 1 });
  });

  test('a dry run of DescribeInstanceTypes says that it would have worked', async () => {
    await expect(account.ec2.send(new DescribeInstanceTypesCommand({ DryRun: true }))).rejects.toMatchObject({
      name: 'DryRunOperation',
      $metadata: { httpStatusCode: 412 },
    });
  });

  test('offerings by zone and by zone id, with wildcards', async () => {
    const Filters = [{ Name: 'instance-type', Values: ['a1.met*'] }];
    const locations = async (LocationType: 'availability-zone' | 'availability-zone-id') => {
      const command = new DescribeInstanceTypeOfferingsCommand({ LocationType, Filters });
      const { InstanceTypeOfferings = [] } = await account.ec2.send(command);
      return InstanceTypeOfferings.map(({ Location }) => Location);
    };
    expect(await locations('availability-zone')).toEqual(['us-east-1a', 'us-east-1b', 'us-east-1c']);
    expect((await locations('availability-zone-id')).every((id) => id?.startsWith('use1-az'))).toBe(true);
  });

  test('spot prices are current, below on-demand, and vanish where a test takes the market away', async () => {
    const prices = async () => {
      const { SpotPriceHistory = [] } = await account.ec2.send(
        new DescribeSpotPriceHistoryCommand({ InstanceTypes: ['m5.large'], ProductDescriptions: ['Linux/UNIX'] }),
      );
      return SpotPriceHistory;
    };
    const [first] = await prices();
    expect(Number(first?.SpotPrice)).toBeGreaterThan(0);
    expect(Number(first?.SpotPrice)).toBeLessThan(0.096);
    expect(Math.abs(Date.now() - (first?.Timestamp?.getTime() ?? 0))).toBeLessThan(60_000);
    emulator().control.setSpotPrice({ instanceType: 'm5.large', zone: 'us-east-1a' });
    emulator().control.setSpotPrice({ instanceType: 'm5.large', zone: 'us-east-1b', price: 0.01 });
    const after = new Map((await prices()).map((row) => [row.AvailabilityZone, row.SpotPrice]));
    expect(after.has('us-east-1a')).toBe(false);
    expect(after.get('us-east-1b')).toBe('0.010000');
  });
});

suite('images', () => {
  test('are found by name with wildcards, owner and tags; deprecated ones only when asked for', async () => {
    emulator().control.setImage({
      imageId: 'ami-00000000000000001',
      name: 'mine-1',
      ownerId: '123456789012',
      architecture: 'arm64',
      creationDate: '2026-02-01T00:00:00.000Z',
      tags: { team: 'a' },
    });
    emulator().control.setImage({
      imageId: 'ami-00000000000000002',
      name: 'old',
      ownerId: '111111111111',
      architecture: 'x86_64',
      creationDate: '2020-02-01T00:00:00.000Z',
      deprecationTime: '2022-02-01T00:00:00.000Z',
    });
    const names = async (input: DescribeImagesCommandInput) => {
      const { Images = [] } = await account.ec2.send(new DescribeImagesCommand(input));
      return Images.map(({ Name }) => Name);
    };
    expect(await names({ Owners: ['self'], Filters: [{ Name: 'name', Values: ['mine-*'] }] })).toEqual(['mine-1']);
    expect(await names({ Filters: [{ Name: 'tag:team', Values: ['a'] }] })).toEqual(['mine-1']);
    expect(await names({ Owners: ['amazon'], Filters: [{ Name: 'name', Values: ['mine-*'] }] })).toEqual([]);
    const old = { Filters: [{ Name: 'image-id', Values: ['ami-00000000000000002'] }] };
    expect(await names(old)).toEqual([]);
    expect(await names({ ...old, IncludeDeprecated: true })).toEqual(['old']);
  });
});

suite('launch templates', () => {
  test('are listed in pages by tag', async () => {
    for (const name of ['p1', 'p2', 'p3', 'p4', 'p5']) {
      await account.ec2.send(
        new CreateLaunchTemplateCommand({
          LaunchTemplateName: name,
          LaunchTemplateData: {},
          TagSpecifications: [{ ResourceType: 'launch-template', Tags: [{ Key: 'cluster', Value: 'c' }] }],
        }),
      );
    }
    const seen: (string | undefined)[] = [];
    const input = { Filters: [{ Name: 'tag:cluster', Values: ['c'] }] };
    for await (const page of paginateDescribeLaunchTemplates({ client: account.ec2, pageSize: 2 }, input)) {
      seen.push(...(page.LaunchTemplates ?? []).map(({ LaunchTemplateName }) => LaunchTemplateName));
    }
    expect(seen.sort()).toEqual(['p1', 'p2', 'p3', 'p4', 'p5']);
  });

  test('one that does not exist is named so, by name and by id, when described and when deleted', async () => {
    const unknownName = { name: 'InvalidLaunchTemplateName.NotFoundException' };
    const unknownId = { name: 'InvalidLaunchTemplateId.NotFound' };
    const { ec2 } = account;
    const id = 'lt-0123456789abcdef0';
    const described = ec2.send(new DescribeLaunchTemplatesCommand({ LaunchTemplateNames: ['absent'] }));
    await expect(described).rejects.toMatchObject(unknownName);
    const byId = ec2.send(new DescribeLaunchTemplatesCommand({ LaunchTemplateIds: [id] }));
    await expect(byId).rejects.toMatchObject(unknownId);
    await ec2.send(new DeleteLaunchTemplateCommand({ LaunchTemplateName: account.template }));
    const again = ec2.send(new DeleteLaunchTemplateCommand({ LaunchTemplateName: account.template }));
    await expect(again).rejects.toMatchObject(unknownName);
    const deleted = ec2.send(new DeleteLaunchTemplateCommand({ LaunchTemplateId: id }));
    await expect(deleted).rejects.toMatchObject(unknownId);
  });

  test('user data of more than 16384 bytes is refused, of exactly that many is not', async () => {
    const data = (bytes: number) => ({ UserData: Buffer.alloc(bytes, 'x').toString('base64') });
    await createTemplate(account, data(16_384));
    await expect(createTemplate(account, data(16_385))).rejects.toThrow('User data is limited to 16384 bytes');
  });
});

suite('what moto does not have', () => {
  test('placement groups are created and found by name and id', async () => {
    const create = new CreatePlacementGroupCommand({ GroupName: 'g', Strategy: 'partition', PartitionCount: 4 });
    const { PlacementGroup } = await account.ec2.send(create);
    const byId = new DescribePlacementGroupsCommand({ GroupIds: [PlacementGroup?.GroupId ?? ''] });
    const { PlacementGroups } = await account.ec2.send(byId);
    expect(PlacementGroups).toMatchObject([
      { GroupName: 'g', Strategy: 'partition', PartitionCount: 4, State: 'available' },
    ]);
    const absent = new DescribePlacementGroupsCommand({ GroupNames: ['absent'] });
    await expect(account.ec2.send(absent)).rejects.toMatchObject({ name: 'InvalidPlacementGroup.Unknown' });
  });

  test('capacity reservations are created and found by tag, state and criteria', async () => {
    await account.ec2.send(
      new CreateCapacityReservationCommand({
        InstanceType: 'm5.large',
        InstancePlatform: 'Linux/UNIX',
        AvailabilityZone: 'us-east-1a',
        InstanceCount: 3,
        InstanceMatchCriteria: 'targeted',
        TagSpecifications: [{ ResourceType: 'capacity-reservation', Tags: [{ Key: 'k', Value: 'v' }] }],
      }),
    );
    const { CapacityReservations } = await account.ec2.send(
      new DescribeCapacityReservationsCommand({
        Filters: [
          { Name: 'state', Values: ['active'] },
          { Name: 'tag:k', Values: ['v'] },
          { Name: 'instance-match-criteria', Values: ['targeted'] },
        ],
      }),
    );
    expect(CapacityReservations).toMatchObject([
      {
        InstanceType: 'm5.large',
        TotalInstanceCount: 3,
        AvailableInstanceCount: 3,
        ReservationType: 'default',
        Interruptible: false,
      },
    ]);
  });
});

suite('dry runs of RunInstances', () => {
  let run: (LaunchTemplateName: string, ...subnetIds: (string | undefined)[]) => Promise<unknown>;
  beforeAll(() => {
    run = (LaunchTemplateName, ...subnetIds) =>
      account.ec2.send(
        new RunInstancesCommand({
          DryRun: true,
          MinCount: 1,
          MaxCount: 1,
          InstanceType: 'm5.large',
          LaunchTemplate: { LaunchTemplateName, Version: '$Latest' },
          NetworkInterfaces: subnetIds.map((SubnetId, DeviceIndex) => ({ DeviceIndex, SubnetId })),
        }),
      );
  });

  test('succeed when all that is named exists, be it once per interface', async () => {
    const subnet = account.subnets[0]?.SubnetId;
    for (const subnets of [[subnet], [subnet, subnet]]) {
      await expect(run(account.template, ...subnets)).rejects.toMatchObject({ name: 'DryRunOperation' });
    }
  });

  test('name the missing template, subnet or image', async () => {
    await expect(run('absent')).rejects.toMatchObject({ name: 'InvalidLaunchTemplateName.NotFoundException' });
    await expect(run(account.template, 'subnet-0123456789abcdef0')).rejects.toMatchObject({
      name: 'InvalidSubnetID.NotFound',
    });
    const noImage = await createTemplate(account, { ImageId: 'ami-0123456789abcdef0' });
    await expect(run(noImage)).rejects.toMatchObject({ name: 'InvalidAMIID.NotFound' });
  });
});
