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
  type PodParts,
  plan,
  pod,
  pods,
  reasonsOf,
  requirement,
  sizes,
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

test('ScheduleAnyway is violated where the domain is not to be had: 1, 5', () => {
  const spot = node({ name: 'spot', labels: { [label.capacityType]: 'spot' }, allocatable: { cpu: '0', pods: '0' } });
  const there = pod({ labels: app, node: 'spot' });
  const pool = nodePool({ requirements: [requirement(label.capacityType, 'In', ['on-demand'])] });
  const waiting = pods(5, {
    labels: app,
    cpu: '10m',
    spec: spread(label.capacityType, app, { whenUnsatisfiable: 'ScheduleAnyway' }),
  });
  const result = plan([pool, spot, there, ...waiting]);
  expectScheduled(result, ...waiting);
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

test('required zones split 5, 10 between pods with and without them', () => {
  const both = pods(10, {
    labels: app,
    cpu: '10m',
    spec: { ...spread(label.zone, app), ...nodeAffinity([inZones('zone-1', 'zone-2')]) },
  });
  const one = pods(5, {
    labels: app,
    cpu: '10m',
    spec: { ...spread(label.zone, app), ...nodeAffinity([inZones('zone-1')]) },
  });
  const result = plan([nodePool(), ...both, ...one]);
  expectScheduled(result, ...both);
  expect(skew(result, label.zone).reduce((sum, count) => sum + count, 0)).toBe(15 - result.unschedulable.length);
});

test('nodes the pod could not use do not count (Honor), unless there is no selector', () => {
  const types = [instanceType({ cpu: '16', capacityTypes: ['spot', 'on-demand'] })];
  const spotNode = node({
    name: 'spot-1',
    zone: 'zone-1',
    labels: { [label.capacityType]: 'spot' },
    allocatable: { cpu: '0', pods: '0' },
  });
  const there = pod({ labels: app, node: 'spot-1' });
  const pool = nodePool({ requirements: [inZones('zone-1')] });
  const selecting = zonal(5, {}, { cpu: '10m', spec: { nodeSelector: { [label.capacityType]: 'on-demand' } } });
  const result = plan([pool, spotNode, there, ...selecting], { types });
  expect(skew(result, label.zone)).toEqual([5]);
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

test('a key no node will have cannot be spread over', () => {
  const waiting = pod({ labels: app, spec: spread('rack', app) });
  const [reason] = reasonsOf(plan([nodePool(), waiting]), waiting);
  expect(reason).toMatchObject({ code: 'TopologyUnsatisfiable', keys: ['rack'] });
  expect(reason?.message).toMatch(/^unsatisfiable topology constraint for topology spread, key=rack \(counts = /);
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
  expect(sizes).toHaveLength(4);
});
