// Bottlerocket: one document of settings. The user's is kept except where the cluster depends on a value: those under
// settings.kubernetes that name the cluster, its taints and labels, and what the class says about the kubelet.
import { givenSettings } from './bottlerocket-settings.ts';
import { bindsByDefault, bottlerocketVersion } from './bottlerocket-version.ts';
import { gracePeriods, type UserDataInput } from './input.ts';
import { isTable, readToml, type TomlTable, type TomlValue } from './toml-reader.ts';
import { writeToml } from './toml-writer.ts';

/** The zeros make it run before the user's own. */
const mountCommand = '000-mount-instance-storage';
const boundFolders = ['/var/lib/containerd', '/var/lib/kubelet', '/var/log/pods'];

export function bottlerocket(input: UserDataInput): string {
  const { settings, kubernetes, bootstrapCommands, ignored } = givenSettings(readToml(input.custom));
  if (ignored.length > 0) input.onIgnored?.(ignored);
  const commands = { ...bootstrapCommands, ...(input.raid0 ? mountCommands(input) : {}) };
  return writeToml({
    settings: {
      ...settings,
      kubernetes: withoutEmpty({ ...kubernetes, ...kubernetesSettings(input, kubernetes) }),
      ...(Object.keys(commands).length === 0 ? {} : { 'bootstrap-commands': commands }),
    },
  });
}

function kubernetesSettings(input: UserDataInput, given: TomlTable): TomlTable {
  const { cluster, kubelet, labels } = input;
  return defined({
    'api-server': cluster.endpoint,
    'cluster-certificate': cluster.caBundle || undefined,
    'cluster-name': cluster.name,
    'node-labels': { ...(given['node-labels'] as TomlTable | undefined), ...labels },
    'node-taints': taintTable(input),
    'max-pods': kubelet.maxPods,
    'cluster-dns-ip': kubelet.clusterDNS?.[0],
    'system-reserved': kubelet.systemReserved,
    'kube-reserved': kubelet.kubeReserved,
    'eviction-hard': kubelet.evictionHard,
    'eviction-soft': kubelet.evictionSoft,
    'eviction-soft-grace-period': gracePeriods(kubelet),
    'eviction-max-pod-grace-period': kubelet.evictionMaxPodGracePeriod,
    // Bottlerocket wants percentages as text.
    'image-gc-high-threshold-percent': kubelet.imageGCHighThresholdPercent?.toString(),
    'image-gc-low-threshold-percent': kubelet.imageGCLowThresholdPercent?.toString(),
    'cpu-cfs-quota-enforced': kubelet.cpuCFSQuota,
  });
}

/** By key, since a key may stand with several values and effects. */
function taintTable({ taints }: UserDataInput): TomlTable {
  const table: Record<string, string[]> = {};
  for (const { key, value = '', effect } of taints) (table[key] ??= []).push(`${value}:${effect}`);
  return table;
}

function mountCommands({ nodeClass }: UserDataInput): TomlTable {
  const bind = ['apiclient', 'ephemeral-storage', 'bind'];
  if (!bindsByDefault(bottlerocketVersion(nodeClass))) bind.push('--dirs', ...boundFolders);
  return {
    [mountCommand]: { commands: [['apiclient', 'ephemeral-storage', 'init'], bind], mode: 'always', essential: true },
  };
}

/** Bottlerocket has no use for a table without entries. */
const withoutEmpty = (table: TomlTable): TomlTable =>
  Object.fromEntries(Object.entries(table).filter(([, value]) => !isTable(value) || Object.keys(value).length > 0));

const defined = (table: Record<string, TomlValue | undefined>): TomlTable =>
  Object.fromEntries(Object.entries(table).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])));
