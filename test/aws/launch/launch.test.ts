// Launches against the emulated EC2: what really arrives there, and what comes back.
import {
  AuthorizeSecurityGroupIngressCommand,
  CreatePlacementGroupCommand,
  CreateSecurityGroupCommand,
  DescribeInstanceAttributeCommand,
  DescribeLaunchTemplateVersionsCommand,
  TerminateInstancesCommand,
} from '@aws-sdk/client-ec2';
import { CreateClusterCommand, EKSClient } from '@aws-sdk/client-eks';
import { afterEach, beforeEach, expect, describe as suite, test } from 'vitest';
import { awsLabel, label, type NodeClaim } from '../../../src/api/index.ts';
import { instanceIdOf } from '../../../src/aws/instances/provider-id.ts';
import type { Instance } from '../../../src/ports/index.ts';
import { useAwsEmulator } from '../../setup/use-aws-emulator.ts';
import { describe } from '../emulator/account.ts';
import { among, cheap, claimFor, type LaunchAccount, launchAccount } from './launch-account.ts';

const emulator = useAwsEmulator();
let account: LaunchAccount;

beforeEach(async () => {
  await emulator().control.reset();
  account = await launchAccount(emulator());
  account.control.forgetCalls();
});
afterEach(() => account.stop());

const intel = [among(label.instanceType, 'm5.large'), ...cheap.slice(1)];
const idOf = ({ providerID }: Instance): string => instanceIdOf(providerID) ?? '';
const launched = (claim: NodeClaim, { providerID, labels }: Instance): NodeClaim => ({
  ...claim,
  metadata: { ...claim.metadata, labels },
  status: { providerID },
});

