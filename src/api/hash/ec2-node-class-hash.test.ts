import { expect, test } from 'vitest';
import { type EC2NodeClassSpec, ec2NodeClassHash } from '../index.ts';

const volume = { deviceName: '/dev/xvda', ebs: { volumeSize: '20Gi', volumeType: 'gp3' as const } };
const base: EC2NodeClassSpec = {
  role: 'role-1',
  tags: { a: '1', b: '2' },
  metadataOptions: {
    httpEndpoint: 'enabled',
    httpProtocolIPv6: 'disabled',
    httpPutResponseHopLimit: 1,
    httpTokens: 'required',
  },
  blockDeviceMappings: [volume, { deviceName: '/dev/xvdb', ebs: { volumeSize: '5Gi' } }],
  connectionTracking: { udpTimeout: 30 },
  amiSelectorTerms: [{ alias: 'al2023@latest' }],
  subnetSelectorTerms: [{ tags: { a: 'b' } }],
  securityGroupSelectorTerms: [{ tags: { a: 'b' } }],
};
const hash = (change: Partial<EC2NodeClassSpec> = {}): string => ec2NodeClassHash({ ...base, ...change }, 'ca');
const metadata = (change: object) => ({ metadataOptions: { ...base.metadataOptions, ...change } });
const disk = (change: object) => ({
  blockDeviceMappings: [{ ...volume, ...change }, ...(base.blockDeviceMappings ?? []).slice(1)],
});
const ebs = (change: object) => disk({ ebs: { ...volume.ebs, ...change } });
const { role: _, ...withoutRole } = base;

test.each<[string, Partial<EC2NodeClassSpec>]>([
  ['userData', { userData: 'x' }],
  ['tags', { tags: { a: '1', b: '3' } }],
  ['context', { context: 'x' }],
  ['detailedMonitoring', { detailedMonitoring: true }],
  ['detailedMonitoring, explicitly off', { detailedMonitoring: false }],
  ['instanceStorePolicy', { instanceStorePolicy: 'RAID0' }],
  ['associatePublicIPAddress', { associatePublicIPAddress: true }],
  ['metadataOptions.httpEndpoint', metadata({ httpEndpoint: 'disabled' })],
  ['metadataOptions.httpProtocolIPv6', metadata({ httpProtocolIPv6: 'enabled' })],
  ['metadataOptions.httpPutResponseHopLimit', metadata({ httpPutResponseHopLimit: 2 })],
  ['metadataOptions.httpTokens', metadata({ httpTokens: 'optional' })],
  ['the name of a disk', disk({ deviceName: '/dev/sda1' })],
  ['rootVolume', disk({ rootVolume: true })],
  ['deleteOnTermination', ebs({ deleteOnTermination: true })],
  ['encrypted', ebs({ encrypted: true })],
  ['iops', ebs({ iops: 0 })],
  ['kmsKeyID', ebs({ kmsKeyID: 'x' })],
  ['snapshotID', ebs({ snapshotID: 'x' })],
  ['throughput', ebs({ throughput: 125 })],
  ['volumeSize', ebs({ volumeSize: '21Gi' })],
  ['volumeType', ebs({ volumeType: 'io1' })],
  ['connectionTracking.tcpEstablishedTimeout', { connectionTracking: { udpTimeout: 30, tcpEstablishedTimeout: 60 } }],
  ['connectionTracking.udpStreamTimeout', { connectionTracking: { udpTimeout: 30, udpStreamTimeout: 60 } }],
  ['connectionTracking.udpTimeout', { connectionTracking: { udpTimeout: 31 } }],
  ['cpuOptions', { cpuOptions: { nestedVirtualization: 'enabled' } }],
  ['role', { role: 'role-2' }],
  ['kubelet', { kubelet: { maxPods: 10 } }],
  ['networkInterfaces', { networkInterfaces: [{ networkCardIndex: 0, deviceIndex: 0, interfaceType: 'interface' }] }],
  ['placementGroupSelector', { placementGroupSelector: { name: 'x' } }],
  ['the family an alias stands for', { amiSelectorTerms: [{ alias: 'bottlerocket@latest' }] }],
])('%s changes the hash', (_, change) => {
  expect(hash(change)).not.toBe(hash());
});

test('instanceProfile in place of role changes the hash', () => {
  expect(ec2NodeClassHash({ ...withoutRole, instanceProfile: 'p' }, 'ca')).not.toBe(hash());
});

test.each<[string, Partial<EC2NodeClassSpec>]>([
  ['subnets', { subnetSelectorTerms: [{ id: 'subnet-1' }] }],
  ['security groups', { securityGroupSelectorTerms: [{ id: 'sg-1' }] }],
  ['images of the same family', { amiSelectorTerms: [{ alias: 'al2023@v20260101' }] }],
  ['capacity reservations', { capacityReservationSelectorTerms: [{ id: 'cr-1' }] }],
])('another selector of %s does not change the hash', (_, change) => {
  expect(hash(change)).toBe(hash());
});

test('the order of tags and disks does not; equal specs have equal hashes', () => {
  expect(hash({ tags: { b: '2', a: '1' } })).toBe(hash());
  expect(hash({ blockDeviceMappings: base.blockDeviceMappings?.toReversed() ?? [] })).toBe(hash());
  expect(ec2NodeClassHash(structuredClone(base), 'ca')).toBe(hash());
});

test('another CA bundle does', () => {
  expect(ec2NodeClassHash(base, 'other')).not.toBe(hash());
});
