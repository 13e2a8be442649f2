// The entries of ami/, in the order of the catalogue.
import type { Failure } from '../../failure.ts';
import { blockDeviceNameInvalid } from './block-device-name-invalid.ts';
import { containerdConfigMissing } from './containerd-config-missing.ts';
import { eniMaxPodsEntryMissing } from './eni-max-pods-entry-missing.ts';
import { nodeadmContentTypeWarning } from './nodeadm-content-type-warning.ts';
import { noneForClusterVersion } from './none-for-cluster-version.ts';
import { sandboxImagePullStuck } from './sandbox-image-pull-stuck.ts';
import { swapBlocksKubelet } from './swap-blocks-kubelet.ts';
import { unintendedImageSelected } from './unintended-image-selected.ts';

export const ami: readonly Failure[] = [
  unintendedImageSelected,
  noneForClusterVersion,
  nodeadmContentTypeWarning,
  containerdConfigMissing,
  sandboxImagePullStuck,
  eniMaxPodsEntryMissing,
  swapBlocksKubelet,
  blockDeviceNameInvalid,
];