suite('an instance', () => {
  test('has the tags, network, image, profile and user data its class and claim ask for', async () => {
    const created = await account.cloud.create(claimFor('first', intel));
    const instance = await describe(account, idOf(created));
    const image = account.control.images().find(({ imageId }) => imageId === instance.ImageId);
    expect(image?.name).toContain('amazon-eks-node-al2023-x86_64-standard-1.34');
    expect(created.imageID).toBe(instance.ImageId);
    expect(instance).toMatchObject({ InstanceType: 'm5.large', SecurityGroups: [{ GroupId: account.groupId }] });
    expect(instance.IamInstanceProfile?.Arn).toMatch(new RegExp(`/${account.profile}$`));
    const tags = Object.fromEntries(instance.Tags?.map(({ Key, Value }) => [Key, Value]) ?? []);
    expect(tags).toMatchObject({
      'kubernetes.io/cluster/demo': 'owned',
      'karpenter.sh/nodepool': 'default',
      'karpenter.k8s.aws/ec2nodeclass': 'default',
      'eks:eks-cluster-name': 'demo',
    });
    const subnet = account.subnets.find(({ SubnetId }) => SubnetId === instance.SubnetId);
    expect(created.labels).toMatchObject({
      [label.zone]: subnet?.AvailabilityZone,
      [awsLabel.zoneId]: subnet?.AvailabilityZoneId,
      [label.instanceType]: 'm5.large',
      [label.capacityType]: 'on-demand',
    });
    const { UserData } = await account.ec2.send(
      new DescribeInstanceAttributeCommand({ InstanceId: idOf(created), Attribute: 'userData' }),
    );
    const text = Buffer.from(UserData?.Value ?? '', 'base64').toString();
    expect(text).toContain('apiServerEndpoint: https://demo.eks');
    expect(text).toContain('maxPods: 29');
    expect(text).toContain('key: dedicated');
    expect(text).toContain('key: karpenter.sh/unregistered');
    expect(text).toContain('team=a');
  });

  test('boots from a template with explicit metadata, volumes and no reservation', async () => {
    await account.setClass({ userData: 'echo hello', detailedMonitoring: true });
    await account.cloud.create(claimFor('first', intel));
    const calls = account.control.calls().filter(({ action }) => action === 'CreateLaunchTemplate');
    expect(calls).toHaveLength(1);
    const name = new URLSearchParams(calls[0]?.body).get('LaunchTemplateName') ?? '';
    expect(name).toMatch(/^karpenter\.k8s\.aws\/\d+$/);
    const { LaunchTemplateVersions } = await account.ec2.send(
      new DescribeLaunchTemplateVersionsCommand({ LaunchTemplateName: name, Versions: ['$Latest'] }),
    );
    expect(LaunchTemplateVersions?.[0]?.LaunchTemplateData).toMatchObject({
      BlockDeviceMappings: [{ DeviceName: '/dev/xvda', Ebs: { VolumeSize: 20, VolumeType: 'gp3', Encrypted: true } }],
      MetadataOptions: { HttpEndpoint: 'enabled', HttpTokens: 'required', HttpPutResponseHopLimit: 1 },
      Monitoring: { Enabled: true },
      NetworkInterfaces: [{ DeviceIndex: 0, Groups: [account.groupId] }],
      CapacityReservationSpecification: { CapacityReservationPreference: 'none' },
    });
  });

  test('is spot where allowed, and known as such later', async () => {
    const both = [cheap[0] ?? among(label.arch, 'amd64'), among(label.capacityType, 'spot', 'on-demand')];
    const created = await account.cloud.create(claimFor('spot', both));
    expect(created.labels[label.capacityType]).toBe('spot');
    expect((await account.cloud.get(created.providerID)).labels[label.capacityType]).toBe('spot');
  });

  test('uses a capacity reservation of the class first', async () => {
    const reservation = account.control.addCapacityReservation({
      instanceType: 'm5.xlarge',
      zone: 'us-east-1b',
      instanceMatchCriteria: 'targeted',
    });
    await account.setClass({ capacityReservationSelectorTerms: [{ id: reservation.id }] });
    const any = [among(label.instanceType, 'm5.large', 'm5.xlarge')];
    const before = account.counts.available(reservation.id);
    const created = await account.cloud.create(claimFor('reserved', any));
    expect(created.labels).toMatchObject({
      [label.capacityType]: 'reserved',
      [label.instanceType]: 'm5.xlarge',
      [awsLabel.capacityReservationId]: reservation.id,
    });
    expect(account.counts.available(reservation.id)).toBe(before - 1);
    expect((await account.cloud.get(created.providerID)).labels).toMatchObject({
      [label.capacityType]: 'reserved',
      [awsLabel.capacityReservationId]: reservation.id,
    });
  });

  test('in a partition placement group registers with the partition EC2 chose', async () => {
    account.control.addPlacementGroup({ groupName: 'racks', strategy: 'partition', partitionCount: 3 });
    await account.setClass({ placementGroupSelector: { name: 'racks' } });
    const claim = claimFor('grouped');
    const created = await account.cloud.create(claim);
    expect(created.labels[awsLabel.placementGroupPartition]).toBe('');
    const [hook] = account.cloud.registrationHooks;
    const answer = await hook?.isReady(launched(claim, created));
    expect(answer).toMatchObject({ ready: true });
    expect(answer?.labels?.[awsLabel.placementGroupPartition]).toMatch(/^[123]$/);
  });
});

suite('many at once', () => {
  test('a hundred equal launches are one fleet, one template per kind of machine, and a hundred instances', async () => {
    const claims = Array.from({ length: 100 }, (_, index) => claimFor(`burst-${index}`));
    const instances = await Promise.all(claims.map((claim) => account.cloud.create(claim)));
    expect(new Set(instances.map(({ providerID }) => providerID)).size).toBe(100);
    expect(account.calls('CreateFleet')).toBe(1);
    // m5.large, m5.xlarge and m6g.large differ in pods or image.
    expect(account.calls('CreateLaunchTemplate')).toBe(3);
    expect(account.calls('DescribeLaunchTemplates')).toBe(3);
    await Promise.all(instances.map(({ providerID }) => account.cloud.get(providerID)));
    expect(account.calls('DescribeInstances')).toBe(1);
    await Promise.all(
      instances.map((instance, index) => account.cloud.delete(launched(claims[index] as NodeClaim, instance))),
    );
    expect(account.calls('TerminateInstances')).toBe(1);
  });

  test('when EC2 has fewer than wanted, only those without an instance fail', async () => {
    account.control.setCapacity({ pool: 'on-demand:m5.large:us-east-1a', count: 2 });
    const wish = [among(label.instanceType, 'm5.large'), among(label.zone, 'us-east-1a'), ...cheap.slice(1)];
    const results = await Promise.allSettled(
      ['a', 'b', 'c', 'd'].map((name) => account.cloud.create(claimFor(name, wish))),
    );
    expect(account.calls('CreateFleet')).toBe(1);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected']);
    const kinds = results.flatMap((result) =>
      result.status === 'rejected' ? [result.reason as { kind: string }] : [],
    );
    expect(kinds.map(({ kind }) => kind)).toEqual(['insufficientCapacity', 'insufficientCapacity']);
  });

  test('an unknown instance among those asked for is not found; the others are', async () => {
    const created = await account.cloud.create(claimFor('known'));
    const [known, unknown] = await Promise.allSettled([
      account.cloud.get(created.providerID),
      account.cloud.get('aws:///us-east-1a/i-0123456789abcdef0'),
    ]);
    expect(known.status).toBe('fulfilled');
    expect(unknown).toMatchObject({ status: 'rejected', reason: { kind: 'notFound' } });
  });
});

