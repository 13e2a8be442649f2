// Kubelet settings as command line flags, for the families whose bootstrap script takes them so.
import { gracePeriods, sorted, type UserDataInput } from './input.ts';

export function kubeletFlags({ kubelet, labels, taints }: UserDataInput): string {
  const { maxPods, podsPerCore, evictionMaxPodGracePeriod, cpuCFSQuota } = kubelet;
  const flags = [
    labelsFlag(labels),
    `--register-with-taints="${taints.map(taintText).join()}"`,
    plain('max-pods', maxPods),
    plain('pods-per-core', podsPerCore),
    pairs('system-reserved', kubelet.systemReserved, '='),
    pairs('kube-reserved', kubelet.kubeReserved, '='),
    pairs('eviction-hard', kubelet.evictionHard, '<'),
    pairs('eviction-soft', kubelet.evictionSoft, '<'),
    pairs('eviction-soft-grace-period', gracePeriods(kubelet), '='),
    plain('eviction-max-pod-grace-period', evictionMaxPodGracePeriod),
    plain('image-gc-high-threshold', kubelet.imageGCHighThresholdPercent),
    plain('image-gc-low-threshold', kubelet.imageGCLowThresholdPercent),
    plain('cpu-cfs-quota', cpuCFSQuota),
  ];
  return flags.filter((flag) => flag !== undefined).join(' ');
}

export function labelsFlag(labels: Readonly<Record<string, string>>): string | undefined {
  return pairs('node-labels', labels, '=');
}

const taintText = ({ key, value, effect }: UserDataInput['taints'][number]): string =>
  value === undefined || value === '' ? `${key}:${effect}` : `${key}=${value}:${effect}`;

const plain = (name: string, value: number | boolean | undefined): string | undefined =>
  value === undefined ? undefined : `--${name}=${value}`;

function pairs(name: string, map: Readonly<Record<string, string>> | undefined, sign: string): string | undefined {
  const entries = sorted(map);
  if (entries.length === 0) return undefined;
  return `--${name}="${entries.map(([key, value]) => `${key}${sign}${value}`).join()}"`;
}
