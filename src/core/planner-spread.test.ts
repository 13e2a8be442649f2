import { expect, test } from 'vitest';
import { label } from '../api/names.ts';
import type { SnapshotObject } from './index.ts';
import {
  expectScheduled,
  expectUnscheduled,
  instanceType,
  newNodeOf,
  node,
  nodeAffinity,
  nodePool,
  object,
  offering,
  type PodParts,
  plan,
  pod,
  pods,
  reasonsOf,
  requirement,
  skew,
  spread,
  valuesOf,
} from './testing/builders.testing.ts';

const app = { app: 'web' };
const zonal = (count: number, more: Record<string, unknown> = {}, parts: PodParts = {}): SnapshotObject[] =>
  pods(count, { labels: app, cpu: '1', ...parts, spec: { ...spread(label.zone, app, more), ...parts.spec } });
const inZones = (...names: string[]) => requirement(label.zone, 'In', names);
const running = (zone: string, count = 1, name = `node-${zone}`): SnapshotObject[] => [
  node({ name, zone, allocatable: { cpu: '0', pods: '0' } }),
  ...pods(count, { labels: app, node: name }),
];

test('four pods over three zones become 1, 1, 2', () => {
  expect(skew(plan([nodePool(), ...zonal(4)]), label.zone)).toEqual([1, 1, 2]);
});

test('a pool limited to two zones by requirement gives 2, 2', () => {
  const pool = nodePool({ requirements: [inZones('zone-1', 'zone-2')] });
  expect(skew(plan([pool, ...zonal(4)]), label.zone)).toEqual([2, 2]);
});

test('a pool limited to one zone by label takes all four', () => {
  expect(skew(plan([nodePool({ labels: { [label.zone]: 'zone-1' } }), ...zonal(4)]), label.zone)).toEqual([4]);
});

test('labels across two pools give 2, 2', () => {
  const pools = ['zone-1', 'zone-2'].map((zone) => nodePool({ name: zone, labels: { [label.zone]: zone } }));
  expect(skew(plan([...pools, ...zonal(4)]), label.zone)).toEqual([2, 2]);
});

test('an existing pod in a zone the pool cannot use limits the others to two each', () => {
  const pool = nodePool({ requirements: [inZones('zone-2', 'zone-3')] });
  const waiting = zonal(6);
  const result = plan([pool, ...running('zone-1'), ...waiting]);
  expect(skew(result, label.zone)).toEqual([2, 2]);
  expect(result.unschedulable).toHaveLength(2);
});

test('with only one zone allowed, maxSkew 5 and one pod elsewhere each, six fit there', () => {
  const pool = nodePool({ requirements: [inZones('zone-3')] });
  const others = [...running('zone-1'), ...running('zone-2')];
  const result = plan([pool, ...others, ...zonal(10, { maxSkew: 5 })]);
  expect(skew(result, label.zone)).toEqual([6]);
});

test('a skew already violated lets only the emptiest domains accept', () => {
  const result = plan([nodePool(), ...running('zone-1', 5), ...running('zone-2', 1), ...zonal(3)]);
  expect(result.newNodes.map((planned) => valuesOf(planned, label.zone)?.[0]).sort()).toEqual(['zone-2', 'zone-3']);
  expect(skew(result, label.zone)).toEqual([1, 2]);
});

test('minDomains 3 with two usable zones places one each and no more', () => {
  const pool = nodePool({ requirements: [inZones('zone-1', 'zone-2')] });
  const result = plan([pool, ...zonal(3, { minDomains: 3 })]);
  expect(skew(result, label.zone)).toEqual([1, 1]);
  expect(result.unschedulable).toHaveLength(1);
});

test('minDomains 3 with three zones spreads eleven pods 3, 4, 4', () => {
  expect(skew(plan([nodePool(), ...zonal(11, { minDomains: 3 })]), label.zone)).toEqual([3, 4, 4]);
});

test('over host names maxSkew 1 means one per node, maxSkew 4 four on one', () => {
  const byHost = (maxSkew: number) =>
    pods(4, { labels: app, cpu: '10m', spec: spread(label.hostname, app, { maxSkew }) });
  expect(skew(plan([nodePool(), ...byHost(1)]), label.hostname)).toEqual([1, 1, 1, 1]);
  expect(skew(plan([nodePool(), ...byHost(4)]), label.hostname)).toEqual([4]);
});

