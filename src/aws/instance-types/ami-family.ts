// What the families of machine images differ in, as far as the size of a node is concerned. One row per family.
import { type EC2NodeClassSpec, resolvedAmiFamily } from '../../api/index.ts';

export type AmiFamily = 'AL2' | 'AL2023' | 'Bottlerocket' | 'Custom' | 'Windows2019' | 'Windows2022' | 'Windows2025';

export interface AmiFamilyTraits {
  os: 'linux' | 'windows';
  /** Label `node.kubernetes.io/windows-build`. */
  windowsBuild?: string;
  /** The device whose size is the node's ephemeral storage; none means the last mapping of the list. */
  ephemeralDevice?: string;
  defaultEphemeralStorage: string;
  /** Pods limited by network interfaces; otherwise 110. */
  eniLimitedPods: boolean;
  /** Kube-reserved memory follows the interface limit even when the node takes more or fewer pods. */
  reservesMemoryByEni: boolean;
  honoursPodsPerCore: boolean;
}

const linux: AmiFamilyTraits = {
  os: 'linux',
  ephemeralDevice: '/dev/xvda',
  defaultEphemeralStorage: '20Gi',
  eniLimitedPods: true,
  reservesMemoryByEni: true,
  honoursPodsPerCore: true,
};

const windows = (windowsBuild: string): AmiFamilyTraits => ({
  os: 'windows',
  windowsBuild,
  ephemeralDevice: '/dev/sda1',
  defaultEphemeralStorage: '50Gi',
  eniLimitedPods: false,
  reservesMemoryByEni: false,
  honoursPodsPerCore: true,
});

const { ephemeralDevice: _lastMappingCounts, ...custom } = linux;

export const amiFamilies: Readonly<Record<AmiFamily, AmiFamilyTraits>> = {
  AL2: linux,
  AL2023: linux,
  // Bottlerocket keeps containers on its second device and derives reserved memory from the pods the kubelet allows.
  Bottlerocket: { ...linux, ephemeralDevice: '/dev/xvdb', reservesMemoryByEni: false, honoursPodsPerCore: false },
  Custom: custom,
  Windows2019: windows('10.0.17763'),
  Windows2022: windows('10.0.20348'),
  Windows2025: windows('10.0.26100'),
};

/** The family a raw class stands for; one written in an unknown way counts as Custom. */
export function amiFamilyOf(spec: { amiFamily?: string; amiSelectorTerms?: { alias?: string }[] }): AmiFamily {
  const family = resolvedAmiFamily({ amiSelectorTerms: [], ...spec } as EC2NodeClassSpec);
  return family in amiFamilies ? (family as AmiFamily) : 'Custom';
}

/** There are no Windows images for arm64: such a type has no operating system at all. */
export function operatingSystemOf(family: AmiFamily, architecture: string | undefined): string | undefined {
  const { os } = amiFamilies[family];
  return os === 'windows' && architecture !== 'amd64' ? undefined : os;
}
