import { expect, test } from 'vitest';
import { label } from '../api/names.ts';
import type { SnapshotObject } from './snapshot.ts';
import {
  affinity,
  expectScheduled,
  expectUnscheduled,
  instanceType,
  newNodeOf,
  node,
  nodePool,
  object,
  plan,
  pod,
  pods,
  podTerm,
  reasonsOf,
  skew,
  valuesOf,
} from './testing/builders.testing.ts';

const full = { cpu: '0', pods: '0' };
const inZone = (zone: string) => ({ nodeSelector: { [label.zone]: zone } });
const preferred = (kind: 'podAffinity' | 'podAntiAffinity', ...terms: object[]) => ({
  affinity: {
    [kind]: {
      preferredDuringSchedulingIgnoredDuringExecution: terms.map((podAffinityTerm, at) => ({
        weight: 50 - at,
        podAffinityTerm,
      })),
    },
  },
});

test('empty affinity objects are fine', () => {
  const waiting = pod({ spec: { affinity: { nodeAffinity: {}, podAffinity: {}, podAntiAffinity: {} } } });
  expectScheduled(plan([nodePool(), waiting]), waiting);
});

test('affinity to a pod that does not exist leaves the pod waiting', () => {
  const waiting = pod({ spec: affinity('podAffinity', podTerm(label.zone, { app: 'nobody' })) });
  const result = plan([nodePool(), waiting]);
  expect(reasonsOf(result, waiting)[0]).toMatchObject({ code: 'TopologyUnsatisfiable', keys: [label.zone] });
  expect(reasonsOf(result, waiting)[0]?.message).toContain('for pod affinity, key=topology.kubernetes.io/zone');
});

test('preferred affinity to pods that do not exist is given up', () => {
  const waiting = pod({ spec: preferred('podAffinity', podTerm(label.zone, { app: 'nobody' })) });
  expectScheduled(plan([nodePool(), waiting]), waiting);
});

test('self-affinity over hosts fills one node and the overflow waits', () => {
  const self = { app: 'web' };
  const types = [instanceType({ pods: '5' })];
  const waiting = pods(7, { labels: self, spec: affinity('podAffinity', podTerm(label.hostname, self)) });
  const result = plan([nodePool(), ...waiting], { types });
  expect(result.newNodes.map((planned) => planned.pods.length)).toEqual([5]);
  expect(result.unschedulable).toHaveLength(2);
  const running = [node({ name: 'n', allocatable: full }), pod({ labels: self, node: 'n' })];
  expectUnscheduled(plan([nodePool(), ...running, ...waiting], { types }), ...waiting);
});

test('self-affinity over zones keeps all pods in one zone', () => {
  const self = { app: 'web' };
  const types = [instanceType({ pods: '2' })];
  const waiting = pods(5, { labels: self, spec: affinity('podAffinity', podTerm(label.zone, self)) });
  const result = plan([nodePool(), ...waiting], { types });
  expect(skew(result, label.zone)).toEqual([5]);
});

test('self-affinity with a match elsewhere: waits over hosts, may open a second zone', () => {
  const self = { app: 'web' };
  const running = [node({ name: 'n', zone: 'zone-1', allocatable: full }), pod({ labels: self, node: 'n' })];
  const overHosts = pod({
    labels: self,
    spec: { ...affinity('podAffinity', podTerm(label.hostname, self)), ...inZone('zone-2') },
  });
  expectUnscheduled(plan([nodePool(), ...running, overHosts]), overHosts);
  const overZones = pod({
    labels: self,
    spec: { ...affinity('podAffinity', podTerm(label.zone, self)), ...inZone('zone-2') },
  });
  expect(valuesOf(newNodeOf(plan([nodePool(), ...running, overZones]), overZones), label.zone)).toEqual(['zone-2']);
});

test('chains of affinity resolve in one plan, whatever their order', () => {
  const link = (name: string, to?: string) =>
    pod({
      name,
      labels: { app: name },
      ...(to ? { spec: affinity('podAffinity', podTerm(label.hostname, { app: to })) } : {}),
    });
  const chain = [link('ui', 'cache'), link('cache', 'web'), link('web', 'db'), link('db')];
  const result = plan([nodePool(), ...chain]);
  expectScheduled(result, ...chain);
  expect(result.newNodes).toHaveLength(1);
});