test('two deployments spread over hosts share two nodes; different architectures need four', () => {
  const types = ['amd64', 'arm64'].map((arch) => instanceType({ name: arch, arch }));
  const deployment = (name: string, arch?: string) =>
    pods(2, {
      labels: { app: name },
      spec: { ...spread(label.hostname, { app: name }), ...(arch ? { nodeSelector: { [label.arch]: arch } } : {}) },
    });
  expect(plan([nodePool(), ...deployment('a'), ...deployment('b')], { types }).newNodes).toHaveLength(2);
  const split = plan([nodePool(), ...deployment('a', 'amd64'), ...deployment('b', 'arm64')], { types });
  expect(split.newNodes).toHaveLength(4);
});

test('four pods over capacity types become 2, 2', () => {
  const byType = pods(4, { labels: app, cpu: '1', spec: spread(label.capacityType, app) });
  expect(skew(plan([nodePool(), ...byType]), label.capacityType)).toEqual([2, 2]);
});

/** One pod runs on demand, and the pool makes spot nodes only. */
const onlySpot = (waiting: SnapshotObject[]): SnapshotObject[] => [
  nodePool({ requirements: [requirement(label.capacityType, 'In', ['spot'])] }),
  node({ name: 'old', labels: { [label.capacityType]: 'on-demand' }, allocatable: { cpu: '0', pods: '0' } }),
  pod({ labels: app, node: 'old' }),
  ...waiting,
];
const byCapacityType = (more: Record<string, unknown> = {}, spec: Record<string, unknown> = {}): SnapshotObject[] =>
  pods(5, { labels: app, cpu: '1', spec: { ...spread(label.capacityType, app, more), ...spec } });

test('DoNotSchedule holds where the emptier domain is unavailable: 1, 2 and the rest waits', () => {
  const result = plan(onlySpot(byCapacityType()));
  expect(skew(result, label.capacityType)).toEqual([2]);
  expect(result.unschedulable).toHaveLength(3);
});

test('ScheduleAnyway is violated where the domain is unavailable: 1, 5', () => {
  const result = plan(onlySpot(byCapacityType({ whenUnsatisfiable: 'ScheduleAnyway' })));
  expect(skew(result, label.capacityType)).toEqual([5]);
});

/** Its nodes could be in three zones, but just now there is nothing to buy in the first. */
const soldOutInZone1 = [
  instanceType({ offerings: ['zone-2', 'zone-3'].map((zone) => offering(zone, 'on-demand', 1)) }),
];

test('a spread that is only wished for is given up where its emptiest domain is unavailable', () => {
  const [wishing] = zonal(1, { whenUnsatisfiable: 'ScheduleAnyway' }) as [SnapshotObject];
  const { requirements } = newNodeOf(plan([nodePool(), wishing], { types: soldOutInZone1 }), wishing);
  expect(requirements.map(({ key }) => key)).not.toContain(label.zone);
});

test('a pod that would wait because its emptiest domain is unavailable takes another within the skew', () => {
  const [insisting] = zonal(1) as [SnapshotObject];
  const result = plan([nodePool(), insisting], { types: soldOutInZone1 });
  expect(valuesOf(newNodeOf(result, insisting), label.zone)).toEqual(['zone-2']);
});

test('pods on nodes the pod could not use do not count: 1, 5', () => {
  const result = plan(onlySpot(byCapacityType({}, { nodeSelector: { [label.capacityType]: 'spot' } })));
  expect(skew(result, label.capacityType)).toEqual([5]);
  const required = nodeAffinity([requirement(label.capacityType, 'In', ['spot'])]);
  expect(skew(plan(onlySpot(byCapacityType({}, required))), label.capacityType)).toEqual([5]);
});

test('without a selector pods on all nodes count: 1, 2', () => {
  const other = nodeAffinity([requirement('team', 'DoesNotExist')]);
  expect(skew(plan(onlySpot(byCapacityType({}, other))), label.capacityType)).toEqual([2]);
});

