// Random small clusters and pods that use every rule of scheduling, from a seed: the same seed, the same cases.
import { seededRandom } from '../../../src/base/index.ts';
import type {
  KubeObject,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
} from '../../../src/ports/index.ts';

export class Dice {
  /** Uniform in [0, 1). */
  readonly next: () => number;

  constructor(seed: number) {
    this.next = seededRandom(seed);
  }

  chance(percent: number): boolean {
    return this.next() * 100 < percent;
  }

  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.next() * list.length)] as T;
  }

  maybe<T>(percent: number, make: () => T): T | undefined {
    return this.chance(percent) ? make() : undefined;
  }
}

export interface World {
  nodes: Node[];
  storageClasses: StorageClass[];
  volumes: PersistentVolume[];
  claims: PersistentVolumeClaim[];
  csiNodes: KubeObject[];
  running: { pod: Pod; fate: 'runs' | 'ended' | 'going' }[];
}

export const zone = 'topology.kubernetes.io/zone';
export const hostname = 'kubernetes.io/hostname';
export const driver = 'disk.example.com';
const zones = ['a', 'b', 'c'];
const apps = ['web', 'db', 'job'];
const namespaces = ['default', 'other'];
const without = (object: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));

export function makeWorld(dice: Dice): World {
  const nodes = Array.from({ length: dice.between(4, 7) }, (_, index) => makeNode(dice, `n${index}`));
  const volumes = zones.map((name, index) => makeVolume(`pv-${name}`, name, `claim-${index}`));
  const claims = volumes.map((volume, index) => boundClaim(`claim-${index}`, volume.metadata.name ?? ''));
  return {
    nodes,
    storageClasses: [
      makeClass('late', 'WaitForFirstConsumer'),
      { ...makeClass('late-in-a', 'WaitForFirstConsumer'), allowedTopologies: [onlyZone('a')] },
      makeClass('early', 'Immediate'),
      { ...makeClass('local', 'WaitForFirstConsumer'), provisioner: 'kubernetes.io/no-provisioner' },
    ],
    volumes,
    claims: [...claims, unboundClaim('early', 'early'), unboundClaim('nowhere', 'local')],
    csiNodes: nodes.map(({ metadata: { name = '' } }) => ({
      metadata: { name },
      spec: { drivers: [{ name: driver, nodeID: name, topologyKeys: null, allocatable: { count: 1 } }] },
    })),
    running: Array.from({ length: dice.between(6, 16) }, (_, index) => {
      const pod = makePod(dice, `r${index}`, 'running');
      const fate = dice.chance(12) ? 'going' : dice.chance(8) ? 'ended' : 'runs';
      return { pod: { ...pod, spec: { ...pod.spec, nodeName: dice.pick(nodes).metadata.name } } as Pod, fate };
    }),
  };
}

function makeNode(dice: Dice, name: string): Node {
  const amounts = without({
    cpu: String(dice.between(2, 6)),
    memory: `${dice.between(4, 16)}Gi`,
    pods: String(dice.between(4, 9)),
    'ephemeral-storage': dice.maybe(60, () => '20Gi'),
    'example.com/gpu': dice.maybe(30, () => '2'),
  });
  const taints = [
    dice.maybe(20, () => ({ key: 'team', value: dice.pick(['red', 'blue']), effect: 'NoSchedule' })),
    dice.maybe(10, () => ({ key: 'failing', effect: 'NoExecute' })),
    dice.maybe(15, () => ({ key: 'disliked', effect: 'PreferNoSchedule' })),
    dice.maybe(10, () => ({ key: 'level', value: String(dice.between(1, 9)), effect: 'NoSchedule' })),
  ].filter((taint) => taint !== undefined);
  return {
    metadata: {
      name,
      labels: without({
        [hostname]: dice.chance(95) ? name : undefined,
        [zone]: dice.maybe(90, () => dice.pick(zones)),
        disk: dice.maybe(70, () => dice.pick(['ssd', 'hdd'])),
        generation: dice.maybe(70, () => String(dice.between(3, 8))),
      }),
    },
    spec: without({ taints, unschedulable: dice.maybe(10, () => true) }),
    status: {
      capacity: amounts,
      allocatable: amounts,
      conditions: [{ type: 'Ready', status: 'True', reason: 'Rig', message: '' }],
    },
  } as unknown as Node;
}

/** `kind` running: bound to a node as it is; asking: one whose feasible nodes are compared. */
export function makePod(dice: Dice, name: string, kind: 'running' | 'asking'): Pod {
  const labels = {
    app: dice.pick(apps),
    version: dice.pick(['1', '2']),
    ...(dice.chance(50) ? { tier: dice.pick(['front', 'back']) } : {}),
  };
  const percent = kind === 'asking' ? 1 : 0.3;
  const requests = without({
    cpu: dice.pick(['100m', '250m', '500m', '1', '2']),
    memory: dice.pick(['128Mi', '1Gi', '3Gi']),
    'ephemeral-storage': dice.maybe(15, () => '5Gi'),
    'example.com/gpu': dice.maybe(12 * percent, () => '1'),
  });
  const limits = 'example.com/gpu' in requests ? { 'example.com/gpu': '1' } : undefined;
  const ports = dice.maybe(20, () => [
    without({
      containerPort: 80,
      hostPort: dice.pick([8080, 9090]),
      hostIP: dice.maybe(30, () => '10.1.1.1'),
      protocol: dice.pick(['TCP', 'UDP']),
    }),
  ]);
  const spec = without({
    terminationGracePeriodSeconds: 30,
    containers: [{ name: 'main', image: 'none', resources: without({ requests, limits }), ...(ports && { ports }) }],
    initContainers: dice.maybe(15, () => [
      without({
        name: 'init',
        image: 'none',
        restartPolicy: dice.maybe(50, () => 'Always'),
        resources: { requests: { cpu: dice.pick(['500m', '2']) } },
      }),
    ]),
    overhead: undefined,
    nodeSelector: dice.maybe(15 * percent, () => ({ disk: 'ssd' })),
    tolerations: dice.maybe(60, () => [dice.pick(tolerations)]),
    affinity: makeAffinity(dice, percent),
    topologySpreadConstraints: dice.maybe(40 * percent, () =>
      Array.from({ length: dice.between(1, 2) }, (_, index) => makeSpread(dice, [zone, hostname][index] ?? zone)),
    ),
    volumes: kind === 'running' ? undefined : makeVolumes(dice),
  });
  return { metadata: { name, namespace: dice.chance(80) ? 'default' : 'other', labels }, spec } as unknown as Pod;
}

