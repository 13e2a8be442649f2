import { describe, expect, test } from 'vitest';
import { templateSpec } from './launch-template.testing.ts';
import { type LaunchTemplateSpec, launchTemplateInput } from './launch-template.ts';
import { launchTemplateName } from './template-name.ts';

const plain = templateSpec();

const dataOf = (change: Partial<LaunchTemplateSpec> = {}) =>
  launchTemplateInput('name', { ...plain, ...change }, 'aGVsbG8=').LaunchTemplateData ?? {};

const efaOnly = (card: number, device: number) => ({
  networkCardIndex: card,
  deviceIndex: device,
  interfaceType: 'efa-only' as const,
});
const ordinary = (card: number, device: number) => ({
  networkCardIndex: card,
  deviceIndex: device,
  interfaceType: 'interface' as const,
});

describe('what is in it', () => {
  test('an ordinary template has all that a node needs, and its security groups inside its interface', () => {
    const tags = [{ Key: 'karpenter.sh/nodepool', Value: 'default' }];
    expect(launchTemplateInput('name', plain, 'aGVsbG8=')).toEqual({
      LaunchTemplateName: 'name',
      TagSpecifications: [{ ResourceType: 'launch-template', Tags: tags }],
      LaunchTemplateData: {
        BlockDeviceMappings: [{ DeviceName: '/dev/xvda', Ebs: { VolumeSize: 20 } }],
        IamInstanceProfile: { Name: 'profile-1' },
        Monitoring: { Enabled: false },
        UserData: 'aGVsbG8=',
        ImageId: 'ami-1',
        MetadataOptions: {
          HttpEndpoint: 'enabled',
          HttpProtocolIpv6: 'disabled',
          HttpPutResponseHopLimit: 1,
          HttpTokens: 'required',
          InstanceMetadataTags: 'disabled',
        },
        NetworkInterfaces: [{ DeviceIndex: 0, Groups: ['sg-1', 'sg-2'] }],
        Placement: { Tenancy: 'default' },
        EnclaveOptions: { Enabled: false },
        CapacityReservationSpecification: { CapacityReservationPreference: 'none' },
        TagSpecifications: [{ ResourceType: 'network-interface', Tags: tags }],
      },
    });
  });

  test('a spot template tags the spot request too', () => {
    expect(dataOf({ capacityType: 'spot' }).TagSpecifications?.map(({ ResourceType }) => ResourceType)).toEqual([
      'network-interface',
      'spot-instances-request',
    ]);
  });

  test('a family without devices of its own leaves them to the image', () => {
    expect(dataOf({ blockDevices: [] })).not.toHaveProperty('BlockDeviceMappings');
  });

  test('monitoring and enclaves are said in so many words', () => {
    expect(dataOf({ detailedMonitoring: true, enclave: true })).toMatchObject({
      Monitoring: { Enabled: true },
      EnclaveOptions: { Enabled: true },
    });
  });

  test('metadata options pass through; isolated regions get no word of IPv6', () => {
    const metadataOptions = {
      httpEndpoint: 'disabled' as const,
      httpProtocolIPv6: 'enabled' as const,
      httpPutResponseHopLimit: 5,
      httpTokens: 'optional' as const,
    };
    expect(dataOf({ metadataOptions }).MetadataOptions).toEqual({
      HttpEndpoint: 'disabled',
      HttpProtocolIpv6: 'enabled',
      HttpPutResponseHopLimit: 5,
      HttpTokens: 'optional',
      InstanceMetadataTags: 'disabled',
    });
    expect(dataOf({ region: 'us-iso-east-1' }).MetadataOptions).not.toHaveProperty('HttpProtocolIpv6');
    expect(dataOf({ metadataOptions: undefined, isIpv6: true }).MetadataOptions).toMatchObject({
      HttpEndpoint: 'disabled',
      HttpPutResponseHopLimit: 2,
      HttpTokens: 'required',
      HttpProtocolIpv6: 'enabled',
    });
  });

  test.each([true, false])(
    'public addresses %s reach the first interface, also with EFA, and every other with addresses',
    (wanted) => {
      const alone = dataOf({ associatePublicIpAddress: wanted }).NetworkInterfaces;
      expect(alone?.[0]?.AssociatePublicIpAddress).toBe(wanted);
      const efa = dataOf({ associatePublicIpAddress: wanted, efaCount: 2 }).NetworkInterfaces;
      expect(efa?.map((each) => each.AssociatePublicIpAddress)).toEqual([wanted, wanted]);
      expect(dataOf().NetworkInterfaces?.[0]).not.toHaveProperty('AssociatePublicIpAddress');
    },
  );

  test.each([0, 1, 10, 100])('%i prefixes are asked for, of the family of the cluster', (count) => {
    expect(dataOf({ ipPrefixCount: count }).NetworkInterfaces?.[0]).toMatchObject({ Ipv4PrefixCount: count });
    expect(dataOf({ ipPrefixCount: count, isIpv6: true }).NetworkInterfaces?.[0]).toMatchObject({
      Ipv6PrefixCount: count,
    });
  });

  test('an IPv6 cluster gets one address, primary, with or without EFA or public addresses', () => {
    for (const change of [{}, { efaCount: 1 }, { associatePublicIpAddress: true }]) {
      expect(dataOf({ ...change, isIpv6: true }).NetworkInterfaces?.[0]).toMatchObject({
        Ipv6AddressCount: 1,
        PrimaryIpv6: true,
      });
    }
  });

  test('connection tracking is on every interface with addresses, never on efa-only ones', () => {
    const connectionTracking = { tcpEstablishedTimeout: 300 };
    const expected = { ConnectionTrackingSpecification: { TcpEstablishedTimeout: 300 } };
    expect(dataOf({ connectionTracking, efaCount: 2 }).NetworkInterfaces).toMatchObject([expected, expected]);
    const configured = dataOf({ connectionTracking, networkInterfaces: [ordinary(0, 0), efaOnly(1, 1)] });
    expect(configured.NetworkInterfaces?.[0]).toMatchObject(expected);
    expect(configured.NetworkInterfaces?.[1]).not.toHaveProperty('ConnectionTrackingSpecification');
    expect(dataOf().NetworkInterfaces?.[0]).not.toHaveProperty('ConnectionTrackingSpecification');
  });

  test('configured interfaces appear as they are, whether or not EFA was asked for', () => {
    const networkInterfaces = [ordinary(0, 0), efaOnly(0, 1), ordinary(1, 1), efaOnly(1, 2)];
    for (const efaCount of [0, 2]) {
      const found = dataOf({ networkInterfaces, efaCount, ipPrefixCount: 3 }).NetworkInterfaces;
      expect(found?.map((each) => [each.NetworkCardIndex, each.DeviceIndex, each.InterfaceType])).toEqual([
        [0, 0, 'interface'],
        [0, 1, 'efa-only'],
        [1, 1, 'interface'],
        [1, 2, 'efa-only'],
      ]);
      expect(found?.map((each) => each.Ipv4PrefixCount)).toEqual([3, undefined, 3, undefined]);
      const sixth = dataOf({ networkInterfaces, efaCount, isIpv6: true, associatePublicIpAddress: false });
      expect(sixth.NetworkInterfaces?.map((each) => each.Ipv6AddressCount)).toEqual([1, undefined, 1, undefined]);
      expect(sixth.NetworkInterfaces?.map((each) => each.AssociatePublicIpAddress)).toEqual([
        false,
        undefined,
        false,
        undefined,
      ]);
      expect(found?.every(({ Groups }) => Groups?.length === 2)).toBe(true);
    }
  });

  test('requested EFA is one interface of type efa per card', () => {
    expect(dataOf({ efaCount: 3 }).NetworkInterfaces).toMatchObject([
      { NetworkCardIndex: 0, DeviceIndex: 0, InterfaceType: 'efa' },
      { NetworkCardIndex: 1, DeviceIndex: 1, InterfaceType: 'efa' },
      { NetworkCardIndex: 2, DeviceIndex: 1, InterfaceType: 'efa' },
    ]);
  });

  test('tenancy, placement group and partition are the placement', () => {
    expect(dataOf({ tenancy: 'dedicated', placementGroup: { id: 'pg-1', partition: 3 } }).Placement).toEqual({
      Tenancy: 'dedicated',
      GroupId: 'pg-1',
      PartitionNumber: 3,
    });
  });

  test('a reservation is targeted; its kind sets the market; without the gate nothing is said', () => {
    const reservation = { id: 'cr-1', type: 'default', interruptible: false };
    expect(dataOf({ reservation })).toMatchObject({
      CapacityReservationSpecification: {
        CapacityReservationPreference: 'capacity-reservations-only',
        CapacityReservationTarget: { CapacityReservationId: 'cr-1' },
      },
    });
    expect(dataOf({ reservation })).not.toHaveProperty('InstanceMarketOptions');
    expect(dataOf({ reservation: { ...reservation, type: 'capacity-block' } }).InstanceMarketOptions).toEqual({
      MarketType: 'capacity-block',
    });
    expect(dataOf({ reservation: { ...reservation, interruptible: true } }).InstanceMarketOptions).toEqual({
      MarketType: 'interruptible-capacity-reservation',
    });
    expect(dataOf({ reservedCapacity: false })).not.toHaveProperty('CapacityReservationSpecification');
  });

  test('no user data is left out', () => {
    expect(launchTemplateInput('name', plain, '').LaunchTemplateData).not.toHaveProperty('UserData');
  });

  test('processor options pass through, and an empty object says nothing', () => {
    expect(dataOf({ cpuOptions: { nestedVirtualization: 'enabled' } }).CpuOptions).toEqual({
      NestedVirtualization: 'enabled',
    });
    expect(dataOf({ cpuOptions: {} })).not.toHaveProperty('CpuOptions');
  });
});