test('a pool that cannot provision leaves its zone empty, and the others at 1, 1', () => {
  const pools = [
    nodePool({ name: 'usable', requirements: [inZones('zone-1', 'zone-2')] }),
    nodePool({ name: 'limited', requirements: [inZones('zone-3')], limits: { cpu: '0' } }),
  ];
  const result = plan([...pools, ...zonal(4)]);
  expect(skew(result, label.zone)).toEqual([1, 1]);
  expect(result.unschedulable).toHaveLength(2);
  expect(result.unschedulable[0]?.reasons.map((reason) => reason.code)).toContain('TopologyUnsatisfiable');
});

test('a selector that does not match the pod itself puts all on one node', () => {
  const waiting = pods(5, { labels: app, cpu: '10m', spec: spread(label.zone, { app: 'other' }) });
  expect(plan([nodePool(), ...waiting]).newNodes).toHaveLength(1);
});

test('a missing selector spreads nothing, an empty one spreads everything', () => {
  const nobody = pods(4, { labels: app, cpu: '10m', spec: spread(label.zone, app, { labelSelector: undefined }) });
  expect(plan([nodePool(), ...nobody]).newNodes).toHaveLength(1);
  const everybody = pods(4, { labels: app, cpu: '10m', spec: spread(label.zone, app, { labelSelector: {} }) });
  expect(skew(plan([nodePool(), ...everybody]), label.zone)).toEqual([1, 1, 2]);
});

test('a preferred zone does not limit the domains, a node selector does', () => {
  const prefers = {
    affinity: {
      nodeAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 1, preference: { matchExpressions: [inZones('zone-1', 'zone-2')] } },
        ],
      },
    },
  };
  expect(skew(plan([nodePool(), ...zonal(6, {}, { spec: prefers })]), label.zone)).toEqual([2, 2, 2]);
  const required = zonal(6, {}, { spec: nodeAffinity([inZones('zone-1', 'zone-2')]) });
  expect(skew(plan([nodePool(), ...required]), label.zone)).toEqual([3, 3]);
});

test.each([
  ['a node selector', (zone: string) => ({ nodeSelector: { [label.zone]: zone } })],
  ['required node affinity', (zone: string) => nodeAffinity([inZones(zone)])],
])('%s limits the domains each pod spreads over: 5, 10', (_, inZone) => {
  const waiting = [...zonal(5, {}, { spec: inZone('zone-1') }), ...zonal(10, {}, { spec: inZone('zone-2') })];
  const result = plan([nodePool(), ...waiting]);
  expectScheduled(result, ...waiting);
  expect(skew(result, label.zone)).toEqual([5, 10]);
});

test('domains of nodes the pod could not use count only where node affinity is ignored', () => {
  const elsewhere = ['x', 'y'].map((part) =>
    node({ name: part, labels: { part, team: 'other' }, allocatable: { cpu: '0', pods: '0' } }),
  );
  const pool = nodePool({ labels: { part: 'z', team: 'own' } });
  const over = (nodeAffinityPolicy: string) =>
    pods(5, { labels: app, spec: { ...spread('part', app, { nodeAffinityPolicy }), nodeSelector: { team: 'own' } } });
  expect(skew(plan([pool, ...elsewhere, ...over('Honor')]), 'part')).toEqual([5]);
  expect(skew(plan([pool, ...elsewhere, ...over('Ignore')]), 'part')).toEqual([1]);
});

test('taints are ignored by default and hide domains when honoured', () => {
  const tainted = nodePool({
    name: 'tainted',
    requirements: [requirement('part', 'In', ['b'])],
    taints: [{ key: 't', effect: 'NoSchedule' }],
  });
  const open = nodePool({ name: 'open', requirements: [requirement('part', 'In', ['a'])] });
  const over = (nodeTaintsPolicy?: string) =>
    pods(5, { labels: app, cpu: '10m', spec: spread('part', app, nodeTaintsPolicy ? { nodeTaintsPolicy } : {}) });
  expect(skew(plan([tainted, open, ...over('Honor')]), 'part')).toEqual([5]);
  const ignoring = plan([tainted, open, ...over()]);
  expect(skew(ignoring, 'part')).toEqual([1]);
  expect(ignoring.unschedulable).toHaveLength(4);
});