test('dependencies that cannot be met end, and do not disturb others', () => {
  const one = pod({ labels: { app: 'a' }, spec: affinity('podAffinity', podTerm(label.hostname, { app: 'b' })) });
  const two = pod({ labels: { app: 'b' }, spec: affinity('podAffinity', podTerm(label.hostname, { app: 'a' })) });
  const fine = pod();
  const result = plan([nodePool(), one, two, fine]);
  expectUnscheduled(result, one, two);
  expectScheduled(result, fine);
});

test('anti-affinity over hosts gives every pod its own node', () => {
  const self = { app: 'web' };
  const waiting = pods(3, { labels: self, spec: affinity('podAntiAffinity', podTerm(label.hostname, self)) });
  expect(skew(plan([nodePool(), ...waiting]), label.hostname)).toEqual([1, 1, 1]);
});

test('zonal anti-affinity waits when every zone is taken', () => {
  const taken = ['zone-1', 'zone-2', 'zone-3'].map((zone) =>
    pod({ cpu: '2', labels: { app: 'db' }, spec: inZone(zone) }),
  );
  const shy = pod({ cpu: '1', spec: affinity('podAntiAffinity', podTerm(label.zone, { app: 'db' })) });
  const result = plan([nodePool(), ...taken, shy]);
  expectScheduled(result, ...taken);
  expectUnscheduled(result, shy);
});

test('a pod waits for the next plan while the zone of the one it avoids is undecided', () => {
  const avoided = pod({ cpu: '2', labels: { app: 'db' } });
  const shy = pod({ cpu: '1', spec: affinity('podAntiAffinity', podTerm(label.zone, { app: 'db' })) });
  const result = plan([nodePool(), avoided, shy]);
  expectScheduled(result, avoided);
  expectUnscheduled(result, shy);
});

test('three pods that exclude each other over zones need three plans', () => {
  const self = { app: 'web' };
  const spec = affinity('podAntiAffinity', podTerm(label.zone, self));
  const waiting = pods(3, { labels: self, spec });
  for (const placedBefore of [0, 1, 2]) {
    const zones = ['zone-1', 'zone-2'].slice(0, placedBefore);
    const running = zones.flatMap((zone) => [
      node({ name: zone, zone, allocatable: full }),
      pod({ labels: self, spec, node: zone }),
    ]);
    const result = plan([nodePool(), ...running, ...waiting.slice(placedBefore)]);
    expect(result.newNodes).toHaveLength(1);
    expect(result.unschedulable).toHaveLength(2 - placedBefore);
  }
});

test('zonal anti-affinity goes to the one zone that is certainly free', () => {
  const taken = ['zone-1', 'zone-2'].map((zone) => pod({ cpu: '2', labels: { app: 'db' }, spec: inZone(zone) }));
  const shy = pod({ cpu: '1', spec: affinity('podAntiAffinity', podTerm(label.zone, { app: 'db' })) });
  expect(valuesOf(newNodeOf(plan([nodePool(), ...taken, shy]), shy), label.zone)).toEqual(['zone-3']);
});

test('preferred anti-affinity may be violated', () => {
  const self = { app: 'web' };
  const waiting = pods(5, { labels: self, spec: preferred('podAntiAffinity', podTerm(label.zone, self)) });
  expectScheduled(plan([nodePool(), ...waiting]), ...waiting);
});

test('required anti-affinity of others keeps the pods they select away, in the batch and in the cluster', () => {
  const guard = { labels: { app: 'guard' }, spec: affinity('podAntiAffinity', podTerm(label.zone, { app: 'web' })) };
  const guards = ['zone-1', 'zone-2', 'zone-3'].map((zone) =>
    pod({ ...guard, cpu: '2', spec: { ...guard.spec, ...inZone(zone) } }),
  );
  const web = pod({ cpu: '1', labels: { app: 'web' } });
  expectUnscheduled(plan([nodePool(), ...guards, web]), web);
  const running = ['zone-1', 'zone-2'].flatMap((zone) => [
    node({ name: zone, zone, allocatable: full }),
    pod({ ...guard, node: zone }),
  ]);
  expect(valuesOf(newNodeOf(plan([nodePool(), ...running, web]), web), label.zone)).toEqual(['zone-3']);
});

