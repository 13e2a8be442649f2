// A small account to launch into: subnets of the default network, a security group, a role's profile, a template.
import {
  CreateFleetCommand,
  type CreateFleetCommandInput,
  type CreateFleetCommandOutput,
  CreateLaunchTemplateCommand,
  CreateSecurityGroupCommand,
  DescribeInstancesCommand,
  DescribeSubnetsCommand,
  EC2Client,
  type Instance,
  type RequestLaunchTemplateData,
  type Subnet,
} from '@aws-sdk/client-ec2';
import {
  AddRoleToInstanceProfileCommand,
  CreateInstanceProfileCommand,
  CreateRoleCommand,
  IAMClient,
} from '@aws-sdk/client-iam';
import { beforeEach } from 'vitest';
import type { AwsEmulator } from '../../setup/aws-emulator.ts';

export interface Account {
  ec2: EC2Client;
  iam: IAMClient;
  subnets: Subnet[];
  groupId: string;
  profile: string;
  imageId: string;
}

let serial = 0;

export async function prepareAccount(emulator: AwsEmulator, region = 'us-east-1'): Promise<Account> {
  serial += 1;
  const ec2 = new EC2Client({ ...emulator.clientOptions, region });
  const iam = new IAMClient(emulator.clientOptions);
  const { Subnets: subnets = [] } = await ec2.send(new DescribeSubnetsCommand({}));
  const vpc = subnets[0]?.VpcId;
  const group = await ec2.send(
    new CreateSecurityGroupCommand({ GroupName: `nodes-${serial}`, Description: 'nodes', VpcId: vpc }),
  );
  const profile = `profile-${serial}`;
  await iam.send(new CreateRoleCommand({ RoleName: `role-${serial}`, AssumeRolePolicyDocument: '{}' }));
  await iam.send(new CreateInstanceProfileCommand({ InstanceProfileName: profile }));
  await iam.send(new AddRoleToInstanceProfileCommand({ InstanceProfileName: profile, RoleName: `role-${serial}` }));
  const image = emulator.control.images().find(({ architecture }) => architecture === 'x86_64');
  return { ec2, iam, subnets, groupId: group.GroupId ?? '', profile, imageId: image?.imageId ?? '' };
}

/** A fresh account with one template for each test of a file. Filled by beforeEach. */
export function useAccount(emulator: () => AwsEmulator): Account & { template: string } {
  const account = { template: '' } as Account & { template: string };
  beforeEach(async () => {
    await emulator().control.reset();
    Object.assign(account, await prepareAccount(emulator()));
    account.template = await createTemplate(account);
  });
  return account;
}

export async function createTemplate(account: Account, data: RequestLaunchTemplateData = {}): Promise<string> {
  serial += 1;
  const name = `karpenter.k8s.aws/${serial}`;
  const { imageId, profile, groupId } = account;
  await account.ec2.send(
    new CreateLaunchTemplateCommand({
      LaunchTemplateName: name,
      LaunchTemplateData: {
        ImageId: imageId,
        IamInstanceProfile: { Name: profile },
        NetworkInterfaces: [{ DeviceIndex: 0, Groups: [groupId] }],
        UserData: Buffer.from('hello').toString('base64'),
        ...data,
      },
    }),
  );
  return name;
}

export interface FleetWish {
  template: string;
  /** `type` or `type@zone`; zone a of the region if absent. */
  pools: string[];
  count?: number;
  capacityType?: 'spot' | 'on-demand' | 'capacity-block' | 'reserved-capacity';
  extra?: Partial<CreateFleetCommandInput>;
}

export function launch(account: Account, wish: FleetWish): Promise<CreateFleetCommandOutput> {
  const { template, pools, count = 1, capacityType = 'on-demand', extra = {} } = wish;
  return account.ec2.send(
    new CreateFleetCommand({
      Type: 'instant',
      TargetCapacitySpecification: { TotalTargetCapacity: count, DefaultTargetCapacityType: capacityType },
      ...(capacityType === 'spot' ? { SpotOptions: { AllocationStrategy: 'price-capacity-optimized' } } : {}),
      LaunchTemplateConfigs: [
        {
          LaunchTemplateSpecification: { LaunchTemplateName: template, Version: '$Latest' },
          Overrides: pools.map((pool) => {
            const [type = '', zone = `${account.subnets[0]?.AvailabilityZone}`] = pool.split('@');
            const subnet = account.subnets.find(({ AvailabilityZone }) => AvailabilityZone === zone);
            return { InstanceType: type as 'm5.large', SubnetId: subnet?.SubnetId, AvailabilityZone: zone };
          }),
        },
      ],
      ...extra,
    }),
  );
}

export function idsOf(fleet: CreateFleetCommandOutput): string[] {
  return (fleet.Instances ?? []).flatMap(({ InstanceIds = [] }) => InstanceIds);
}

export async function describe(account: Account, id: string): Promise<Instance> {
  const answer = await account.ec2.send(new DescribeInstancesCommand({ InstanceIds: [id] }));
  const instance = answer.Reservations?.[0]?.Instances?.[0];
  if (instance === undefined) throw new Error(`DescribeInstances does not show ${id}`);
  return instance;
}