test('pools with mutually exclusive taints that share a domain give 3, 2, 1', () => {
  const pools = ['bar', 'baz'].map((own) =>
    nodePool({
      name: own,
      requirements: [requirement('part', 'In', ['foo', own])],
      taints: [{ key: 'pool', value: own, effect: 'NoSchedule' }],
    }),
  );
  const tolerating = (count: number, value: string) =>
    pods(count, {
      labels: app,
      cpu: '10m',
      spec: {
        ...spread('part', app, { nodeTaintsPolicy: 'Honor' }),
        tolerations: [{ key: 'pool', value, effect: 'NoSchedule' }],
      },
    });
  expect(skew(plan([...pools, ...tolerating(2, 'bar'), ...tolerating(4, 'baz')]), 'part')).toEqual([1, 2, 3]);
});

test('matchLabelKeys separates revisions, and unknown keys are ignored', () => {
  const revision = (hash: string, keys: string[]) =>
    pods(2, {
      labels: { ...app, hash },
      cpu: '10m',
      spec: spread(label.hostname, app, { matchLabelKeys: keys }),
    });
  expect(skew(plan([nodePool(), ...revision('a', ['hash']), ...revision('b', ['hash'])]), label.hostname)).toEqual([
    2, 2,
  ]);
  const plain = plan([nodePool(), ...revision('a', ['missing']), ...revision('b', ['missing'])]);
  expect(skew(plain, label.hostname)).toEqual([1, 1, 1, 1]);
});

test('pods in other namespaces are not counted', () => {
  const elsewhere = [
    node({ name: 'n', zone: 'zone-1', allocatable: { cpu: '0', pods: '0' } }),
    ...pods(5, { namespace: 'other', labels: app, node: 'n' }),
  ];
  expect(skew(plan([nodePool(), ...elsewhere, ...zonal(3)]), label.zone)).toEqual([1, 1, 1]);
});

test('terminating, finished and node-less pods are not counted', () => {
  const n = node({ name: 'n', zone: 'zone-1', allocatable: { cpu: '0', pods: '0' } });
  const ignored = [
    pod({ labels: app, node: 'n', deleting: true }),
    pod({ labels: app, node: 'n', phase: 'Succeeded' }),
    pod({ labels: app, node: 'gone' }),
  ];
  expect(skew(plan([nodePool(), n, ...ignored, ...zonal(3)]), label.zone)).toEqual([1, 1, 1]);
});

test('a rule without a selector counts all pods that are there and none that come', () => {
  const there = [...running('zone-1', 3), ...running('zone-2', 3)];
  const waiting = pods(4, {
    labels: { app: 'x' },
    cpu: '10m',
    spec: spread(label.zone, app, { labelSelector: undefined }),
  });
  const result = plan([nodePool(), ...there, ...waiting]);
  expect(result.newNodes.map((planned) => valuesOf(planned, label.zone))).toEqual([['zone-3']]);
});

test('a node without a host name label counts under its name, one without any other label not at all', () => {
  const bare = node({ name: 'bare', metadata: { labels: {} } });
  const there = pod({ labels: app, cpu: '10m', node: 'bare' });
  const overHosts = pod({ labels: app, cpu: '10m', spec: spread(label.hostname, app) });
  newNodeOf(plan([nodePool(), bare, there, overHosts]), overHosts);
  expect(skew(plan([nodePool(), bare, there, ...zonal(3)]), label.zone)).toEqual([1, 1, 1]);
});