suite('when EC2 refuses', () => {
  test('pools without capacity are passed over at once and left out of the next launch', async () => {
    account.control.exhaust(['on-demand:m5.large:us-east-1a', 'on-demand:m6g.large:*']);
    const first = await account.cloud.create(claimFor('first'));
    expect(first.labels).toMatchObject({ [label.instanceType]: 'm5.large' });
    expect(first.labels[label.zone]).not.toBe('us-east-1a');
    account.control.forgetCalls();
    await account.cloud.create(claimFor('second'));
    const body = account.control.calls().find(({ action }) => action === 'CreateFleet')?.body ?? '';
    expect(body).not.toContain('m6g.large');
  });

  test('nothing anywhere is missing capacity, and the types show it', async () => {
    account.control.exhaust(['*:*:*']);
    await expect(account.cloud.create(claimFor('none'))).rejects.toMatchObject({ kind: 'insufficientCapacity' });
    const type = account.types.list(account.nodeClass()).find(({ name }) => name === 'm5.large');
    const onDemand = type?.offerings.filter(({ requirements }) =>
      requirements.some(({ values }) => values?.[0] === 'on-demand'),
    );
    expect(onDemand?.some(({ available }) => available)).toBe(false);
  });

  test('throttling is borne by the SDK for a while, then reported', async () => {
    const fault = { action: 'CreateFleet', code: 'RequestLimitExceeded', status: 503, message: 'slow down' };
    account.control.addFault({ ...fault, count: 2 });
    await account.cloud.create(claimFor('patient'));
    expect(account.calls('CreateFleet')).toBe(3);
    account.control.addFault({ ...fault, count: 100 });
    await expect(account.cloud.create(claimFor('given-up'))).rejects.toMatchObject({
      kind: 'createFailed',
      conditionReason: 'RequestLimitExceeded',
    });
    account.control.clearFaults();
    await account.cloud.create(claimFor('later'));
  });

  test('a missing permission is reported as such', async () => {
    account.control.addFault({
      action: 'CreateFleet',
      code: 'UnauthorizedOperation',
      status: 403,
      message: 'You are not authorized with an explicit deny in a service control policy',
    });
    await expect(account.cloud.create(claimFor('denied'))).rejects.toMatchObject({
      kind: 'createFailed',
      conditionReason: 'Unauthorized',
      conditionMessage: expect.stringContaining('service control policy') as string,
    });
  });

  test('a template that was deleted behind our back costs exactly one more try', async () => {
    await account.cloud.create(claimFor('first'));
    account.control.forgetCalls();
    const gone = { action: 'CreateFleet', code: 'InvalidLaunchTemplateName.NotFoundException', status: 400 };
    account.control.addFault({ ...gone, message: 'gone' });
    await account.cloud.create(claimFor('second'));
    expect(account.calls('CreateFleet')).toBe(2);
    account.control.addFault({ ...gone, message: 'gone', count: 5 });
    account.control.forgetCalls();
    await expect(account.cloud.create(claimFor('third'))).rejects.toMatchObject({ kind: 'createFailed' });
    expect(account.calls('CreateFleet')).toBe(2);
  });

  test('an answer lost on the way brings the same instance again, not a second one', async () => {
    account.control.addFault({ action: 'CreateFleet', drop: 'after' });
    const created = await account.cloud.create(claimFor('lost'));
    expect((await account.cloud.list()).map(({ providerID }) => providerID)).toEqual([created.providerID]);
  });

  test('a profile that does not exist is named as the reason', async () => {
    const status = account.nodeClass().status;
    if (status !== undefined) status.instanceProfile = 'nobody-made-this';
    await expect(account.cloud.create(claimFor('profile'))).rejects.toMatchObject({
      conditionReason: 'InstanceProfileNameInvalid',
    });
  });

  test('a full subnet is out for the type list, too', async () => {
    for (const { SubnetId = '' } of account.subnets) account.control.setFreeAddresses({ subnetId: SubnetId, count: 0 });
    await expect(account.cloud.create(claimFor('full', intel))).rejects.toMatchObject({ kind: 'insufficientCapacity' });
    const type = account.types.list(account.nodeClass()).find(({ name }) => name === 'm5.large');
    expect(type?.offerings.some((offering) => offering.available)).toBe(false);
  });
});

