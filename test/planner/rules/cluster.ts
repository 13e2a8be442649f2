// A snapshot read into lists and machines, with nothing decided yet: which objects there are, which node belongs to which
// claim, what each machine offers and which pods wait.
import { label, normalizedLabels, wellKnownLabels } from '../../../src/api/index.ts';
import type { NodeStateEntry, PoolInstanceTypes, Snapshot, SnapshotSettings } from '../../../src/core/index.ts';
import type {
  CSINode,
  DaemonSet,
  DisruptionBudget,
  Namespace,
  Node,
  NodeClaim,
  NodePool,
  PersistentVolume,
  Pod,
  StorageClass,
  Taint,
  VolumeClaim,
} from './objects.ts';
import { isMovable, isProvisionable, isTerminal, podRequests, waitingSinceMs } from './pods.ts';
import { type Amounts, amounts, minus, misfit, plus } from './quantity.ts';
import type { Spelling } from './requirement.ts';
import { untolerated } from './selector.ts';

/** A node, a claim, or both joined. */
export interface Machine {
  /** The Node's name, or the claim's while there is no registered Node. */
  name: string;
  node?: Node;
  claim?: NodeClaim;
  registered: boolean;
  initialized: boolean;
  leaving: boolean;
  labels: Record<string, string>;
  hostname: string;
  taints: Taint[];
  allocatable: Amounts;
  capacity: Amounts;
  /** Bound to it and not finished. */
  pods: Pod[];
}

export interface Cluster {
  settings: Required<
    Pick<SnapshotSettings, 'preferencePolicy' | 'minValuesPolicy' | 'ignoreDRARequests' | 'maxInstanceTypes'>
  > & {
    featureGates: Record<string, boolean>;
  };
  spelling: Spelling;
  wellKnown: Set<string>;
  restrictedLabels: Set<string>;
  restrictedDomains: string[];
  nodeClasses: Set<string>;
  reservationIDLabel: string | undefined;
  unsupportedProvisioners: Set<string>;
  unsupportedTopologyKeys: Set<string>;
  pools: NodePool[];
  daemonSets: DaemonSet[];
  namespaces: Namespace[];
  claims: VolumeClaim[];
  volumes: PersistentVolume[];
  storageClasses: StorageClass[];
  csiNodes: CSINode[];
  pods: Pod[];
  machines: Machine[];
  catalogues: PoolInstanceTypes[];
  /** Provisionable, plus the movable ones of leaving machines. */
  waiting: Pod[];
}

const ephemeralTaints: [string, string][] = [
  ['node.kubernetes.io/not-ready', 'NoSchedule'],
  ['node.kubernetes.io/not-ready', 'NoExecute'],
  ['node.kubernetes.io/unreachable', 'NoSchedule'],
  ['node.cloudprovider.kubernetes.io/uninitialized', 'NoSchedule'],
  ['karpenter.sh/unregistered', 'NoExecute'],
];

const isEphemeral = (taint: Taint): boolean =>
  taint.key.startsWith('readiness.k8s.io/') ||
  ephemeralTaints.some(([key, effect]) => key === taint.key && effect === taint.effect);

export function readCluster(snapshot: Snapshot): Cluster {
  const items = snapshot.objects.items;
  const of = <T>(kind: string): T[] => items.filter((item) => item.kind === kind) as unknown as T[];
  const provider = snapshot.provider;
  if (provider === undefined) throw new Error('the slow rules need a snapshot that names its provider');
  const pods = of<Pod>('Pod');
  const machines = readMachines(snapshot, of<Node>('Node'), of<NodeClaim>('NodeClaim'), pods);
  const budgets = of<DisruptionBudget>('PodDisruptionBudget');
  const nowMs = Date.parse(snapshot.time ?? '');
  /** There is room for the pod on the node, or room is being made, or it is unknown and the pod waits for minutes only. */
  const isComing = (pod: Pod) => (node: string) => {
    const machine = machines.find((each) => each.node?.metadata.name === node);
    if (machine === undefined) return !(waitingSinceMs(pod) < nowMs - 300_000);
    if (machine.pods.some((each) => each.metadata.deletionTimestamp !== undefined)) return true;
    const left = minus(machine.allocatable, plus(...machine.pods.map((each) => podRequests(each.spec))));
    return (
      !machine.leaving &&
      misfit(podRequests(pod.spec), left) === undefined &&
      untolerated(machine.taints, pod.spec.tolerations) === undefined
    );
  };
  const moving = machines
    .filter((m) => m.leaving)
    .flatMap((m) => m.pods.filter((pod) => isMovable(pod, budgets, nowMs)));
  return {
    settings: {
      preferencePolicy: snapshot.settings?.preferencePolicy ?? 'Respect',
      minValuesPolicy: snapshot.settings?.minValuesPolicy ?? 'Strict',
      ignoreDRARequests: snapshot.settings?.ignoreDRARequests ?? true,
      maxInstanceTypes: snapshot.settings?.maxInstanceTypes ?? 600,
      featureGates: { ReservedCapacity: true, ...snapshot.settings?.featureGates },
    },
    spelling: {
      keys: { ...normalizedLabels, ...provider.normalizedLabels },
      values: provider.normalizedLabelValues ?? {},
    },
    wellKnown: new Set([...wellKnownLabels, ...provider.wellKnownLabels]),
    restrictedLabels: new Set([label.hostname, ...(provider.restrictedLabels ?? [])]),
    restrictedDomains: ['karpenter.sh', ...(provider.restrictedLabelDomains ?? [])],
    nodeClasses: new Set(provider.nodeClasses),
    reservationIDLabel: provider.reservationIDLabel,
    unsupportedProvisioners: new Set(provider.unsupportedProvisioners),
    unsupportedTopologyKeys: new Set(provider.unsupportedTopologyKeys),
    pools: of('NodePool'),
    daemonSets: of('DaemonSet'),
    namespaces: of('Namespace'),
    claims: of('PersistentVolumeClaim'),
    volumes: of('PersistentVolume'),
    storageClasses: of('StorageClass'),
    csiNodes: of('CSINode'),
    pods,
    machines,
    catalogues: snapshot.instanceTypes ?? [],
    waiting: [...pods.filter((pod) => isProvisionable(pod, isComing(pod))), ...moving],
  };
}

