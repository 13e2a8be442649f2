// An alias (`al2023@latest`) names a family of images and a version; Amazon publishes the ids of the images under
// parameters whose names follow from both and from the version of Kubernetes. A Bottlerocket version that ends in `-fips`
// (`bottlerocket@latest-fips`) names the images whose cryptographic modules are validated by FIPS 140-3; every CRD of
// EC2NodeClass accepts it.
import type { AmiFamily } from '../instance-types/ami-family.ts';

/** What an image was made for; the requirement set that goes with each is in image-requirements.ts. */
export type ImageVariant = 'standard' | 'nvidia' | 'neuron' | 'windows';

export interface Alias {
  family: Exclude<AmiFamily, 'Custom'>;
  version: string;
  isFips: boolean;
}

export interface AliasParameter {
  name: string;
  /** Amazon changes its value when it publishes a new image. */
  isMutable: boolean;
  /** One image may serve several purposes. */
  variants: readonly ImageVariant[];
}

const families: Readonly<Record<string, Alias['family']>> = {
  al2: 'AL2',
  al2023: 'AL2023',
  bottlerocket: 'Bottlerocket',
  windows2019: 'Windows2019',
  windows2022: 'Windows2022',
  windows2025: 'Windows2025',
};

const fipsSuffix = '-fips';

/** Undefined for text that admission would have refused. */
export function parseAlias(text: string): Alias | undefined {
  const at = text.indexOf('@');
  const family = families[text.slice(0, at)];
  const named = text.slice(at + 1);
  const isFips = family === 'Bottlerocket' && named.endsWith(fipsSuffix);
  const version = isFips ? named.slice(0, -fipsSuffix.length) : named;
  return at < 0 || family === undefined || version === '' ? undefined : { family, version, isFips };
}

const lastOfAl2 = 'https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions-standard.html#kubernetes-1-33';

const otherFips =
  "Use 'bottlerocket@latest-fips', or set amiFamily and select an image of your own with 'ssmParameter', the path of the parameter that holds its id.";

/** Why Amazon publishes no such images for this version of Kubernetes; undefined if it does. */
export function unsupportedAlias({ family, version }: Alias, kubernetesVersion: string): string | undefined {
  const minor = Number(kubernetesVersion.split('.')[1] ?? 0);
  if (family === 'AL2' && minor >= 33) return `AL2 aliases are no longer supported on EKS 1.33+ (see ${lastOfAl2})`;
  if (family === 'Windows2025' && minor < 35)
    return `Windows Server 2025 requires EKS version 1.35 or higher, current version: ${kubernetesVersion}`;
  if (version.endsWith(fipsSuffix)) return `Amazon publishes no FIPS images of ${family}. ${otherFips}`;
  return undefined;
}

export function aliasParameters({ family, version, isFips }: Alias, kubernetesVersion: string): AliasParameter[] {
  const isMutable = version === 'latest';
  const published = publishers[family](kubernetesVersion, version, { isLatest: isMutable, isFips });
  return published.map(([name, ...variants]) => ({ name: `/aws/service/${name}/image_id`, isMutable, variants }));
}

type Published = [name: string, ...variants: ImageVariant[]];
type Publisher = (kubernetes: string, version: string, of: { isLatest: boolean; isFips: boolean }) => Published[];

const amazonLinux2: Publisher = (kubernetes, version, { isLatest }) => {
  const named = (folder: string, prefix: string): string =>
    `eks/optimized-ami/${kubernetes}/${folder}/${isLatest ? 'recommended' : `${prefix}-${kubernetes}-${version}`}`;
  return [
    [named('amazon-linux-2', 'amazon-eks-node'), 'standard'],
    [named('amazon-linux-2-arm64', 'amazon-eks-arm64-node'), 'standard'],
    [named('amazon-linux-2-gpu', 'amazon-eks-gpu-node'), 'neuron', 'nvidia'],
  ];
};

const amazonLinux2023: Publisher = (kubernetes, version, { isLatest }) => {
  const named = (arch: 'x86_64' | 'arm64', variant: ImageVariant): Published => {
    const last = isLatest ? 'recommended' : `amazon-eks-node-al2023-${arch}-${variant}-${kubernetes}-${version}`;
    return [`eks/optimized-ami/${kubernetes}/amazon-linux-2023/${arch}/${variant}/${last}`, variant];
  };
  return [
    named('x86_64', 'standard'),
    named('arm64', 'standard'),
    named('x86_64', 'nvidia'),
    named('arm64', 'nvidia'),
    named('x86_64', 'neuron'),
  ];
};

const bottlerocket: Publisher = (kubernetes, version, { isFips }) => {
  const named = (flavour: string, arch: string): string =>
    `bottlerocket/aws-k8s-${kubernetes}${flavour}${isFips ? fipsSuffix : ''}/${arch}/${version.replace(/^v+/, '')}`;
  return [
    [named('', 'x86_64'), 'standard', 'neuron'],
    [named('', 'arm64'), 'standard'],
    [named('-nvidia', 'x86_64'), 'nvidia'],
    [named('-nvidia', 'arm64'), 'nvidia'],
  ];
};

const windows =
  (year: string): Publisher =>
  (kubernetes) => [[`ami-windows-latest/Windows_Server-${year}-English-Core-EKS_Optimized-${kubernetes}`, 'windows']];

const publishers: Readonly<Record<Alias['family'], Publisher>> = {
  AL2: amazonLinux2,
  AL2023: amazonLinux2023,
  Bottlerocket: bottlerocket,
  Windows2019: windows('2019'),
  Windows2022: windows('2022'),
  Windows2025: windows('2025'),
};
