// Every setting of the controller process: its flag, its environment variable, its default and what it means. The
// reference page is generated from this table. A flag wins over the environment, which wins over the default.

export type SettingKind = 'text' | 'integer' | 'number' | 'boolean' | 'duration' | 'choice' | 'gates';

export interface SettingDefinition {
  flag: string;
  env: string;
  kind: SettingKind;
  fallback: string;
  choices?: readonly string[];
  /** The gates of a list of gates, with their defaults. */
  gates?: Readonly<Record<string, boolean>>;
  meaning: string;
}

export const define = (
  flag: string,
  kind: SettingKind,
  fallback: string,
  meaning: string,
  choices?: readonly string[],
): SettingDefinition => ({
  flag,
  env: flag.replaceAll('-', '_').toUpperCase(),
  kind,
  fallback,
  meaning,
  ...(choices === undefined ? {} : { choices }),
});

export const defaultGates: Readonly<Record<string, boolean>> = {
  NodeRepair: false,
  ReservedCapacity: true,
  SpotToSpotConsolidation: false,
  NodeOverlay: false,
  StaticCapacity: false,
  CapacityBuffer: false,
  TerminateFirstDrift: false,
  TerminateFirstRepair: false,
  PodDeletionCostManagement: false,
};

/** Gates of the aws provider. */
export const defaultAwsGates: Readonly<Record<string, boolean>> = {
  NodeClassCEL: false,
  DRANVIDIAGPU: false,
  DRAEFA: false,
  RebootForRepair: false,
};

/** Gates about devices, which are planned with only if resource claims are. */
export const deviceGates: readonly string[] = ['DRANVIDIAGPU', 'DRAEFA'];

/** Variables that begin like our own and are not settings of the table. */
export const otherVariables = ['KERF_PROVIDER', 'KERF_COMMIT', 'KERF_DEBUG', 'KERF_CACHE'];

/** A comma list of gates. */
export const defineGates = (
  flag: string,
  gates: Readonly<Record<string, boolean>>,
  meaning: string,
): SettingDefinition => ({
  ...define(
    flag,
    'gates',
    Object.entries(gates)
      .map(([name, on]) => `${name}=${on}`)
      .join(','),
    meaning,
  ),
  gates,
});

export const settingDefinitions = {
  karpenterService: define('karpenter-service', 'text', '', 'accepted for compatibility, unused'),
  metricsPort: define('metrics-port', 'integer', '8080', 'port of /metrics (and /debug/pprof with enable-profiling)'),
  healthProbePort: define('health-probe-port', 'integer', '8081', 'port of /healthz and /readyz'),
  record: define(
    'record',
    'text',
    '',
    'file to record decisions to, with what they looked at, for kerf replay; two parts of at most 256 MiB are kept; empty records nothing',
  ),
  dashboardPort: define(
    'dashboard-port',
    'integer',
    '0',
    "port of the dashboard on the pod's loopback, for kubectl port-forward; 0 serves none",
  ),
  kubeClientQps: define('kube-client-qps', 'integer', '200', 'requests per second to the API server, sustained'),
  kubeClientBurst: define('kube-client-burst', 'integer', '300', 'requests to the API server that may come at once'),
  enableProfiling: define('enable-profiling', 'boolean', 'false', 'serve /debug/pprof/* on the metrics port'),
  disableControllerWarmup: define(
    'disable-controller-warmup',
    'boolean',
    'true',
    'accepted for compatibility: caches of non-leaders are always warm here',
  ),
  disableLeaderElection: define(
    'disable-leader-election',
    'boolean',
    'false',
    'run without a lease (one replica only)',
  ),
  disableClusterStateObservability: define(
    'disable-cluster-state-observability',
    'boolean',
    'false',
    'drop pod, node and nodepool gauges, condition metrics and condition events',
  ),
  leaderElectionName: define('leader-election-name', 'text', 'karpenter-leader-election', 'name of the Lease'),
  leaderElectionNamespace: define(
    'leader-election-namespace',
    'text',
    '',
    "namespace of the Lease; the pod's own if empty",
  ),
  memoryLimit: define('memory-limit', 'integer', '-1', 'bytes this process may use; -1 for no limit'),
  cpuRequests: define('cpu-requests', 'integer', '1000', 'millicores of this process; drives concurrency'),
  logLevel: define('log-level', 'choice', 'info', 'how much is logged', ['', 'debug', 'info', 'error']),
  logOutputPaths: define('log-output-paths', 'text', 'stdout', 'comma list of stdout, stderr and files'),
  logErrorOutputPaths: define(
    'log-error-output-paths',
    'text',
    'stderr',
    'comma list, for errors of the logger itself',
  ),
  batchMaxDuration: define('batch-max-duration', 'duration', '10s', 'longest time pods are gathered before planning'),
  batchIdleDuration: define(
    'batch-idle-duration',
    'duration',
    '1s',
    'planning starts when no new pod came for this long',
  ),
  preferencePolicy: define('preference-policy', 'choice', 'Respect', 'whether preferences count', [
    'Respect',
    'Ignore',
  ]),
  minValuesPolicy: define('min-values-policy', 'choice', 'Strict', 'whether minValues may be lowered', [
    'Strict',
    'BestEffort',
  ]),
  ignoreDraRequests: define('ignore-dra-requests', 'boolean', 'true', 'leave pods with resource claims alone'),
  budgetTimeZone: define(
    'budget-time-zone',
    'text',
    'UTC',
    'time zone of the schedules of disruption budgets, for example Europe/Berlin',
  ),
  consolidationPayback: define(
    'consolidation-payback',
    'duration',
    '0s',
    'a replacement must earn within this time what both nodes cost while they run side by side, taken as ten minutes; 0s asks for nothing',
  ),
  nodeCostPerHour: define(
    'node-cost-per-hour',
    'number',
    '0.005',
    'what a node costs in USD per hour beside its price, counted when plans are compared; a NodePool may state its own in the annotation kerf.sh/node-cost-per-hour',
  ),
  expirationGrace: define(
    'expiration-grace',
    'duration',
    '0s',
    'with 0s nodes are deleted the moment they expire, whatever budgets say; longer, they are replaced like drifted ones within budgets and deleted only after this long',
  ),
  keepDaemonSetRoom: define(
    'keep-daemonset-room',
    'boolean',
    'false',
    'new nodes stay cordoned until the pods of their DaemonSets are bound, one minute at most, so that other pods do not take their room',
  ),
  legacyNodeRepair: define(
    'legacy-node-repair',
    'boolean',
    'false',
    'with the gate NodeRepair: unhealthy nodes are deleted first and replaced afterwards, whatever budgets say, instead of by disruption commands',
  ),
  schedulerConfig: define(
    'scheduler-config',
    'text',
    '',
    'YAML or JSON with what kube-scheduler was configured with: podTopologySpread.defaultConstraints',
  ),
  featureGates: defineGates('feature-gates', defaultGates, 'comma list of Name=true or Name=false'),
} satisfies Record<string, SettingDefinition>;

export type SettingName = keyof typeof settingDefinitions;
