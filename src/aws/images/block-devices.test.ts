import { expect, test } from 'vitest';
import { nodeClass } from '../node-class.testing.ts';
import { type BlockDeviceMapping, blockDeviceRequests, blockDevicesOf } from './block-devices.ts';

const requests = (
  amiFamily: 'AL2' | 'AL2023' | 'Bottlerocket' | 'Custom' | 'Windows2019' | 'Windows2022' | 'Windows2025',
) => blockDeviceRequests(blockDevicesOf(nodeClass({ amiFamily, amiSelectorTerms: [{ id: 'ami-1' }] })));

const gp3 = (DeviceName: string, VolumeSize: number) => ({
  DeviceName,
  Ebs: { Encrypted: true, VolumeType: 'gp3', VolumeSize },
});

test.each([
  ['AL2', [gp3('/dev/xvda', 20)]],
  ['AL2023', [gp3('/dev/xvda', 20)]],
  ['Bottlerocket', [gp3('/dev/xvda', 4), gp3('/dev/xvdb', 20)]],
  ['Windows2019', [gp3('/dev/sda1', 50)]],
  ['Windows2022', [gp3('/dev/sda1', 50)]],
  ['Windows2025', [gp3('/dev/sda1', 50)]],
  ['Custom', []],
] as const)('%s has its own volumes by default, gp3 and encrypted, without iops', (family, expected) => {
  expect(requests(family)).toEqual(expected);
});

const request = (ebs: NonNullable<BlockDeviceMapping['ebs']>) =>
  blockDeviceRequests(
    blockDevicesOf(nodeClass({ blockDeviceMappings: [{ deviceName: '/dev/xvda', rootVolume: true, ebs }] })),
  )[0]?.Ebs;

test.each([
  ['200G', 187],
  ['200Gi', 200],
  ['4G', 4],
  ['2G', 2],
  ['1Ti', 1024],
])('a volume of %s has %d GiB', (volumeSize, size) => {
  expect(request({ volumeSize })?.VolumeSize).toBe(size);
});

test('a list of the class is sent verbatim instead of the default', () => {
  expect(
    request({
      deleteOnTermination: true,
      encrypted: false,
      volumeType: 'io2',
      iops: 10_000,
      throughput: 125,
      kmsKeyID: 'key',
      volumeSize: '100Gi',
    }),
  ).toEqual({
    DeleteOnTermination: true,
    Encrypted: false,
    VolumeType: 'io2',
    Iops: 10_000,
    Throughput: 125,
    KmsKeyId: 'key',
    VolumeSize: 100,
  });
});

test('an empty list is none', () => {
  const spec = { amiFamily: 'Bottlerocket' as const, amiSelectorTerms: [{ id: 'ami-1' }] };
  expect(blockDevicesOf(nodeClass({ ...spec, blockDeviceMappings: [] }))).toEqual(blockDevicesOf(nodeClass(spec)));
});

test('zero iops and throughput are not sent', () => {
  expect(request({ iops: 0, throughput: 0, volumeSize: '1Gi' })).toEqual({ VolumeSize: 1 });
});

test('a volume made from a snapshot alone has no size', () => {
  expect(request({ snapshotID: 'snap-1', volumeInitializationRate: 100 })).toEqual({
    SnapshotId: 'snap-1',
    VolumeInitializationRate: 100,
  });
});