describe('its name', () => {
  const name = (change: Partial<LaunchTemplateSpec> = {}) => launchTemplateName({ ...plain, ...change });

  test('is the same for the same content in any order', () => {
    expect(name()).toMatch(/^karpenter\.k8s\.aws\/\d+$/);
    expect(name({ securityGroupIds: ['sg-2', 'sg-1'] })).toBe(name());
    expect(name({ userDataInputs: { taints: [{ key: 'y' }, { key: 'x' }], labels: { a: 'b' } } })).toBe(name());
    expect(name({ placementGroup: undefined })).toBe(name());
  });

  const changes: Partial<LaunchTemplateSpec>[] = [
    { clusterName: 'other' },
    { nodeClassName: 'other' },
    { imageId: 'ami-2' },
    { instanceProfile: 'other' },
    { securityGroupIds: ['sg-1'] },
    { userDataInputs: { labels: { a: 'c' } } },
    { blockDevices: [] },
    { isIpv6: true },
    { metadataOptions: undefined },
    { detailedMonitoring: true },
    { associatePublicIpAddress: false },
    { ipPrefixCount: 0 },
    { networkInterfaces: [ordinary(0, 0)] },
    { efaCount: 1 },
    { connectionTracking: { udpTimeout: 30 } },
    { cpuOptions: { nestedVirtualization: 'disabled' } },
    { enclave: true },
    { tenancy: 'dedicated' },
    { placementGroup: { id: 'pg-1' } },
    { placementGroup: { id: 'pg-1', partition: 1 } },
    { capacityType: 'spot' },
    { reservation: { id: 'cr-1', type: 'default', interruptible: false } },
    { reservation: { id: 'cr-1', type: 'default', interruptible: true } },
    { tags: {} },
  ];

  test('differs with everything that is in it', () => {
    expect(new Set([name(), ...changes.map(name)]).size).toBe(changes.length + 1);
  });
});
