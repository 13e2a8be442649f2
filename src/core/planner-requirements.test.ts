import { expect, test } from 'vitest';
import { label } from '../api/names.ts';
import {
  expectScheduled,
  expectUnscheduled,
  instanceType,
  newNodeOf,
  nodeAffinity,
  nodePool,
  plan,
  pod,
  reasonsOf,
  requirement,
  sizes,
  valuesOf,
} from './testing/builders.testing.ts';

test.each([
  ['In', ['x'], false],
  ['Exists', undefined, false],
  ['NotIn', ['x'], true],
  ['DoesNotExist', undefined, true],
] as const)('a pod asking for an undefined custom label with %s: placed %s', (operator, values, placed) => {
  const asking = pod({ spec: nodeAffinity([requirement('team', operator, values ? [...values] : undefined)]) });
  const refusals = reasonsOf(plan([nodePool(), asking]), asking).map(({ code, keys }) => ({ code, keys }));
  expect(refusals).toEqual(placed ? [] : [{ code: 'RequirementsIncompatible', keys: ['team'] }]);
});

test.each([
  ['In', ['x'], true],
  ['In', ['y'], false],
  ['NotIn', ['x'], false],
  ['NotIn', ['y'], true],
  ['Exists', undefined, true],
  ['DoesNotExist', undefined, false],
] as const)('a pool labelled team=x and a pod asking %s %j: placed %s', (operator, values, placed) => {
  const asking = pod({ spec: nodeAffinity([requirement('team', operator, values ? [...values] : undefined)]) });
  const result = plan([nodePool({ labels: { team: 'x' } }), asking]);
  expect(reasonsOf(result, asking).length === 0).toBe(placed);
});

test('Exists on a custom key lets each pod choose a value, and different values need different nodes', () => {
  const a = pod({ spec: { nodeSelector: { team: 'a' } } });
  const b = pod({ spec: { nodeSelector: { team: 'b' } } });
  const result = plan([nodePool({ requirements: [requirement('team', 'Exists')] }), a, b]);
  expect(valuesOf(newNodeOf(result, a), 'team')).toEqual(['a']);
  expect(valuesOf(newNodeOf(result, b), 'team')).toEqual(['b']);
});

test('Exists never overwrites a concrete value', () => {
  const concrete = pod({ spec: { nodeSelector: { team: 'a' } } });
  const any = pod({ spec: nodeAffinity([requirement('team', 'Exists')]) });
  const result = plan([nodePool({ requirements: [requirement('team', 'Exists')] }), concrete, any]);
  expect(result.newNodes).toHaveLength(1);
  expect(valuesOf(newNodeOf(result, any), 'team')).toEqual(['a']);
});

test('a host name selector never schedules', () => {
  const pinned = pod({ spec: { nodeSelector: { [label.hostname]: 'node-7' } } });
  expect(reasonsOf(plan([nodePool(), pinned]), pinned)[0]?.code).toBe('PodInvalid');
});

test.each(['kubernetes.io/role', 'sub.kubernetes.io/role', 'k8s.io/role', 'kops.k8s.io/role'])(
  'the label %s can be used in pools and pods',
  (key) => {
    const asking = pod({ spec: { nodeSelector: { [key]: 'x' } } });
    expectScheduled(plan([nodePool({ labels: { [key]: 'x' } }), asking]), asking);
    const required = nodePool({ requirements: [requirement(key, 'In', ['x', 'y'])] });
    expect(valuesOf(newNodeOf(plan([required, asking]), asking), key)).toEqual(['x']);
  },
);

test.each([
  { nodeSelector: { 'karpenter.sh/other': 'x' } },
  nodeAffinity([requirement('sub.karpenter.sh/x', 'Exists')]),
  nodeAffinity([requirement(label.capacityType, 'In', ['mystery'])]),
  nodeAffinity([requirement('size', 'Gt', ['big'])]),
  { nodeSelector: { 'not a name': 'x' } },
  {
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchFields: [requirement('metadata.name', 'In', ['node'])] }],
        },
      },
    },
  },
])('the selector %j makes a pod invalid, and only that pod', (spec) => {
  const broken = pod({ spec });
  const fine = pod();
  const result = plan([nodePool(), broken, fine]);
  expect(reasonsOf(result, broken)[0]?.code).toBe('PodInvalid');
  expectScheduled(result, fine);
});

test('a pod that asks for no NodePool has opted out', () => {
  const shy = pod({ spec: nodeAffinity([requirement(label.nodePool, 'DoesNotExist')]) });
  expect(reasonsOf(plan([nodePool(), shy]), shy)).toMatchObject([{ code: 'PodOptedOut' }]);
});

