// Clusters that have lived: workloads came in waves, each when other instance types were available, and were scaled down
// or removed again, so that nodes of many types and sizes in three zones and three NodePools (one for everybody, one kept
// for data, one of spot capacity for batches) are left half empty. Some pods must not be disturbed, some are bound to a
// zone by their volume, spread or keep apart. Nothing here knows how consolidation searches.
import { label } from '../../src/api/index.ts';
import { awsProviderFacts, builtInCatalogue } from '../../src/aws/catalogue.ts';
import {
  allocatableOf,
  type ChosenOffering,
  type InstanceTypeSpec,
  type PlannedNode,
  planSnapshot,
  type Snapshot,
  type SnapshotObject,
  singleValuedLabels,
} from '../../src/core/index.ts';
import { type Random, seeded } from './random.ts';

/** The waves, what is sold out and who is scaled down are all drawn from the seed. */
const zones = ['us-east-1a', 'us-east-1b', 'us-east-1c'];
const usual = /^[cmr](5|6i|7i)\.(large|xlarge|2xlarge|4xlarge|8xlarge|12xlarge|16xlarge)$/;
const created = '2026-01-01T00:00:00Z';

/** What most people allow: three families in three generations, sizes from large to 16xlarge, three zones. */
export async function usualTypes(): Promise<InstanceTypeSpec[]> {
  const catalogue = await builtInCatalogue();
  return catalogue
    .instanceTypes()
    .filter(({ name }) => usual.test(name))
    .map((type) => ({
      ...type,
      offerings: type.offerings.filter(({ requirements }) =>
        requirements.some(({ key, values }) => key === label.zone && zones.includes(values?.[0] ?? '')),
      ),
    }));
}

interface PoolShape {
  name: string;
  capacityType: string;
  /** Share of the workloads that belong there. */
  share: number;
  /** Only what tolerates its name comes here. */
  kept: boolean;
}

const pools: readonly PoolShape[] = [
  { name: 'general', capacityType: 'on-demand', share: 0.6, kept: false },
  { name: 'data', capacityType: 'on-demand', share: 0.25, kept: true },
  { name: 'batch', capacityType: 'spot', share: 0.15, kept: true },
];

const keptFor = (pool: string) => ({ key: 'kept-for', value: pool, effect: 'NoSchedule' });

interface Deployment {
  name: string;
  spec: Record<string, unknown>;
}

export function fragmentedCluster(seed: number, types: readonly InstanceTypeSpec[]): Snapshot {
  const random = seeded(seed);
  const waves = random.between(4, 6);
  let machines: SnapshotObject[] = [];
  let pods: SnapshotObject[] = [];
  let machineCount = 0;
  for (let wave = 0; wave < waves; wave++) {
    const coming = Array.from({ length: random.between(5, 10) }, (_, index) =>
      replicasOf(drawDeployment(`app-${wave}-${index}`, random), random),
    ).flat();
    const onSale = types.map((type) => ({ ...type, offerings: type.offerings.map((each) => sold(each, random)) }));
    const plan = planSnapshot(snapshotOf(seed, onSale, [...machines, ...pods, ...coming]));
    const placeOf = new Map(plan.existingNodes.flatMap(({ name, pods: placed }) => placed.map((pod) => [pod, name])));
    for (const node of plan.newNodes) {
      const name = `node-${String(machineCount++).padStart(4, '0')}`;
      machines.push(...machineOf(name, typeNamed(types, node.chosen), node));
      for (const pod of node.pods) placeOf.set(pod, name);
    }
    for (const pod of coming) {
      const place = placeOf.get(`default/${pod.metadata.name}`);
      if (place !== undefined) pods.push(bound(pod, place));
    }
    pods = scaledDown(pods, random);
  }
  const used = new Set(pods.map(nodeOf));
  machines = machines.filter(({ metadata }) => used.has(metadata.name));
  return snapshotOf(seed, types, [...machines, ...pods]);
}

/** A quarter of what is on offer is sold out at any time. */
function sold(offering: InstanceTypeSpec['offerings'][number], random: Random): InstanceTypeSpec['offerings'][number] {
  return { ...offering, available: offering.available && !random.chance(0.25) };
}

function drawDeployment(name: string, random: Random): Deployment {
  const selector = { matchLabels: { app: name } };
  const kind = random.next();
  const spec: Record<string, unknown> = {};
  if (kind < 0.12) {
    spec['topologySpreadConstraints'] = [
      { topologyKey: label.zone, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', labelSelector: selector },
    ];
  } else if (kind < 0.2) {
    spec['affinity'] = {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: label.hostname, labelSelector: selector }],
      },
    };
  } else if (kind < 0.3) spec['nodeSelector'] = { [label.zone]: random.pick(zones) };
  const pool = drawPool(random);
  if (pool.kept) {
    spec['nodeSelector'] = { ...(spec['nodeSelector'] as object), [label.nodePool]: pool.name };
    spec['tolerations'] = [{ ...keptFor(pool.name), operator: 'Equal' }];
  }
  const cpu = `${random.pick([100, 200, 250, 500, 500, 750, 1000, 1500, 2000])}m`;
  const memory = `${random.pick([256, 512, 512, 1024, 1024, 2048, 4096, 6144])}Mi`;
  spec['containers'] = [{ name: 'main', image: 'app', resources: { requests: { cpu, memory } } }];
  return { name, spec };
}

