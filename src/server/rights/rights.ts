// What the controller process may do in a cluster: one table. The chart's roles, the manifests of examples/aws and
// docs/reference/rbac.md are generated from it, and `kerf preflight` asks the API server about the same lines. A right
// that only a provider, a gate or a setting needs says so in `when`, so that no installation gets more than it uses.
import { awsGroup as aws, group as karpenter, kwokGroup as kwok } from '../../api/index.ts';

/** Circumstances under which a right is needed beyond those that always are. */
export type Circumstance =
  | 'aws'
  | 'kwok'
  | 'fakeKubelets'
  | 'nodeOverlay'
  | 'capacityBuffer'
  | 'devices'
  | 'defaultSpread'
  | 'deletionCosts'
  | 'dashboard';

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete';

export interface Right {
  group: string;
  resources: readonly string[];
  verbs: readonly Verb[];
  /** Only these objects. */
  names?: readonly string[];
  when?: Circumstance;
  /** Why it is needed; a comment in manifests. */
  why?: string;
}

const read: readonly Verb[] = ['get', 'list', 'watch'];
const core = '';

/** In the whole cluster. What only reads is also what a shadow gets. */
export const clusterRights: readonly Right[] = [
  {
    group: karpenter,
    resources: ['nodepools', 'nodepools/status', 'nodeclaims', 'nodeclaims/status'],
    verbs: read,
    why: 'What it looks at.',
  },
  {
    group: core,
    resources: ['pods', 'nodes', 'persistentvolumes', 'persistentvolumeclaims', 'namespaces'],
    verbs: read,
  },
  { group: 'storage.k8s.io', resources: ['storageclasses', 'csinodes', 'volumeattachments'], verbs: read },
  { group: 'storage.k8s.io', resources: ['csidrivers', 'csistoragecapacities'], verbs: read },
  { group: 'apps', resources: ['daemonsets'], verbs: read },
  { group: 'policy', resources: ['poddisruptionbudgets'], verbs: read },
  { group: karpenter, resources: ['nodeoverlays'], verbs: read, when: 'nodeOverlay' },
  { group: 'autoscaling.x-k8s.io', resources: ['capacitybuffers'], verbs: read, when: 'capacityBuffer' },
  { group: core, resources: ['podtemplates', 'replicationcontrollers'], verbs: read, when: 'capacityBuffer' },
  { group: 'apps', resources: ['deployments', 'replicasets', 'statefulsets'], verbs: read, when: 'capacityBuffer' },
  { group: core, resources: ['services', 'replicationcontrollers'], verbs: read, when: 'defaultSpread' },
  { group: 'apps', resources: ['replicasets', 'statefulsets'], verbs: read, when: 'defaultSpread' },
  {
    group: 'resource.k8s.io',
    resources: ['resourceslices', 'resourceclaims', 'deviceclasses', 'devicetaintrules'],
    verbs: read,
    when: 'devices',
  },
  {
    group: 'metrics.k8s.io',
    resources: ['nodes'],
    verbs: ['get', 'list'],
    when: 'dashboard',
    why: 'What nodes really use, beside what pods request.',
  },
  { group: aws, resources: ['ec2nodeclasses'], verbs: read, when: 'aws' },
  { group: kwok, resources: ['kwoknodeclasses'], verbs: read, when: 'kwok' },
  {
    group: karpenter,
    resources: ['nodeclaims', 'nodeclaims/status', 'nodeclaims/finalizers'],
    verbs: ['create', 'delete', 'update', 'patch'],
    why: 'What it writes.',
  },
  {
    group: karpenter,
    resources: ['nodepools', 'nodepools/status', 'nodepools/finalizers'],
    verbs: ['update', 'patch'],
  },
  { group: core, resources: ['nodes'], verbs: ['update', 'patch', 'delete'] },
  { group: core, resources: ['pods/eviction'], verbs: ['create'] },
  {
    group: core,
    resources: ['pods'],
    verbs: ['delete'],
    why: 'By force, when a termination grace period runs out.',
  },
  {
    group: core,
    resources: ['pods'],
    verbs: ['patch'],
    when: 'deletionCosts',
    why: 'Deletion costs, which ReplicaSets read when they are scaled down.',
  },
  { group: core, resources: ['events'], verbs: ['create', 'patch'] },
  { group: karpenter, resources: ['nodeoverlays/status'], verbs: ['update', 'patch'], when: 'nodeOverlay' },
  {
    group: 'autoscaling.x-k8s.io',
    resources: ['capacitybuffers/status'],
    verbs: ['update', 'patch'],
    when: 'capacityBuffer',
  },
  {
    group: aws,
    resources: ['ec2nodeclasses', 'ec2nodeclasses/status'],
    verbs: ['update', 'patch'],
    when: 'aws',
  },
  {
    group: core,
    resources: ['nodes'],
    verbs: ['create'],
    when: 'kwok',
    why: 'Machines of the simulated cloud are Node objects.',
  },
  {
    group: core,
    resources: ['nodes/status'],
    verbs: ['patch'],
    when: 'kwok',
    why: 'A simulated machine that was rebooted has another boot id.',
  },
  {
    group: core,
    resources: ['nodes/status', 'pods/status'],
    verbs: ['patch'],
    when: 'fakeKubelets',
    why: 'What kubelets may do.',
  },
  {
    group: 'coordination.k8s.io',
    resources: ['leases'],
    verbs: ['get', 'list', 'watch', 'create', 'patch'],
    when: 'fakeKubelets',
  },
];

