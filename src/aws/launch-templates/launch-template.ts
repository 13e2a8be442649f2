// One launch template, as data: what is in it, and the request that creates it. Pure, so that a dry run of a node class
// sends exactly what a launch would send.
//
// Security groups are inside the network interfaces, never beside them: EC2 refuses both at once.
import type {
  CreateLaunchTemplateCommandInput,
  LaunchTemplateBlockDeviceMappingRequest,
  LaunchTemplateInstanceNetworkInterfaceSpecificationRequest,
  RequestLaunchTemplateData,
} from '@aws-sdk/client-ec2';
import { capacityType, type EC2NodeClassSpec } from '../../api/index.ts';
import { tagList } from '../tags.ts';

export interface ReservationTarget {
  id: string;
  /** `default` or `capacity-block`. */
  type: string;
  interruptible: boolean;
}

export interface LaunchTemplateSpec {
  clusterName: string;
  nodeClassName: string;
  region: string;
  imageId: string;
  instanceProfile: string;
  securityGroupIds: readonly string[];
  /** What the user data is rendered from: part of the template's name in place of the text, whose lists have an order. */
  userDataInputs: unknown;
  blockDevices: readonly LaunchTemplateBlockDeviceMappingRequest[];
  /** Nodes get IPv6 addresses. */
  isIpv6: boolean;
  metadataOptions: EC2NodeClassSpec['metadataOptions'];
  detailedMonitoring: boolean;
  associatePublicIpAddress?: boolean | undefined;
  ipPrefixCount?: number | undefined;
  networkInterfaces: NonNullable<EC2NodeClassSpec['networkInterfaces']>;
  /** Interfaces for EFA when none are configured. */
  efaCount: number;
  connectionTracking: EC2NodeClassSpec['connectionTracking'];
  cpuOptions: EC2NodeClassSpec['cpuOptions'];
  enclave: boolean;
  tenancy: string;
  placementGroup?: { id: string; partition?: number } | undefined;
  capacityType: string;
  reservation?: ReservationTarget | undefined;
  /** Feature gate: whether launches say which reservations they may use. */
  reservedCapacity: boolean;
  tags: Readonly<Record<string, string>>;
}

/** Regions whose EC2 does not know the IPv6 setting of the metadata endpoint. */
const regionsWithoutIpv6Metadata: ReadonlySet<string> = new Set([
  'us-iso-east-1',
  'us-iso-west-1',
  'us-isob-east-1',
  'us-isob-west-1',
  'us-isof-south-1',
  'us-isof-east-1',
]);

/** `userData` is base64, as EC2 wants it. */
export function launchTemplateInput(
  name: string,
  spec: LaunchTemplateSpec,
  userData: string,
): CreateLaunchTemplateCommandInput {
  return {
    LaunchTemplateName: name,
    LaunchTemplateData: launchTemplateData(spec, userData),
    TagSpecifications: [{ ResourceType: 'launch-template', Tags: tagList(spec.tags) }],
  };
}

function launchTemplateData(spec: LaunchTemplateSpec, userData: string): RequestLaunchTemplateData {
  const { placementGroup, cpuOptions } = spec;
  const tags = tagList(spec.tags);
  return {
    ...(spec.blockDevices.length === 0 ? {} : { BlockDeviceMappings: [...spec.blockDevices] }),
    IamInstanceProfile: { Name: spec.instanceProfile },
    Monitoring: { Enabled: spec.detailedMonitoring },
    // A Custom image without user data: EC2 takes none, but no empty one.
    ...(userData === '' ? {} : { UserData: userData }),
    ImageId: spec.imageId,
    MetadataOptions: metadataOptionsOf(spec),
    NetworkInterfaces: networkInterfacesOf(spec),
    Placement: {
      Tenancy: spec.tenancy as 'default' | 'dedicated',
      ...(placementGroup === undefined ? {} : { GroupId: placementGroup.id }),
      ...(placementGroup?.partition === undefined ? {} : { PartitionNumber: placementGroup.partition }),
    },
    EnclaveOptions: { Enabled: spec.enclave },
    ...(cpuOptions?.nestedVirtualization === undefined
      ? {}
      : { CpuOptions: { NestedVirtualization: cpuOptions.nestedVirtualization } }),
    ...reservationOf(spec),
    TagSpecifications: [
      { ResourceType: 'network-interface', Tags: tags },
      ...(spec.capacityType === capacityType.spot
        ? [{ ResourceType: 'spot-instances-request' as const, Tags: tags }]
        : []),
    ],
  };
}