test('a label only some instance types have selects those, and its absence the others', () => {
  const types = [
    instanceType({ name: 'plain', requirements: [requirement('example.com/special', 'DoesNotExist')] }),
    instanceType({ name: 'special', requirements: [requirement('example.com/special', 'In', ['yes'])] }),
  ];
  const wants = pod({ spec: nodeAffinity([requirement('example.com/special', 'Exists')]) });
  const avoids = pod({ spec: nodeAffinity([requirement('example.com/special', 'DoesNotExist')]) });
  const result = plan([nodePool(), wants, avoids], { types });
  expect(newNodeOf(result, wants).instanceTypes).toEqual(['special']);
  expect(newNodeOf(result, avoids).instanceTypes).toEqual(['plain']);
});

test('a node selector against the pool requirement never schedules', () => {
  const asking = pod({ spec: { nodeSelector: { [label.zone]: 'zone-2' } } });
  const result = plan([nodePool({ requirements: [requirement(label.zone, 'In', ['zone-1'])] }), asking]);
  expectUnscheduled(result, asking);
});

test('a conflicting preference is given up, the heaviest first', () => {
  const prefers = (weight: number, zone: string) => ({
    weight,
    preference: { matchExpressions: [requirement(label.zone, 'In', [zone])] },
  });
  const asking = pod({
    spec: {
      affinity: {
        nodeAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [prefers(1, 'zone-2'), prefers(50, 'nowhere')],
        },
      },
    },
  });
  expect(valuesOf(newNodeOf(plan([nodePool(), asking]), asking), label.zone)).toEqual(['zone-2']);
  const ignored = plan([nodePool(), asking], { settings: { preferencePolicy: 'Ignore' } });
  expect(valuesOf(newNodeOf(ignored, asking), label.zone)).toBeUndefined();
});

test('required terms are alternatives, tried in order', () => {
  const asking = pod({
    spec: nodeAffinity([requirement(label.zone, 'In', ['nowhere'])], [requirement(label.zone, 'In', ['zone-3'])]),
  });
  expect(valuesOf(newNodeOf(plan([nodePool(), asking]), asking), label.zone)).toEqual(['zone-3']);
});

test.each([
  ['a value and the absence of the label', [requirement('team', 'In', ['a']), requirement('team', 'DoesNotExist')]],
  ['two values at once', [requirement('team', 'In', ['a']), requirement('team', 'In', ['b'])]],
  [
    'presence, but not this value, of a label no one has',
    [requirement('team', 'Exists'), requirement('team', 'NotIn', ['x'])],
  ],
])('asking for %s fits nowhere', (_, terms) => {
  const waiting = pod({ spec: nodeAffinity(terms) });
  expect(reasonsOf(plan([nodePool(), waiting]), waiting)[0]).toMatchObject({
    code: 'RequirementsIncompatible',
    keys: ['team'],
  });
});

test('a preference that contradicts a requirement is given up', () => {
  const spec = nodeAffinity([requirement('team', 'In', ['a'])]);
  const affinity = spec['affinity'] as { nodeAffinity: object };
  const preferred = [{ weight: 1, preference: { matchExpressions: [requirement('team', 'DoesNotExist')] } }];
  const nodeAffinities = { ...affinity.nodeAffinity, preferredDuringSchedulingIgnoredDuringExecution: preferred };
  const waiting = pod({ spec: { affinity: { nodeAffinity: nodeAffinities } } });
  expect(valuesOf(newNodeOf(plan([nodePool({ labels: { team: 'a' } }), waiting]), waiting), 'team')).toEqual(['a']);
});

test('older spellings of label keys mean the same', () => {
  const asking = pod({ spec: { nodeSelector: { 'failure-domain.beta.kubernetes.io/zone': 'zone-3' } } });
  expect(valuesOf(newNodeOf(plan([nodePool(), asking]), asking), label.zone)).toEqual(['zone-3']);
});

test('provider aliases of keys and values are applied', () => {
  const asking = pod({ spec: { nodeSelector: { 'example.com/where': 'third' } } });
  const result = plan([nodePool(), asking], {
    provider: {
      nodeClasses: ['TestNodeClass.karpenter.test.sh'],
      wellKnownLabels: [],
      normalizedLabels: { 'example.com/where': label.zone },
      normalizedLabelValues: { [label.zone]: { third: 'zone-3' } },
    },
  });
  expect(valuesOf(newNodeOf(result, asking), label.zone)).toEqual(['zone-3']);
});