suite('instances of the cluster', () => {
  test('are listed, with labels and sizes, also when they are going; foreign ones are not', async () => {
    const claim = claimFor('listed');
    const created = await account.cloud.create(claim);
    const [listed, ...others] = await account.cloud.list();
    expect(others).toEqual([]);
    expect(listed?.labels).toEqual(created.labels);
    expect(listed?.capacity).toEqual(created.capacity);
    account.control.setLifecycle({ shuttingDownMs: 3_600_000 });
    await account.cloud.delete(launched(claim, created));
    expect(await account.cloud.list()).toMatchObject([{ providerID: created.providerID, isDeleting: true }]);
    expect(await account.cloud.get(created.providerID)).toMatchObject({ isDeleting: true });
  });

  test('one that someone else terminated is not found', async () => {
    const created = await account.cloud.create(claimFor('vanished'));
    await account.ec2.send(new TerminateInstancesCommand({ InstanceIds: [idOf(created)] }));
    await expect(account.cloud.get(created.providerID)).rejects.toMatchObject({ kind: 'notFound' });
    expect(await account.cloud.list()).toEqual([]);
  });

  test('half an answer to a termination is asked for again, one by one', async () => {
    const claims = ['a', 'b', 'c'].map((name) => claimFor(name));
    const instances = await Promise.all(claims.map((claim) => account.cloud.create(claim)));
    account.control.addFault({ action: 'TerminateInstances', code: 'InternalError', status: 400, message: 'oops' });
    account.control.forgetCalls();
    await Promise.all(
      instances.map((instance, index) => account.cloud.delete(launched(claims[index] as NodeClaim, instance))),
    );
    expect(account.calls('TerminateInstances')).toBe(4);
    expect(await account.cloud.list()).toEqual([]);
  });
});