function metadataOptionsOf({
  metadataOptions,
  isIpv6,
  region,
}: LaunchTemplateSpec): RequestLaunchTemplateData['MetadataOptions'] {
  // The API server fills in every field; an object that went around it gets what keeps a cluster working.
  const options = metadataOptions ?? {
    httpEndpoint: 'disabled' as const,
    httpProtocolIPv6: isIpv6 ? ('enabled' as const) : ('disabled' as const),
    httpPutResponseHopLimit: 2,
    httpTokens: 'required' as const,
  };
  return {
    HttpEndpoint: options.httpEndpoint,
    ...(regionsWithoutIpv6Metadata.has(region) ? {} : { HttpProtocolIpv6: options.httpProtocolIPv6 }),
    HttpPutResponseHopLimit: options.httpPutResponseHopLimit,
    HttpTokens: options.httpTokens,
    // Tag keys with a slash, of which we have some, cannot be served: an account default that turns them on would fail.
    InstanceMetadataTags: 'disabled',
  };
}

type Interface = LaunchTemplateInstanceNetworkInterfaceSpecificationRequest;

function networkInterfacesOf(spec: LaunchTemplateSpec): Interface[] {
  const Groups = [...spec.securityGroupIds];
  if (spec.networkInterfaces.length > 0) {
    return spec.networkInterfaces.map(({ networkCardIndex, deviceIndex, interfaceType }) => ({
      NetworkCardIndex: networkCardIndex,
      DeviceIndex: deviceIndex,
      InterfaceType: interfaceType,
      Groups,
      ...(interfaceType === 'efa-only' ? {} : addressing(spec)),
    }));
  }
  if (spec.efaCount > 0) {
    return Array.from({ length: spec.efaCount }, (_, card) => ({
      NetworkCardIndex: card,
      // Only the first card has a primary device; on the others device 0 does not exist.
      DeviceIndex: card === 0 ? 0 : 1,
      InterfaceType: 'efa',
      Groups,
      ...addressing(spec),
    }));
  }
  return [{ DeviceIndex: 0, Groups, ...addressing(spec) }];
}

/** What every interface with addresses has beyond its place. EC2 refuses public addresses beside several interfaces. */
function addressing(spec: LaunchTemplateSpec): Partial<Interface> {
  const { ipPrefixCount, associatePublicIpAddress, connectionTracking } = spec;
  return {
    ...(associatePublicIpAddress === undefined ? {} : { AssociatePublicIpAddress: associatePublicIpAddress }),
    ...(ipPrefixCount === undefined
      ? {}
      : spec.isIpv6
        ? { Ipv6PrefixCount: ipPrefixCount }
        : { Ipv4PrefixCount: ipPrefixCount }),
    ...(spec.isIpv6 ? { Ipv6AddressCount: 1, PrimaryIpv6: true } : {}),
    ...(connectionTracking === undefined
      ? {}
      : {
          ConnectionTrackingSpecification: {
            ...(connectionTracking.tcpEstablishedTimeout === undefined
              ? {}
              : { TcpEstablishedTimeout: connectionTracking.tcpEstablishedTimeout }),
            ...(connectionTracking.udpStreamTimeout === undefined
              ? {}
              : { UdpStreamTimeout: connectionTracking.udpStreamTimeout }),
            ...(connectionTracking.udpTimeout === undefined ? {} : { UdpTimeout: connectionTracking.udpTimeout }),
          },
        }),
  };
}

/** Without a word about reservations EC2 would spend open ones on ordinary launches. */
function reservationOf({ reservation, reservedCapacity }: LaunchTemplateSpec): Partial<RequestLaunchTemplateData> {
  if (!reservedCapacity) return {};
  if (reservation === undefined) {
    return { CapacityReservationSpecification: { CapacityReservationPreference: 'none' } };
  }
  const market =
    reservation.type === 'capacity-block'
      ? ('capacity-block' as const)
      : reservation.interruptible
        ? ('interruptible-capacity-reservation' as const)
        : undefined;
  return {
    CapacityReservationSpecification: {
      CapacityReservationPreference: 'capacity-reservations-only',
      CapacityReservationTarget: { CapacityReservationId: reservation.id },
    },
    ...(market === undefined ? {} : { InstanceMarketOptions: { MarketType: market } }),
  };
}
