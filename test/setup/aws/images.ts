// The machine images of the emulated account, and the public parameters that name them, for every Kubernetes version and
// family that node classes can ask for. Two releases of each, so that "latest" and a pinned version differ.
import { createHash } from 'node:crypto';

export interface Image {
  imageId: string;
  name: string;
  ownerId: string;
  /** `amazon` for Amazon's own. */
  ownerAlias?: string;
  architecture: 'x86_64' | 'arm64';
  creationDate: string;
  deprecationTime?: string;
  state?: 'available' | 'pending' | 'disabled';
  platform?: 'windows';
  tags?: Record<string, string>;
}

interface PublishedImage {
  image: Image;
  /** Names under which the parameter store knows it. */
  parameters: string[];
}

export const kubernetesVersions = ['1.30', '1.31', '1.32', '1.33', '1.34', '1.35', '1.36', '1.37'];

/** Older first: the last one is what `latest` means. */
const releases = [
  { date: '2026-01-10T00:00:00.000Z', eks: 'v20260110', bottlerocket: '1.52.0' },
  { date: '2026-06-10T00:00:00.000Z', eks: 'v20260610', bottlerocket: '1.58.0' },
];

export function standardImages(): Image[] {
  return published().map(({ image }) => image);
}

export function standardParameters(): Map<string, string> {
  return new Map(
    published().flatMap(({ image, parameters }) => parameters.map((name) => [name, image.imageId] as const)),
  );
}

function published(): PublishedImage[] {
  return kubernetesVersions.flatMap((version) => [
    ...releases.flatMap((release) => [
      ...amazonLinux2(version, release),
      ...amazonLinux2023(version, release),
      ...bottlerocket(version, release),
    ]),
    ...windows(version),
  ]);
}

type Release = (typeof releases)[number];

const isLatest = (release: Release): boolean => release === releases.at(-1);

function amazonLinux2(version: string, release: Release): PublishedImage[] {
  const variants = [
    { folder: 'amazon-linux-2', prefix: 'amazon-eks-node', architecture: 'x86_64' },
    { folder: 'amazon-linux-2-arm64', prefix: 'amazon-eks-arm64-node', architecture: 'arm64' },
    { folder: 'amazon-linux-2-gpu', prefix: 'amazon-eks-gpu-node', architecture: 'x86_64' },
  ] as const;
  return variants.map(({ folder, prefix, architecture }) => {
    const name = `${prefix}-${version}-${release.eks}`;
    return eksImage(`/aws/service/eks/optimized-ami/${version}/${folder}`, name, architecture, release);
  });
}

function amazonLinux2023(version: string, release: Release): PublishedImage[] {
  const variants = { x86_64: ['standard', 'nvidia', 'neuron'], arm64: ['standard', 'nvidia'] } as const;
  return (['x86_64', 'arm64'] as const).flatMap((architecture) =>
    variants[architecture].map((variant) => {
      const name = `amazon-eks-node-al2023-${architecture}-${variant}-${version}-${release.eks}`;
      const folder = `/aws/service/eks/optimized-ami/${version}/amazon-linux-2023/${architecture}/${variant}`;
      return eksImage(folder, name, architecture, release);
    }),
  );
}

function eksImage(folder: string, name: string, architecture: Image['architecture'], release: Release): PublishedImage {
  const names = isLatest(release) ? ['recommended', name] : [name];
  return {
    image: amazonImage({ name, architecture, creationDate: release.date }),
    parameters: names.map((last) => `${folder}/${last}/image_id`),
  };
}

function bottlerocket(version: string, release: Release): PublishedImage[] {
  return ['', '-nvidia'].flatMap((suffix) =>
    (['x86_64', 'arm64'] as const).map((architecture) => {
      const variant = `aws-k8s-${version}${suffix}`;
      const names = isLatest(release) ? ['latest', release.bottlerocket] : [release.bottlerocket];
      const name = `bottlerocket-${variant}-${architecture}-v${release.bottlerocket}`;
      return {
        image: amazonImage({ name, architecture, creationDate: release.date }),
        parameters: names.map((last) => `/aws/service/bottlerocket/${variant}/${architecture}/${last}/image_id`),
      };
    }),
  );
}

function windows(version: string): PublishedImage[] {
  const date = releases.at(-1)?.date ?? '';
  return ['2019', '2022', '2025'].map((year) => {
    const variant = `Windows_Server-${year}-English-Core-EKS_Optimized-${version}`;
    const name = `${variant}-${date.slice(0, 10)}`;
    return {
      image: amazonImage({ name, architecture: 'x86_64', creationDate: date, platform: 'windows' }),
      parameters: [`/aws/service/ami-windows-latest/${variant}/image_id`],
    };
  });
}

function amazonImage(facts: Pick<Image, 'name' | 'architecture' | 'creationDate' | 'platform'>): Image {
  const imageId = `ami-${createHash('sha256').update(facts.name).digest('hex').slice(0, 17)}`;
  return { imageId, ownerId: '602401143452', ownerAlias: 'amazon', ...facts };
}
