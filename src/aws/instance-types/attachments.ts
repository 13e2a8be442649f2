// How many EBS volumes the pods of a node can have, as the EBS driver will say once it runs there. On Nitro machines volumes
// share their slots with network interfaces and local disks, unless the type has slots of their own; what the node itself
// boots from takes some in any case. Interfaces that the network plugin adds later are not counted: the driver, too, counts
// those that are there when it starts.
import type { InstanceTypeContext } from './context.ts';
import type { InstanceTypeInfo } from './instance-type-info.ts';

const ebsDriver = 'ebs.csi.aws.com';
/** Where EC2 does not say: slots of a Nitro machine for volumes, interfaces and disks together. */
const nitroSlots = 28;
/** Recommended for the machines before Nitro. */
const xenVolumes = 39;

export function attachmentLimits(info: InstanceTypeInfo, context: InstanceTypeContext): Record<string, number> {
  return { [ebsDriver]: Math.max(1, volumesOf(info) - sharedSlots(info, context) - bootVolumes(context)) };
}

function volumesOf({ EbsInfo, Hypervisor, BareMetal }: InstanceTypeInfo): number {
  return EbsInfo?.MaximumEbsAttachments ?? (Hypervisor === 'nitro' || BareMetal === true ? nitroSlots : xenVolumes);
}

function sharedSlots(info: InstanceTypeInfo, { networkInterfaces }: InstanceTypeContext): number {
  const isNitro = info.Hypervisor === 'nitro' || info.BareMetal === true;
  if (!isNitro || info.EbsInfo?.AttachmentLimitType === 'dedicated') return 0;
  return Math.max(1, networkInterfaces.length) + disksOf(info);
}

function disksOf({ InstanceStorageInfo: storage }: InstanceTypeInfo): number {
  if (storage === undefined || storage.NvmeSupport === 'unsupported') return 0;
  return storage.DiskCount ?? 1;
}

/** Bottlerocket keeps containers on a volume of their own. */
function bootVolumes({ blockDevices, amiFamily }: InstanceTypeContext): number {
  return Math.max(blockDevices.length, amiFamily === 'Bottlerocket' ? 2 : 1);
}