function readMachines(snapshot: Snapshot, nodes: Node[], claims: NodeClaim[], pods: Pod[]): Machine[] {
  const state = snapshot.nodeState ?? inferredState(nodes, claims);
  return state.map((entry) => {
    const node = nodes.find((n) => n.metadata.name === entry.node);
    const claim = claims.find((c) => c.metadata.name === entry.nodeClaim);
    return machine(entry, node, claim, pods);
  });
}

function inferredState(nodes: Node[], claims: NodeClaim[]): NodeStateEntry[] {
  const launched = claims.filter((claim) => claim.status?.providerID);
  const joined = nodes.map((node) => {
    const providerID = node.spec?.providerID;
    const claim = providerID ? launched.find((c) => c.status?.providerID === providerID) : undefined;
    return { node: node.metadata.name, ...(claim === undefined ? {} : { nodeClaim: claim.metadata.name }) };
  });
  const rest = launched.filter((claim) => !joined.some((entry) => entry.nodeClaim === claim.metadata.name));
  return [...joined, ...rest.map((claim) => ({ nodeClaim: claim.metadata.name }))];
}

function machine(entry: NodeStateEntry, node: Node | undefined, claim: NodeClaim | undefined, pods: Pod[]): Machine {
  const managed = claim !== undefined;
  const registered = node !== undefined && (!managed || node.metadata.labels?.[label.registered] === 'true');
  const initialized =
    node !== undefined && (!managed || (entry.initialized ?? node.metadata.labels?.[label.initialized] === 'true'));
  const meta = registered || claim === undefined ? node?.metadata : claim.metadata;
  if (meta === undefined)
    throw new Error(`nodeState names neither a known Node nor a known NodeClaim: ${JSON.stringify(entry)}`);
  const deleted = claim === undefined ? node?.metadata.deletionTimestamp : claim.metadata.deletionTimestamp;
  const real = registered ? (node?.spec?.taints ?? []) : (claim?.spec.taints ?? node?.spec?.taints ?? []);
  const startup = claim?.spec.startupTaints ?? [];
  const passing = (taint: Taint): boolean =>
    isEphemeral(taint) ||
    startup.some((s) => s.key === taint.key && s.effect === taint.effect && (s.value ?? '') === (taint.value ?? ''));
  const early = managed && !initialized;
  return {
    name: meta.name,
    ...(node === undefined ? {} : { node }),
    ...(claim === undefined ? {} : { claim }),
    registered,
    initialized,
    leaving: (entry.markedForDeletion ?? false) || deleted !== undefined,
    labels: meta.labels ?? {},
    hostname: meta.labels?.[label.hostname] ?? meta.name,
    taints: early ? real.filter((taint) => !passing(taint)) : real,
    allocatable: room(node?.status?.allocatable, early ? claim?.status?.allocatable : undefined),
    capacity: room(node?.status?.capacity, early ? claim?.status?.capacity : undefined),
    pods: pods.filter((pod) => node !== undefined && pod.spec.nodeName === node.metadata.name && !isTerminal(pod)),
  };
}

/** What the node reports; until it is initialized, a resource it lacks or reports as zero is taken from the claim. */
function room(
  own: Record<string, string | number> | undefined,
  promised: Record<string, string | number> | undefined,
): Amounts {
  const result = amounts(own);
  for (const [name, value] of amounts(promised)) if ((result.get(name) ?? 0n) === 0n) result.set(name, value);
  return result;
}
