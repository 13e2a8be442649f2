// Clusters that have grown ragged: nodes of many sizes, filled to very different degrees with pods of a few hundred
// workloads. What disruption has to tidy up, drawn from a seed.
import { label } from '../../src/api/index.ts';
import type { InstanceTypeSpec, Snapshot, SnapshotObject } from '../../src/core/index.ts';
import { testProvider, zones } from './catalogue.ts';
import { type Random, seeded } from './random.ts';

export interface FleetParts {
  nodes: number;
  /** On average. */
  podsPerNode: number;
  seed?: number;
  /** Share of a node that is asked for: from, to. */
  fullness?: [number, number];
  workloads?: number;
}

const cpuSizes = [2, 4, 8, 16, 32, 48, 64];
const memoryPerCpu = [2, 4, 8];

/** Seven sizes in three shapes, on-demand in three zones; memory makes the price uneven, as in real catalogues. */
function fleetCatalogue(): InstanceTypeSpec[] {
  return memoryPerCpu.flatMap((ratio) =>
    cpuSizes.map((cpu): InstanceTypeSpec => {
      const name = `m${ratio}-${cpu}`;
      const price = 0.034 * cpu + 0.0044 * cpu * ratio;
      return {
        name,
        requirements: [
          { key: label.instanceType, operator: 'In', values: [name] },
          { key: label.arch, operator: 'In', values: ['amd64'] },
          { key: label.os, operator: 'In', values: ['linux'] },
          { key: label.zone, operator: 'In', values: [...zones] },
          { key: label.capacityType, operator: 'In', values: ['on-demand'] },
        ],
        capacity: { cpu: String(cpu), memory: `${cpu * ratio}Gi`, pods: '110' },
        overhead: { kubeReserved: { cpu: '100m', memory: '200Mi' } },
        offerings: zones.map((zone) => ({
          requirements: [
            { key: label.capacityType, operator: 'In', values: ['on-demand'] },
            { key: label.zone, operator: 'In', values: [zone] },
          ],
          price,
          available: true,
        })),
      };
    }),
  );
}

interface Workload {
  name: string;
  cpuMilli: number;
  memoryMi: number;
  spec: Record<string, unknown>;
  /** At most one per node. */
  lonely: boolean;
}

export function raggedFleet(parts: FleetParts): Snapshot {
  const random = seeded(parts.seed ?? 42);
  const workloads = drawWorkloads(parts.workloads ?? Math.max(20, Math.ceil(parts.nodes / 5)), random);
  const [least, most] = parts.fullness ?? [0.15, 0.95];
  const catalogue = fleetCatalogue();
  const items: SnapshotObject[] = [pool()];
  const scale = 30 / parts.podsPerNode;
  for (let index = 0; index < parts.nodes; index++) {
    const name = `node-${String(index).padStart(5, '0')}`;
    const type = random.pick(catalogue.slice(2));
    items.push(...machine(name, type, random.pick(zones)));
    const wanted = least + (most - least) * random.next();
    fill(items, name, type, wanted, workloads, scale, random);
  }
  return {
    apiVersion: 'kerf/v1',
    kind: 'Snapshot',
    name: `ragged(${parts.nodes})`,
    time: '2026-01-01T12:00:00Z',
    provider: testProvider,
    objects: { apiVersion: 'v1', kind: 'List', items },
    instanceTypes: [{ nodePool: 'default', items: catalogue }],
  };
}

function fill(
  items: SnapshotObject[],
  node: string,
  type: InstanceTypeSpec,
  wanted: number,
  workloads: readonly Workload[],
  scale: number,
  random: Random,
): void {
  let cpu = (Number(type.capacity['cpu']) * 1000 - 100) * wanted;
  let memory = (Number.parseInt(String(type.capacity['memory']), 10) * 1024 - 200) * wanted;
  const lonely = new Set<Workload>();
  for (let tries = 0; tries < 110; tries++) {
    const workload = random.pick(workloads);
    const need = { cpu: Math.round(workload.cpuMilli * scale), memory: Math.round(workload.memoryMi * scale) };
    if (need.cpu > cpu || need.memory > memory) break;
    if (workload.lonely && lonely.has(workload)) continue;
    lonely.add(workload);
    cpu -= need.cpu;
    memory -= need.memory;
    items.push(boundPod(`${workload.name}-${node}-${tries}`, node, workload, need));
  }
}