const tolerations = [
  { key: 'team', operator: 'Exists' },
  { key: 'team', operator: 'Equal', value: 'red', effect: 'NoSchedule' },
  { operator: 'Exists' },
  { key: 'failing', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' },
];

function makeAffinity(dice: Dice, percent: number): object | undefined {
  const affinity = without({
    nodeAffinity: dice.maybe(25 * percent, () => ({
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: Array.from({ length: dice.between(1, 2) }, () => makeNodeTerm(dice)),
      },
    })),
    podAffinity: dice.maybe(25 * percent, () => ({
      requiredDuringSchedulingIgnoredDuringExecution: Array.from({ length: dice.between(1, 2) }, () => makeTerm(dice)),
    })),
    podAntiAffinity: dice.maybe(percent === 1 ? 25 : 20, () => ({
      requiredDuringSchedulingIgnoredDuringExecution: [makeTerm(dice)],
    })),
  });
  return Object.keys(affinity).length === 0 ? undefined : affinity;
}

function makeNodeTerm(dice: Dice): object {
  const expression = dice.pick([
    { key: zone, operator: 'In', values: [dice.pick(zones), dice.pick(zones)] },
    { key: zone, operator: 'NotIn', values: [dice.pick(zones)] },
    { key: 'disk', operator: 'Exists' },
    { key: 'disk', operator: 'DoesNotExist' },
    { key: 'generation', operator: 'Gt', values: [String(dice.between(3, 6))] },
    { key: 'generation', operator: 'Lt', values: [String(dice.between(4, 8))] },
  ]);
  const field = { key: 'metadata.name', operator: dice.pick(['In', 'NotIn']), values: [`n${dice.between(0, 5)}`] };
  return dice.chance(15)
    ? { matchFields: [field], ...(dice.chance(50) && { matchExpressions: [expression] }) }
    : { matchExpressions: [expression] };
}

function makeSelector(dice: Dice): object {
  return dice.pick([
    { matchLabels: { app: dice.pick(apps) } },
    { matchExpressions: [{ key: 'tier', operator: 'Exists' }] },
    { matchExpressions: [{ key: 'app', operator: 'NotIn', values: [dice.pick(apps)] }] },
    {},
  ]);
}

function makeTerm(dice: Dice): object {
  const kind = dice.between(0, 4);
  const hasSelector = dice.chance(95);
  return without({
    topologyKey: dice.pick([zone, hostname]),
    labelSelector: hasSelector ? makeSelector(dice) : undefined,
    namespaces: kind === 0 ? [dice.pick(namespaces)] : undefined,
    namespaceSelector:
      kind === 1 ? dice.pick([{}, { matchLabels: { 'kubernetes.io/metadata.name': 'other' } }]) : undefined,
    matchLabelKeys: hasSelector ? dice.maybe(10, () => ['version']) : undefined,
  });
}

function makeSpread(dice: Dice, topologyKey: string): object {
  return without({
    topologyKey,
    maxSkew: dice.between(1, 2),
    whenUnsatisfiable: dice.chance(85) ? 'DoNotSchedule' : 'ScheduleAnyway',
    labelSelector: makeSelector(dice),
    nodeAffinityPolicy: dice.maybe(30, () => 'Ignore'),
    nodeTaintsPolicy: dice.maybe(30, () => 'Honor'),
    matchLabelKeys: dice.maybe(15, () => ['version']),
  });
}

function makeVolumes(dice: Dice): object[] | undefined {
  if (!dice.chance(20)) return undefined;
  const claimName = dice.pick(['claim-0', 'claim-1', 'claim-2', 'claim-0', 'claim-1', 'early', 'nowhere', 'missing']);
  return [{ name: 'data', persistentVolumeClaim: { claimName } }];
}

const makeClass = (name: string, volumeBindingMode: string): StorageClass => ({
  metadata: { name },
  provisioner: driver,
  volumeBindingMode,
});

const onlyZone = (name: string) => ({ matchLabelExpressions: [{ key: zone, values: [name] }] });

function makeVolume(name: string, inZone: string, claim: string): PersistentVolume {
  return {
    metadata: { name },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'late',
      csi: { driver, volumeHandle: name },
      claimRef: { namespace: 'default', name: claim },
      nodeAffinity: {
        required: { nodeSelectorTerms: [{ matchExpressions: [{ key: zone, operator: 'In', values: [inZone] }] }] },
      },
    },
  };
}

export function unboundClaim(name: string, storageClassName: string): PersistentVolumeClaim {
  return {
    metadata: { name, namespace: 'default' },
    spec: { storageClassName, accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
}

function boundClaim(name: string, volumeName: string): PersistentVolumeClaim {
  const claim = unboundClaim(name, 'late');
  const annotations = { 'pv.kubernetes.io/bind-completed': 'yes' };
  return {
    ...claim,
    metadata: { ...claim.metadata, annotations },
    spec: { ...claim.spec, volumeName },
  };
}