test('the reported pod that keeps a waiting one away does not depend on the order of objects', () => {
  const web = pod({ labels: { app: 'web' } });
  const guard = (name: string, key: string) =>
    pod({ name, node: 'n', spec: affinity('podAntiAffinity', podTerm(key, { app: 'web' })) });
  const guards = [guard('a', label.arch), guard('b', 'team')];
  const running = node({ name: 'n', allocatable: full, labels: { [label.arch]: 'amd64', team: 'a' } });
  const reported = (order: SnapshotObject[]) =>
    reasonsOf(plan([nodePool({ labels: { team: 'a' } }), running, ...order, web]), web);
  expect(reported(guards)[0]?.keys).toEqual([label.arch]);
  expect(reported(guards.toReversed())).toEqual(reported(guards));
});

test('preferred anti-affinity of others does not keep anybody away', () => {
  const running = ['zone-1', 'zone-2', 'zone-3'].flatMap((zone) => [
    node({ name: zone, zone, allocatable: full }),
    pod({ node: zone, spec: preferred('podAntiAffinity', podTerm(label.zone, { app: 'web' })) }),
  ]);
  const web = pod({ labels: { app: 'web' } });
  expectScheduled(plan([nodePool(), ...running, web]), web);
});

test('pods in other namespaces count only where the list or the selector of a term says so', () => {
  const other = [
    node({ name: 'n', allocatable: full }),
    pod({ namespace: 'other', labels: { app: 'web' }, node: 'n' }),
  ];
  const attracted = (more = {}) => pod({ spec: affinity('podAffinity', podTerm(label.zone, { app: 'web' }, more)) });
  const own = attracted();
  expectUnscheduled(plan([nodePool(), ...other, own]), own);
  const listed = attracted({ namespaces: ['other'] });
  expectScheduled(plan([nodePool(), ...other, listed]), listed);
  const namespaces = [
    object('v1', 'Namespace', 'other', { metadata: { labels: { team: 'x' } } }),
    object('v1', 'Namespace', 'default'),
  ];
  const selected = attracted({ namespaceSelector: { matchLabels: { team: 'x' } } });
  expectScheduled(plan([nodePool(), ...namespaces, ...other, selected]), selected);
  const every = attracted({ namespaceSelector: {} });
  expectScheduled(plan([nodePool(), ...namespaces, ...other, every]), every);
  const none = attracted({ namespaceSelector: { matchLabels: { team: 'y' } } });
  expectUnscheduled(plan([nodePool(), ...namespaces, ...other, none]), none);
});

test('preferences are dropped one at a time: affinity first, then anti-affinity, each heaviest first', () => {
  const self = { app: 'web' };
  const waiting = pods(2, {
    labels: self,
    spec: {
      affinity: {
        podAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 1, podAffinityTerm: podTerm(label.zone, { app: 'nobody' }) },
          ],
        },
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 1, podAffinityTerm: podTerm(label.hostname, self) },
            { weight: 10, podAffinityTerm: podTerm('nowhere', self) },
          ],
        },
      },
    },
  });
  expect(skew(plan([nodePool(), ...waiting]), label.hostname)).toEqual([1, 1]);
  expect(plan([nodePool(), ...waiting], { settings: { preferencePolicy: 'Ignore' } }).newNodes).toHaveLength(1);
});

test('affinity joins pods on an existing node only where they are', () => {
  const nodes = ['a', 'b'].map((name) => node({ name }));
  const target = pod({ labels: { app: 'db' }, node: 'b' });
  const joining = pod({ spec: affinity('podAffinity', podTerm(label.hostname, { app: 'db' })) });
  expect(plan([nodePool(), ...nodes, target, joining]).existingNodes).toMatchObject([{ name: 'b' }]);
});