suite('drift', () => {
  const born = async (requirements = intel): Promise<NodeClaim> => {
    const claim = claimFor('born', requirements);
    const created = await account.cloud.create(claim);
    const { providerID, imageID = '', labels, annotations } = created;
    return { ...claim, metadata: { ...claim.metadata, labels, annotations }, status: { providerID, imageID } };
  };
  const reasonOf = (claim: NodeClaim) => account.cloud.driftReason(claim);

  test('an instance that is what its class asks for has none', async () => {
    expect(await reasonOf(await born())).toBeUndefined();
  });

  test('other images, groups and subnets of the class are each reported by their reason', async () => {
    const claim = await born();
    const { spec } = account.nodeClass();
    const arm = account.control.images().find(({ name }) => name.includes('bottlerocket') && name.includes('x86_64'));
    await account.setClass({ amiSelectorTerms: [{ id: arm?.imageId ?? '' }], amiFamily: 'AL2023' });
    expect(await reasonOf(claim)).toBe('AMIDrift');
    await account.setClass(spec);
    const { GroupId = '' } = await account.ec2.send(
      new CreateSecurityGroupCommand({
        GroupName: 'more',
        Description: 'more',
        VpcId: account.subnets[0]?.VpcId,
      }),
    );
    await account.setClass({ securityGroupSelectorTerms: [{ id: GroupId }, { id: account.groupId }] });
    expect(await reasonOf(claim)).toBe('SecurityGroupDrift');
    const zone = claim.metadata.labels?.[label.zone];
    const others = account.subnets.filter(({ AvailabilityZone }) => AvailabilityZone !== zone);
    await account.setClass({
      ...spec,
      subnetSelectorTerms: others.map(({ SubnetId = '' }) => ({ id: SubnetId })),
    });
    expect(await reasonOf(claim)).toBe('SubnetDrift');
    await account.setClass({ ...spec, userData: 'echo hello' });
    expect(await reasonOf(claim)).toBe('NodeClassDrift');
  });

  test('a placement group the instance is not in is drift; one that was not looked up is not an answer', async () => {
    const claim = await born();
    await account.ec2.send(new CreatePlacementGroupCommand({ GroupName: 'late', Strategy: 'cluster' }));
    const stamped = { ...claim, metadata: { ...claim.metadata, annotations: {} } };
    await account.setClass({ placementGroupSelector: { name: 'late' } });
    expect(await reasonOf(stamped)).toBe('PlacementGroupDrift');
    account.nodeClass().spec.placementGroupSelector = { name: 'never-asked-for' };
    await expect(reasonOf(stamped)).rejects.toThrow(/placement group was not looked up yet/);
  });

  test('an instance that is gone, or a claim that names none, is an error', async () => {
    const claim = await born();
    const { imageID = '' } = claim.status ?? {};
    await expect(reasonOf({ ...claim, status: { imageID } })).rejects.toThrow(/names no instance/);
    await account.ec2.send(
      new TerminateInstancesCommand({ InstanceIds: [instanceIdOf(claim.status?.providerID ?? '') ?? ''] }),
    );
    await account.instances.list();
    await expect(reasonOf(claim)).rejects.toMatchObject({ kind: 'notFound' });
  });
});

suite('a node that does not join', () => {
  const whyNot = async (name: string, prepare: (instanceId: string) => Promise<unknown>): Promise<string> => {
    const claim = claimFor(name, intel);
    const created = await account.cloud.create(claim);
    await prepare(idOf(created));
    return (await account.cloud.whyNotJoined(launched(claim, created))) ?? '';
  };

  test('is explained: closed groups first, then the role the cluster does not know, then an instance that ended', async () => {
    await new EKSClient(emulator().clientOptions).send(
      new CreateClusterCommand({ name: 'demo', roleArn: 'arn:aws:iam::123456789012:role/x', resourcesVpcConfig: {} }),
    );
    const { GroupId = '' } = await account.ec2.send(
      new CreateSecurityGroupCommand({
        GroupName: 'control-plane',
        Description: 'control plane',
        VpcId: account.subnets[0]?.VpcId,
      }),
    );
    const resourcesVpcConfig = { clusterSecurityGroupId: GroupId, endpointPrivateAccess: true };
    account.control.setCluster({ name: 'demo', resourcesVpcConfig });
    expect(await whyNot('shut-out', async () => {})).toContain(
      `No security group of the API server (${GroupId}) admits port 443 from the nodes of EC2NodeClass default (${account.groupId})`,
    );
    const rule = { IpProtocol: 'tcp', FromPort: 443, ToPort: 443, UserIdGroupPairs: [{ GroupId: account.groupId }] };
    await account.ec2.send(new AuthorizeSecurityGroupIngressCommand({ GroupId, IpPermissions: [rule] }));
    expect(await whyNot('stranger', async () => {})).toMatch(
      /aws eks create-access-entry --cluster-name demo --principal-arn arn:aws:iam::\d{12}:role\/role-\d+ --type EC2_LINUX/,
    );
    const end = (id: string) => account.ec2.send(new TerminateInstancesCommand({ InstanceIds: [id] }));
    expect(await whyNot('ended', end)).toMatch(/the instance is terminated/);
  });
});

suite('templates', () => {
  test('of a class are deleted with it, and those a former process left are taken over', async () => {
    await account.cloud.create(claimFor('first'));
    account.stop();
    const next = await launchAccount(emulator());
    try {
      await next.templates.hydrate();
      account.control.forgetCalls();
      await next.templates.deleteFor('default');
      expect(account.calls('DeleteLaunchTemplate')).toBe(3);
      await next.templates.deleteFor('default');
      expect(account.calls('DeleteLaunchTemplate')).toBe(3);
    } finally {
      next.stop();
    }
  });
});
