import { expect, test } from 'vitest';
import { attachmentLimits } from './attachments.ts';
import { contextOf, infos } from './instance-types.testing.ts';

const nitro = infos.find(({ InstanceType }) => InstanceType === 'm5.large');
if (nitro === undefined) throw new Error('the table has no m5.large');
const limit = (change: Partial<typeof nitro>, spec = {}) =>
  attachmentLimits({ ...nitro, ...change }, contextOf({ spec }))['ebs.csi.aws.com'];

test('on Nitro, slots are shared with the interface, the boot volume and local disks', () => {
  expect(limit({})).toBe(28 - 1 - 1);
  expect(limit({ InstanceStorageInfo: { TotalSizeInGB: 100, NvmeSupport: 'required', DiskCount: 2 } })).toBe(
    28 - 1 - 1 - 2,
  );
  const networkInterfaces = [0, 1].map((deviceIndex) => ({
    networkCardIndex: 0,
    deviceIndex,
    interfaceType: 'interface',
  }));
  expect(limit({}, { networkInterfaces })).toBe(28 - 2 - 1);
});

test('slots of their own are shared with nothing but what the node boots from', () => {
  const EbsInfo = { MaximumEbsAttachments: 32, AttachmentLimitType: 'dedicated' };
  expect(limit({ EbsInfo, InstanceStorageInfo: { TotalSizeInGB: 1, DiskCount: 4 } })).toBe(31);
  const blockDeviceMappings = [{ deviceName: 'a' }, { deviceName: 'b' }, { deviceName: 'c' }];
  expect(limit({ EbsInfo }, { blockDeviceMappings })).toBe(29);
});

test('before Nitro there were 39, and there is always one', () => {
  expect(limit({ Hypervisor: 'xen' })).toBe(38);
  expect(limit({ EbsInfo: { MaximumEbsAttachments: 1, AttachmentLimitType: 'shared' } })).toBe(1);
});
