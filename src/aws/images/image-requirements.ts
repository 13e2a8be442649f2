// What an instance type must be for an image to boot on it, as the status of a class lists it.
import { awsLabel, type EC2NodeClass, label } from '../../api/index.ts';
import { amiFamilies } from '../instance-types/ami-family.ts';
import type { Alias, ImageVariant } from './alias.ts';

export type ImageStatus = NonNullable<NonNullable<EC2NodeClass['status']>['amis']>[number];
export type ImageRequirement = ImageStatus['requirements'][number];

const architectures: Readonly<Record<string, string>> = { x86_64: 'amd64', arm64: 'arm64' };

/** Devices an image has drivers for. Nothing is asked of images that people made themselves. */
export function variantRequirements(variant: ImageVariant, family: Alias['family']): ImageRequirement[] {
  switch (variant) {
    case 'standard':
      return [
        { key: awsLabel.instanceGpuCount, operator: 'DoesNotExist' },
        { key: awsLabel.instanceAcceleratorCount, operator: 'DoesNotExist' },
      ];
    case 'nvidia':
      return [{ key: awsLabel.instanceGpuCount, operator: 'Exists' }];
    case 'neuron':
      return [{ key: awsLabel.instanceAcceleratorCount, operator: 'Exists' }];
    case 'windows':
      return [
        { key: label.os, operator: 'In', values: ['windows'] },
        { key: label.windowsBuild, operator: 'In', values: [amiFamilies[family].windowsBuild ?? ''] },
      ];
  }
}

/** With the image's architecture added; undefined for one that Kubernetes has no name for. Short keys first. */
export function withArchitecture(
  requirements: readonly ImageRequirement[],
  architecture: string | undefined,
): ImageRequirement[] | undefined {
  const arch = architectures[architecture ?? ''];
  if (arch === undefined) return undefined;
  const all: ImageRequirement[] = [...requirements, { key: label.arch, operator: 'In', values: [arch] }];
  return all.sort((left, right) => left.key.length - right.key.length || (left.key < right.key ? -1 : 1));
}