function drawWorkloads(count: number, random: Random): Workload[] {
  return Array.from({ length: count }, (_, index) => {
    const name = `app-${String(index).padStart(4, '0')}`;
    const kind = index % 20;
    const selector = { matchLabels: { app: name } };
    const isSpread = kind === 3;
    const lonely = kind === 7;
    return {
      name,
      cpuMilli: random.pick([100, 250, 250, 500, 500, 1000]),
      memoryMi: random.pick([128, 256, 512, 1024, 2048]),
      lonely,
      spec: {
        ...(isSpread
          ? {
              topologySpreadConstraints: [
                { topologyKey: label.zone, maxSkew: 8, whenUnsatisfiable: 'DoNotSchedule', labelSelector: selector },
              ],
            }
          : {}),
        ...(lonely
          ? {
              affinity: {
                podAntiAffinity: {
                  requiredDuringSchedulingIgnoredDuringExecution: [
                    { topologyKey: label.hostname, labelSelector: selector },
                  ],
                },
              },
            }
          : {}),
      },
    };
  });
}

function boundPod(
  name: string,
  nodeName: string,
  workload: Workload,
  need: { cpu: number; memory: number },
): SnapshotObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-${name}`,
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: { app: workload.name },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: workload.name, uid: workload.name, controller: true },
      ],
    },
    spec: {
      ...workload.spec,
      nodeName,
      containers: [
        { name: 'main', image: 'app', resources: { requests: { cpu: `${need.cpu}m`, memory: `${need.memory}Mi` } } },
      ],
    },
    status: { phase: 'Running', conditions: [{ type: 'PodScheduled', status: 'True' }] },
  };
}

function pool(): SnapshotObject {
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name: 'default', uid: 'uid-pool', creationTimestamp: '2026-01-01T00:00:00Z', generation: 1 },
    spec: {
      disruption: { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] },
      template: {
        spec: {
          nodeClassRef: { group: 'karpenter.test.sh', kind: 'TestNodeClass', name: 'default' },
          requirements: [{ key: label.os, operator: 'In', values: ['linux'] }],
        },
      },
    },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  };
}

/** A node with its claim: initialized, ready, quiet for long. */
function machine(name: string, type: InstanceTypeSpec, zone: string): SnapshotObject[] {
  const labels = {
    [label.hostname]: name,
    [label.zone]: zone,
    [label.arch]: 'amd64',
    [label.os]: 'linux',
    [label.instanceType]: type.name,
    [label.capacityType]: 'on-demand',
    [label.nodePool]: 'default',
    [label.registered]: 'true',
    [label.initialized]: 'true',
    'karpenter.test.sh/testnodeclass': 'default',
  };
  const room = {
    cpu: `${Number(type.capacity['cpu']) * 1000 - 100}m`,
    memory: `${Number.parseInt(String(type.capacity['memory']), 10) * 1024 - 200}Mi`,
    pods: '110',
  };
  const lastTransitionTime = '2026-01-01T00:00:00Z';
  const conditions = ['Launched', 'Registered', 'Initialized', 'Consolidatable'].map((each) => ({
    type: each,
    status: 'True',
    lastTransitionTime,
  }));
  return [
    {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, uid: `uid-${name}`, creationTimestamp: lastTransitionTime, labels },
      spec: { providerID: `test:///${name}` },
      status: {
        capacity: { ...type.capacity },
        allocatable: room,
        conditions: [{ type: 'Ready', status: 'True', lastTransitionTime }],
      },
    },
    {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodeClaim',
      metadata: { name, uid: `uid-claim-${name}`, creationTimestamp: lastTransitionTime, labels },
      spec: {},
      status: { providerID: `test:///${name}`, capacity: { ...type.capacity }, allocatable: room, conditions },
    },
  ];
}
