// Static drift on AWS: the hash of what an EC2NodeClass puts into a launch, without the selectors (those are compared
// live), together with the image family that follows from it and the cluster's CA.
import { formatQuantity, tryParseQuantity } from '../../base/index.ts';
import type { EC2NodeClassSpec } from '../kinds/ec2-node-class.ts';
import { goJson } from './go-json.ts';
import {
  type Hash,
  hashBool,
  hashInt32,
  hashInt64,
  hashList,
  hashString,
  hashStruct,
  hashText,
  ifSet,
  ifText,
  ifTextMap,
} from './structural-hash.ts';

/** Changes whenever the algorithm or the hashed fields do; values of different versions are never compared. */
export const ec2NodeClassHashVersion = 'v6';

type BlockDeviceMapping = NonNullable<EC2NodeClassSpec['blockDeviceMappings']>[number];
type NetworkInterface = NonNullable<EC2NodeClassSpec['networkInterfaces']>[number];

const hashInt = (value: number): Hash => hashInt64(BigInt(value));

/** Structures with nothing set count as absent only where they are not pointers; all of these are pointers. */
const hashPlacementGroup = (selector: NonNullable<EC2NodeClassSpec['placementGroupSelector']>): Hash =>
  hashStruct('PlacementGroupSelector', [
    ['Name', ifText(selector.name)],
    ['ID', ifText(selector.id)],
  ]);

/** A size is hashed as it would be printed, so that `1024Gi` and `1Ti` are the same. */
function hashQuantity(text: string): Hash {
  const quantity = tryParseQuantity(text);
  return hashString(quantity === undefined ? text : formatQuantity(quantity));
}

const hashVolume = (ebs: NonNullable<BlockDeviceMapping['ebs']>): Hash =>
  hashStruct('BlockDevice', [
    ['DeleteOnTermination', ifSet(ebs.deleteOnTermination, hashBool)],
    ['Encrypted', ifSet(ebs.encrypted, hashBool)],
    ['IOPS', ifSet(ebs.iops, hashInt)],
    ['KMSKeyID', ifSet(ebs.kmsKeyID, hashString)],
    ['SnapshotID', ifSet(ebs.snapshotID, hashString)],
    ['Throughput', ifSet(ebs.throughput, hashInt)],
    ['VolumeInitializationRate', ifSet(ebs.volumeInitializationRate, hashInt32)],
    ['VolumeSize', ifSet(ebs.volumeSize, hashQuantity)],
    ['VolumeType', ifSet(ebs.volumeType, hashString)],
  ]);

/** Where zero and unset are the same. */
const ifNonZero = (value: number): Hash | undefined => (value === 0 ? undefined : hashInt32(value));

const hashDevice = (mapping: BlockDeviceMapping): Hash =>
  hashStruct('BlockDeviceMapping', [
    ['DeviceName', ifSet(mapping.deviceName, hashString)],
    ['EBS', ifSet(mapping.ebs, hashVolume)],
    ['RootVolume', mapping.rootVolume === true ? hashBool(true) : undefined],
  ]);

const hashInterface = (entry: NetworkInterface): Hash =>
  hashStruct('NetworkInterface', [
    ['NetworkCardIndex', ifNonZero(entry.networkCardIndex)],
    ['DeviceIndex', ifNonZero(entry.deviceIndex)],
    ['InterfaceType', ifText(entry.interfaceType)],
  ]);

const hashMetadataOptions = (options: NonNullable<EC2NodeClassSpec['metadataOptions']>): Hash =>
  hashStruct('MetadataOptions', [
    ['HTTPEndpoint', ifSet(options.httpEndpoint, hashString)],
    ['HTTPProtocolIPv6', ifSet(options.httpProtocolIPv6, hashString)],
    ['HTTPPutResponseHopLimit', ifSet(options.httpPutResponseHopLimit, hashInt)],
    ['HTTPTokens', ifSet(options.httpTokens, hashString)],
  ]);

const hashConnectionTracking = (tracking: NonNullable<EC2NodeClassSpec['connectionTracking']>): Hash =>
  hashStruct('ConnectionTracking', [
    ['TCPEstablishedTimeout', ifSet(tracking.tcpEstablishedTimeout, hashInt32)],
    ['UDPStreamTimeout', ifSet(tracking.udpStreamTimeout, hashInt32)],
    ['UDPTimeout', ifSet(tracking.udpTimeout, hashInt32)],
  ]);

const hashEnclaveOptions = (options: NonNullable<EC2NodeClassSpec['enclaveOptions']>): Hash =>
  hashStruct('EnclaveOptions', [['Enabled', ifSet(options.enabled, hashBool)]]);

const hashCpuOptions = (options: NonNullable<EC2NodeClassSpec['cpuOptions']>): Hash =>
  hashStruct('CPUOptions', [['NestedVirtualization', ifSet(options.nestedVirtualization, hashString)]]);

function hashSpec(spec: EC2NodeClassSpec): Hash {
  return hashStruct('EC2NodeClassSpec', [
    ['PlacementGroupSelector', ifSet(spec.placementGroupSelector, hashPlacementGroup)],
    ['AssociatePublicIPAddress', ifSet(spec.associatePublicIPAddress, hashBool)],
    ['UserData', ifSet(spec.userData, hashString)],
    ['Role', ifText(spec.role)],
    ['InstanceProfile', ifSet(spec.instanceProfile, hashString)],
    ['Tags', ifTextMap(spec.tags)],
    ['Kubelet', ifSet(spec.kubelet, (kubelet) => hashString(goJson(kubelet)))],
    ['BlockDeviceMappings', ifSet(spec.blockDeviceMappings, (list) => hashList(list.map(hashDevice)))],
    ['InstanceStorePolicy', ifSet(spec.instanceStorePolicy, hashString)],
    ['NetworkInterfaces', ifSet(spec.networkInterfaces, (list) => hashList(list.map(hashInterface)))],
    ['DetailedMonitoring', ifSet(spec.detailedMonitoring, hashBool)],
    ['MetadataOptions', ifSet(spec.metadataOptions, hashMetadataOptions)],
    ['ConnectionTracking', ifSet(spec.connectionTracking, hashConnectionTracking)],
    ['EnclaveOptions', ifSet(spec.enclaveOptions, hashEnclaveOptions)],
    ['Context', ifSet(spec.context, hashString)],
    ['CPUOptions', ifSet(spec.cpuOptions, hashCpuOptions)],
  ]);
}

const aliasFamily: Readonly<Record<string, string>> = {
  al2: 'AL2',
  al2023: 'AL2023',
  bottlerocket: 'Bottlerocket',
  windows2019: 'Windows2019',
  windows2022: 'Windows2022',
  windows2025: 'Windows2025',
};

/** The image family in force: the one written, else the alias's, else Custom. */
export function resolvedAmiFamily(spec: Pick<EC2NodeClassSpec, 'amiFamily' | 'amiSelectorTerms'>): string {
  if (spec.amiFamily !== undefined) return spec.amiFamily;
  const alias = spec.amiSelectorTerms.find((term) => term.alias !== undefined)?.alias;
  return aliasFamily[alias?.split('@')[0] ?? ''] ?? 'Custom';
}

/** The annotation's value: an unsigned 64-bit number in decimal. */
export function ec2NodeClassHash(spec: EC2NodeClassSpec, caBundle: string): string {
  return hashText(hashList([hashSpec(spec), hashString(resolvedAmiFamily(spec)), hashString(caBundle)]));
}