function drawPool(random: Random): PoolShape {
  let rest = random.next();
  for (const pool of pools) {
    rest -= pool.share;
    if (rest < 0) return pool;
  }
  return pools[0] as PoolShape;
}

/** One in ten is alone, and of those every third must not be disturbed. */
function replicasOf({ name, spec }: Deployment, random: Random): SnapshotObject[] {
  const isAlone = random.chance(0.1);
  const count = isAlone ? 1 : random.between(2, 20);
  const annotations: Record<string, string> =
    isAlone && random.chance(0.33) ? { 'karpenter.sh/do-not-disrupt': 'true' } : {};
  return Array.from({ length: count }, (_, index) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${name}-${index}`,
      namespace: 'default',
      uid: `uid-${name}-${index}`,
      creationTimestamp: created,
      labels: { app: name },
      annotations,
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name, uid: name, controller: true }],
    },
    spec,
    status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }] },
  }));
}

/** Each time half of the workloads keep what they have, one in ten goes, and the others lose some replicas. */
function scaledDown(pods: readonly SnapshotObject[], random: Random): SnapshotObject[] {
  const shares = new Map<string, number>();
  return pods.filter(({ metadata }) => {
    const app = (metadata.labels as Record<string, string> | undefined)?.['app'] ?? '';
    let share = shares.get(app);
    if (share === undefined) {
      const fate = random.next();
      share = fate < 0.5 ? 1 : fate < 0.6 ? 0 : 0.3 + 0.6 * random.next();
      shares.set(app, share);
    }
    return random.chance(share);
  });
}

/** The pod, running on the node. */
export function bound(pod: SnapshotObject, nodeName: string): SnapshotObject {
  const conditions = [{ type: 'PodScheduled', status: 'True' }];
  return {
    ...pod,
    spec: { ...(pod['spec'] as Record<string, unknown>), nodeName },
    status: { phase: 'Running', conditions },
  };
}

export function nodeOf(pod: SnapshotObject): string {
  return (pod as { spec?: { nodeName?: string } }).spec?.nodeName ?? '';
}

export function typeNamed(types: readonly InstanceTypeSpec[], { instanceType }: ChosenOffering): InstanceTypeSpec {
  const type = types.find(({ name }) => name === instanceType);
  if (type === undefined) throw new Error(`the catalogue has no type ${instanceType}`);
  return type;
}

function snapshotOf(seed: number, types: readonly InstanceTypeSpec[], items: SnapshotObject[]): Snapshot {
  return {
    apiVersion: 'kerf/v1',
    kind: 'Snapshot',
    name: `fragmented(${seed})`,
    time: '2026-01-01T12:00:00Z',
    settings: { featureGates: { SpotToSpotConsolidation: true } },
    provider: awsProviderFacts,
    objects: { apiVersion: 'v1', kind: 'List', items: [...pools.map(nodePool), ...items] },
    instanceTypes: pools.map(({ name }) => ({ nodePool: name, items: [...types] })),
  };
}

function nodePool({ name, capacityType, kept }: PoolShape): SnapshotObject {
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name, uid: `uid-${name}`, creationTimestamp: created, generation: 1 },
    spec: {
      disruption: { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] },
      template: {
        spec: {
          nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' },
          requirements: [{ key: label.capacityType, operator: 'In', values: [capacityType] }],
          ...(kept ? { taints: [keptFor(name)] } : {}),
        },
      },
    },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  };
}

/** A node with its claim, as it is long after its launch: initialized, ready, quiet. */
export function machineOf(
  name: string,
  type: InstanceTypeSpec,
  { nodePool: poolName, chosen }: Pick<PlannedNode, 'nodePool' | 'chosen'>,
): SnapshotObject[] {
  const taints = pools.filter((pool) => pool.name === poolName && pool.kept).map((pool) => keptFor(pool.name));
  const labels = {
    ...singleValuedLabels(type.requirements, awsProviderFacts),
    [label.hostname]: name,
    [label.zone]: chosen.zone,
    [label.capacityType]: chosen.capacityType,
    [label.nodePool]: poolName,
    [label.registered]: 'true',
    [label.initialized]: 'true',
    'karpenter.k8s.aws/ec2nodeclass': 'default',
  };
  const capacity = { ...type.capacity };
  const allocatable = allocatableOf(type);
  const conditions = ['Launched', 'Registered', 'Initialized', 'Consolidatable'].map((each) => ({
    type: each,
    status: 'True',
    lastTransitionTime: created,
  }));
  const providerID = `aws:///${chosen.zone}/${name}`;
  return [
    {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, uid: `uid-${name}`, creationTimestamp: created, labels },
      spec: { providerID, taints },
      status: { capacity, allocatable, conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: created }] },
    },
    {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodeClaim',
      metadata: { name, uid: `uid-claim-${name}`, creationTimestamp: created, labels },
      spec: {},
      status: { providerID, capacity, allocatable, conditions },
    },
  ];
}