test('a key no node will have cannot be spread over', () => {
  const waiting = pod({ labels: app, spec: spread('rack', app) });
  const [reason] = reasonsOf(plan([nodePool(), waiting]), waiting);
  expect(reason).toMatchObject({ code: 'TopologyUnsatisfiable', keys: ['rack'] });
  expect(reason?.message).toMatch(/^unsatisfiable topology constraint for topology spread, key=rack \(counts = /);
});

test('a new node is in a domain of a custom label only if its pool has the label', () => {
  const racks = ['a', 'b'].map((rack) => node({ name: rack, labels: { rack }, allocatable: { cpu: '0', pods: '0' } }));
  const waiting = pod({ labels: app, spec: spread('rack', app) });
  expectUnscheduled(plan([nodePool(), ...racks, waiting]), waiting);
  const pool = nodePool({ requirements: [requirement('rack', 'Exists')] });
  expect(valuesOf(newNodeOf(plan([pool, ...racks, waiting]), waiting), 'rack')).toEqual(['a']);
});

test('spreading over a custom label of two pools splits by its values: 4 to 1 gives 4, 16', () => {
  const spotPool = nodePool({
    name: 'spot',
    requirements: [requirement(label.capacityType, 'In', ['spot']), requirement('part', 'In', ['2', '3', '4', '5'])],
  });
  const demandPool = nodePool({
    name: 'on-demand',
    requirements: [requirement(label.capacityType, 'In', ['on-demand']), requirement('part', 'In', ['1'])],
  });
  const result = plan([spotPool, demandPool, ...pods(20, { labels: app, cpu: '10m', spec: spread('part', app) })]);
  expect(skew(result, label.capacityType)).toEqual([4, 16]);
});

test('a bound volume decides the zone even if minDomains would have it otherwise', () => {
  const existing = ['zone-1', 'zone-2', 'zone-3'].flatMap((zone) => running(zone));
  const volume = object('v1', 'PersistentVolume', 'pv', {
    spec: {
      csi: { driver: 'd' },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [inZones('zone-1')] }] } },
    },
  });
  const claim = object('v1', 'PersistentVolumeClaim', 'data', {
    metadata: { namespace: 'default', annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } },
    spec: { volumeName: 'pv' },
  });
  const waiting = pod({
    labels: app,
    spec: {
      ...spread(label.zone, app, { minDomains: 3 }),
      volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'data' } }],
    },
  });
  const result = plan([nodePool(), ...existing, volume, claim, waiting]);
  expect(valuesOf(newNodeOf(result, waiting), label.zone)).toEqual(['zone-1']);
});

test('two spreads over one key agree on a domain both accept', () => {
  const other = { tier: 'db' };
  const waiting = pods(3, {
    labels: { ...app, ...other },
    spec: {
      topologySpreadConstraints: [
        {
          topologyKey: label.zone,
          maxSkew: 1,
          whenUnsatisfiable: 'DoNotSchedule',
          labelSelector: { matchLabels: app },
        },
        {
          topologyKey: label.zone,
          maxSkew: 2,
          whenUnsatisfiable: 'DoNotSchedule',
          labelSelector: { matchLabels: other },
        },
      ],
    },
  });
  expect(skew(plan([nodePool(), ...waiting]), label.zone)).toEqual([1, 1, 1]);
});

test('pods that fit spread onto existing nodes before new ones are made', () => {
  const nodes = ['zone-1', 'zone-2', 'zone-3'].map((zone) => node({ name: `n-${zone}`, zone }));
  const waiting = zonal(3);
  const result = plan([nodePool(), ...nodes, ...waiting]);
  expect(result.newNodes).toEqual([]);
  expect(result.existingNodes.map((entry) => entry.pods.length)).toEqual([1, 1, 1]);
  expectUnscheduled(
    plan([nodePool({ limits: { cpu: '0' } }), ...nodes.slice(0, 1), ...waiting]),
    waiting[2] as SnapshotObject,
  );
});

test('the first pod’s minDomains counts for all pods of one rule', () => {
  const pool = nodePool({ requirements: [inZones('zone-1', 'zone-2')] });
  const careful = zonal(1, { minDomains: 3 }, { cpu: '2' });
  const others = zonal(3, { minDomains: 1 });
  const result = plan([pool, ...careful, ...others]);
  expect(skew(result, label.zone)).toEqual([1, 1]);
  expect(result.unschedulable).toHaveLength(2);
});

test('spreads over host, zone and capacity type hold together', () => {
  const rules = [
    [label.capacityType, 1],
    [label.zone, 2],
    [label.hostname, 3],
  ] as const;
  const waiting = pods(14, {
    labels: app,
    spec: {
      topologySpreadConstraints: rules.map(([topologyKey, maxSkew]) => ({
        topologyKey,
        maxSkew,
        whenUnsatisfiable: 'DoNotSchedule',
        labelSelector: { matchLabels: app },
      })),
    },
  });
  const result = plan([nodePool(), ...waiting]);
  expectScheduled(result, ...waiting);
  expect(skew(result, label.capacityType)).toEqual([7, 7]);
  const zones = skew(result, label.zone);
  expect([zones.length, (zones[2] as number) - (zones[0] as number) <= 2]).toEqual([3, true]);
  expect(Math.max(...skew(result, label.hostname))).toBeLessThanOrEqual(3);
});
