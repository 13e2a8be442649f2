// Bottlerocket: one document of settings. The user's is kept except where the cluster depends on a value: those under
// settings.kubernetes that name the cluster, its taints and labels, and what the class says about the kubelet.
import { bindsByDefault, bottlerocketVersion } from './bottlerocket-version.ts';
import { gracePeriods, type UserDataInput } from './input.ts';
import { isTable, readToml, type TomlTable, type TomlValue } from './toml-reader.ts';
import { writeToml } from './toml-writer.ts';

/** Settings of the kubelet that users may set; others are dropped, as Bottlerocket would refuse the whole document. */
const knownKubernetesKeys = new Set([
  'allowed-unsafe-sysctls',
  'api-server',
  'cloud-provider',
  'cluster-certificate',
  'cluster-dns-ip',
  'cluster-domain',
  'cluster-name',
  'container-log-max-files',
  'container-log-max-size',
  'container-log-max-workers',
  'container-log-monitor-interval',
  'cpu-cfs-quota-enforced',
  'cpu-manager-policy',
  'cpu-manager-policy-options',
  'cpu-manager-reconcile-period',
  'credential-providers',
  'device-ownership-from-security-context',
  'event-burst',
  'event-qps',
  'eviction-hard',
  'eviction-max-pod-grace-period',
  'eviction-soft',
  'eviction-soft-grace-period',
  'hostname-override-source',
  'ids-per-pod',
  'image-gc-high-threshold-percent',
  'image-gc-low-threshold-percent',
  'kube-api-burst',
  'kube-api-qps',
  'kube-reserved',
  'log-level',
  'max-pods',
  'memory-manager-policy',
  'node-labels',
  'node-taints',
  'pod-pids-limit',
  'registry-burst',
  'registry-qps',
  'seccomp-default',
  'server-tls-bootstrap',
  'shutdown-grace-period',
  'shutdown-grace-period-for-critical-pods',
  'single-process-oom-kill',
  'static-pods',
  'system-reserved',
  'topology-manager-policy',
  'topology-manager-policy-options',
  'topology-manager-scope',
]);

const bootstrapCommands = 'bootstrap-commands';
/** The zeros make it run before the user's own. */
const mountCommand = '000-mount-instance-storage';
const boundFolders = ['/var/lib/containerd', '/var/lib/kubelet', '/var/log/pods'];

export function bottlerocket(input: UserDataInput): string {
  const document = readToml(input.custom);
  const settings = tableAt(document, 'settings');
  const given = tableAt(settings, 'kubernetes');
  const ignored = [
    ...Object.keys(document).filter((key) => key !== 'settings'),
    ...Object.keys(given)
      .filter((key) => !knownKubernetesKeys.has(key))
      .map((key) => `settings.kubernetes.${key}`),
  ];
  if (ignored.length > 0) input.onIgnored?.(ignored);
  const known = Object.fromEntries(Object.entries(given).filter(([key]) => knownKubernetesKeys.has(key)));
  const commands = { ...tableAt(settings, bootstrapCommands), ...(input.raid0 ? mountCommands(input) : {}) };
  return writeToml({
    settings: {
      ...settings,
      kubernetes: withoutEmpty({ ...known, ...kubernetesSettings(input, known) }),
      ...(Object.keys(commands).length === 0 ? {} : { [bootstrapCommands]: commands }),
    },
  });
}

function kubernetesSettings(input: UserDataInput, known: TomlTable): TomlTable {
  const { cluster, kubelet, labels } = input;
  return defined({
    'api-server': cluster.endpoint,
    'cluster-certificate': cluster.caBundle || undefined,
    'cluster-name': cluster.name,
    'node-labels': { ...tableAt(known, 'node-labels'), ...labels },
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

function tableAt(table: TomlTable, key: string): TomlTable {
  const value = table[key];
  return isTable(value) ? value : {};
}

/** Bottlerocket has no use for a table without entries. */
const withoutEmpty = (table: TomlTable): TomlTable =>
  Object.fromEntries(Object.entries(table).filter(([, value]) => !isTable(value) || Object.keys(value).length > 0));

const defined = (table: Record<string, TomlValue | undefined>): TomlTable =>
  Object.fromEntries(Object.entries(table).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])));
