// The volumes of an instance: those the class lists, else what its family of images expects.
import type { LaunchTemplateBlockDeviceMappingRequest } from '@aws-sdk/client-ec2';
import type { EC2NodeClass } from '../../api/index.ts';
import { parseQuantity } from '../../base/index.ts';
import { type AmiFamily, amiFamilyOf } from '../instance-types/ami-family.ts';

export type BlockDeviceMapping = NonNullable<EC2NodeClass['spec']['blockDeviceMappings']>[number];

const volume = (deviceName: string, volumeSize: string): BlockDeviceMapping => ({
  deviceName,
  ebs: { encrypted: true, volumeType: 'gp3', volumeSize },
});

const amazonLinux = [volume('/dev/xvda', '20Gi')];
const windows = [volume('/dev/sda1', '50Gi')];

const defaults: Readonly<Record<AmiFamily, readonly BlockDeviceMapping[]>> = {
  AL2: amazonLinux,
  AL2023: amazonLinux,
  // The system on the first, containers and logs on the second.
  Bottlerocket: [volume('/dev/xvda', '4Gi'), volume('/dev/xvdb', '20Gi')],
  Windows2019: windows,
  Windows2022: windows,
  Windows2025: windows,
  // The image itself says what it needs.
  Custom: [],
};

/** A list of the class replaces the family's as a whole; an empty one is none. */
export function blockDevicesOf({ spec }: Pick<EC2NodeClass, 'spec'>): readonly BlockDeviceMapping[] {
  const { blockDeviceMappings: own = [] } = spec;
  return own.length > 0 ? own : defaults[amiFamilyOf(spec)];
}

/** As a launch template takes them. Zero is how manifests say "not set" for iops and throughput. */
export function blockDeviceRequests(devices: readonly BlockDeviceMapping[]): LaunchTemplateBlockDeviceMappingRequest[] {
  return devices.map(({ deviceName, ebs }) => ({
    ...(deviceName === undefined ? {} : { DeviceName: deviceName }),
    ...(ebs === undefined
      ? {}
      : {
          Ebs: {
            DeleteOnTermination: ebs.deleteOnTermination,
            Encrypted: ebs.encrypted,
            VolumeType: ebs.volumeType,
            Iops: ebs.iops || undefined,
            Throughput: ebs.throughput || undefined,
            KmsKeyId: ebs.kmsKeyID,
            SnapshotId: ebs.snapshotID,
            VolumeInitializationRate: ebs.volumeInitializationRate,
            VolumeSize: ebs.volumeSize === undefined ? undefined : wholeGiB(ebs.volumeSize),
          },
        }),
  }));
}

const nanoPerGiB = 2n ** 30n * 1_000_000_000n;

/** EC2 counts whole GiB; what is asked for is rounded up: 200G are 187. */
function wholeGiB(quantity: string): number {
  const { nano } = parseQuantity(quantity);
  return Number((nano + nanoPerGiB - 1n) / nanoPerGiB);
}