export const defaultLeaseName = 'karpenter-leader-election';
export const shadowLeaseName = 'kerf-shadow';

/** In the namespace of its own Lease. */
export const leaseRights = (lease: string): readonly Right[] => [
  {
    group: 'coordination.k8s.io',
    resources: ['leases'],
    verbs: ['create'],
    why: 'A Lease is created under its name; rights by name cannot be given for creating.',
  },
  { group: 'coordination.k8s.io', resources: ['leases'], names: [lease], verbs: ['get', 'update', 'patch'] },
];

/** In kube-system: the address of the cluster's DNS, which nodes are given, and who may join. */
export const dnsRights: readonly Right[] = [
  { group: core, resources: ['services'], names: ['kube-dns'], verbs: ['get'], when: 'aws' },
  {
    group: core,
    resources: ['configmaps'],
    names: ['aws-auth'],
    verbs: ['get'],
    when: 'aws',
    why: 'Whether nodes of a role may join.',
  },
];

/** What people with the aggregated role `admin` may do with our objects. */
export const adminRights: readonly Right[] = [
  {
    group: karpenter,
    resources: ['nodepools', 'nodepools/status', 'nodeclaims', 'nodeclaims/status', 'nodeoverlays'],
    verbs: ['get', 'list', 'watch', 'create', 'delete', 'patch'],
  },
  {
    group: aws,
    resources: ['ec2nodeclasses'],
    verbs: ['get', 'list', 'watch', 'create', 'delete', 'patch'],
    when: 'aws',
  },
  {
    group: kwok,
    resources: ['kwoknodeclasses'],
    verbs: ['get', 'list', 'watch', 'create', 'delete', 'patch'],
    when: 'kwok',
  },
];

/** A right and where it is needed: everywhere, or in one namespace. */
export interface PlacedRight {
  right: Right;
  namespace?: string;
}

export interface Installation {
  circumstances: ReadonlySet<Circumstance>;
  lease: { name: string; namespace: string };
  /** A shadow reads, and keeps a Lease. */
  isShadow?: boolean;
}

/** Every right that an installation needs, and no other. */
export function rightsFor({ circumstances, lease, isShadow = false }: Installation): PlacedRight[] {
  const isNeeded = ({ when }: Right): boolean => when === undefined || circumstances.has(when);
  const inCluster = clusterRights.filter((right) => isNeeded(right) && (!isShadow || isReading(right)));
  return [
    ...inCluster.map((right) => ({ right })),
    ...leaseRights(lease.name).map((right) => ({ right, namespace: lease.namespace })),
    ...dnsRights.filter(isNeeded).map((right) => ({ right, namespace: 'kube-system' })),
  ];
}

/** What of the settings asks for rights of its own. */
export function circumstancesOf(
  { featureGates, ignoreDraRequests, defaultSpread, dashboardPort }: CircumstantialSettings,
  provider: 'aws' | 'kwok',
): Set<Circumstance> {
  const gates: [string, Circumstance][] = [
    ['NodeOverlay', 'nodeOverlay'],
    ['CapacityBuffer', 'capacityBuffer'],
    ['PodDeletionCostManagement', 'deletionCosts'],
  ];
  return new Set<Circumstance>([
    provider,
    ...gates.flatMap(([gate, circumstance]) => (featureGates[gate] === true ? [circumstance] : [])),
    ...(ignoreDraRequests ? [] : ['devices' as const]),
    ...(defaultSpread.length === 0 ? [] : ['defaultSpread' as const]),
    ...(dashboardPort > 0 ? ['dashboard' as const] : []),
  ]);
}

interface CircumstantialSettings {
  featureGates: Readonly<Record<string, boolean>>;
  ignoreDraRequests: boolean;
  defaultSpread: readonly unknown[];
  dashboardPort: number;
}

/** Nothing of it changes anything. */
export const isReading = ({ verbs }: Right): boolean => verbs.every((verb) => read.includes(verb));