test('pools that are not ready, being deleted, static or of another provider are not used', () => {
  const waiting = pod();
  const unusable = [
    nodePool({ name: 'a', ready: 'False' }),
    nodePool({ name: 'b', metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }),
    nodePool({ name: 'c', spec: { replicas: 2 } }),
    nodePool({
      name: 'd',
      spec: { template: { spec: { requirements: [], nodeClassRef: { group: 'x.io', kind: 'Other', name: 'x' } } } },
    }),
  ];
  expect(reasonsOf(plan([...unusable, waiting]), waiting)).toMatchObject([{ code: 'NoNodePools' }]);
  expectScheduled(plan([...unusable, nodePool({ name: 'e' }), waiting]), waiting);
});

test('a pool whose requirements leave no instance type says so', () => {
  const waiting = pod();
  const result = plan([nodePool({ requirements: [requirement(label.arch, 'In', ['riscv'])] }), waiting]);
  expect(reasonsOf(result, waiting)[0]?.code).toBe('NoInstanceTypes');
});

test('a pool whose instance types could not be read is skipped', () => {
  const waiting = pod();
  const result = plan([nodePool({ name: 'broken', weight: 90 }), nodePool({ name: 'fine' }), waiting], {
    instanceTypes: [
      { nodePool: 'broken', error: 'no credentials' },
      { nodePool: 'fine', items: sizes },
    ],
  });
  expect(newNodeOf(result, waiting).nodePool).toBe('fine');
});

test('the heaviest pool that can hold the pod wins; of equal weight the later name', () => {
  const any = pod();
  const tainted = nodePool({ name: 'z', weight: 100, taints: [{ key: 'gpu', effect: 'NoSchedule' }] });
  const result = plan([nodePool({ name: 'a', weight: 5 }), nodePool({ name: 'b', weight: 5 }), tainted, any]);
  expect(newNodeOf(result, any).nodePool).toBe('b');
});

test('the final requirements carry the pool, its node class, its labels and what pods narrowed, but no host name', () => {
  const asking = pod({ spec: { nodeSelector: { [label.zone]: 'zone-2' } } });
  const pool = nodePool({
    labels: { team: 'x' },
    requirements: [
      requirement(label.capacityType, 'Exists'),
      requirement('example.com/size', 'Gt', ['1']),
      requirement('example.com/size', 'Lt', ['9']),
    ],
  });
  const types = [instanceType({ requirements: [requirement('example.com/size', 'In', ['4'])] })];
  expect(newNodeOf(plan([pool, asking], { types }), asking).requirements).toEqual([
    { key: 'example.com/size', operator: 'Gte', values: ['2'] },
    { key: 'example.com/size', operator: 'Lte', values: ['8'] },
    { key: label.capacityType, operator: 'Exists' },
    { key: label.nodePool, operator: 'In', values: ['default'] },
    { key: 'karpenter.test.sh/testnodeclass', operator: 'In', values: ['default'] },
    { key: 'team', operator: 'In', values: ['x'] },
    { key: label.zone, operator: 'In', values: ['zone-2'] },
  ]);
});

test('taints must be tolerated, numeric tolerations included', () => {
  const taints = [{ key: 'sla', value: '95', effect: 'NoSchedule' }];
  const tolerant = pod({ spec: { tolerations: [{ key: 'sla', operator: 'Gt', value: '90', effect: 'NoSchedule' }] } });
  const strict = pod({ spec: { tolerations: [{ key: 'sla', operator: 'Lt', value: '90', effect: 'NoSchedule' }] } });
  const result = plan([nodePool({ taints }), tolerant, strict]);
  expectScheduled(result, tolerant);
  expect(reasonsOf(result, strict)[0]).toMatchObject({
    code: 'TaintNotTolerated',
    message: 'did not tolerate taint (taint=sla=95:NoSchedule)',
  });
});

test('PreferNoSchedule is respected while another pool will do, and tolerated otherwise', () => {
  const soft = nodePool({ name: 'soft', weight: 10, taints: [{ key: 'a', effect: 'PreferNoSchedule' }] });
  const waiting = pod();
  expect(newNodeOf(plan([soft, nodePool(), waiting]), waiting).nodePool).toBe('default');
  expect(newNodeOf(plan([soft, waiting]), waiting).nodePool).toBe('soft');
});

test('startup taints of a pool do not keep pods away', () => {
  const waiting = pod();
  expectScheduled(plan([nodePool({ startupTaints: [{ key: 'init', effect: 'NoExecute' }] }), waiting]), waiting);
});
