import { expect, test } from 'vitest';
import { label } from '../api/names.ts';
import {
  affinity,
  instanceType,
  node,
  nodePool,
  object,
  offering,
  plan,
  pod,
  podTerm,
  reasonsOf,
  requirement,
  spread,
} from './testing/builders.testing.ts';

const amd = instanceType({ name: 'amd', arch: 'amd64', cpu: '4' });
const arm = instanceType({ name: 'arm', arch: 'arm64', cpu: '16' });
const soldOut = instanceType({
  name: 'sold-out',
  offerings: [offering('zone-1', 'spot', 1, { available: false }), offering('zone-2', 'spot', 1)],
});
const on = (selector: Record<string, string>) => ({ nodeSelector: selector });

test.each([
  [
    'labels, resources and offerings all miss',
    [amd],
    { cpu: '1', spec: on({ [label.zone]: 'nowhere' }) },
    'NoInstanceTypeFits',
    'no instance type met the scheduling requirements or had enough resources or had a required offering',
  ],
  [
    'labels and resources miss',
    [amd],
    { cpu: '64', spec: on({ [label.arch]: 'riscv' }) },
    'NoInstanceTypeFits',
    'no instance type met the scheduling requirements or had enough resources',
  ],
  [
    'what fits is sold out where the pod has to be',
    [soldOut],
    { cpu: '1', spec: on({ [label.zone]: 'zone-1' }) },
    'NoOffering',
    'no instance type had enough resources or had a required offering',
  ],
  [
    'only labels miss',
    [amd],
    { cpu: '1', spec: on({ [label.arch]: 'riscv' }) },
    'RequirementsIncompatible',
    'no instance type met all requirements',
  ],
  ['only resources miss', [amd, arm], { cpu: '64' }, 'InsufficientResources', 'no instance type has enough resources'],
  [
    'no one type has both the labels and the resources',
    [amd, arm],
    { cpu: '8', spec: on({ [label.arch]: 'amd64' }) },
    'NoInstanceTypeFits',
    'no instance type which had enough resources and the required offering met the scheduling requirements',
  ],
])('where %s, the reason says exactly that', (_, types, parts, code, message) => {
  const waiting = pod(parts);
  // What the pod asks for exists, only not in this pool.
  const labels = { [label.arch]: 'riscv', [label.zone]: 'nowhere' };
  const elsewhere = node({ name: 'elsewhere', labels, allocatable: { cpu: '0', pods: '0' } });
  const [reason] = reasonsOf(plan([nodePool(), elsewhere, waiting], { types }), waiting);
  expect(reason).toMatchObject({ code, nodePool: 'default' });
  expect(reason?.message.slice(0, reason.message.indexOf(', requirements='))).toBe(message);
});

const daemonOn = (arch?: string) =>
  object('apps/v1', 'DaemonSet', 'agent', {
    metadata: { namespace: 'default' },
    spec: {
      template: {
        spec: {
          containers: [{ name: 'd', resources: { requests: { cpu: '1' } } }],
          ...(arch === undefined ? {} : on({ [label.arch]: arch })),
        },
      },
    },
  });

test('a reason ends with the requirements, and the requests with what daemons take', () => {
  const waiting = pod({ cpu: '64' });
  const message = (daemon: ReturnType<typeof daemonOn>) =>
    reasonsOf(plan([nodePool(), daemon, waiting], { types: [amd, arm] }), waiting)[0]?.message;
  expect(message(daemonOn())).toMatch(
    /, requirements=karpenter\.sh\/initialized In \[true\], karpenter\.sh\/nodepool In \[default\], karpenter\.sh\/registered In \[true\].*, resources=\{"cpu":"65","pods":"2"\}$/,
  );
  expect(message(daemonOn('arm64'))).toMatch(
    /, resources=min=\{"cpu":"64","pods":"1"\}, max=\{"cpu":"65","pods":"2"\}$/,
  );
});

test.each([
  ['topology spread', spread('rack', { app: 'web' })],
  ['pod affinity', affinity('podAffinity', podTerm('rack', { app: 'db' }))],
  ['pod anti-affinity', affinity('podAntiAffinity', podTerm('rack', { app: 'db' }))],
])('a %s that cannot be met names its key, the counts and both sides', (kind, spec) => {
  const racks = ['a', 'b'].map((rack) => node({ name: rack, labels: { rack }, allocatable: { cpu: '0', pods: '0' } }));
  const waiting = pod({ labels: { app: 'web' }, spec });
  const [reason] = reasonsOf(plan([nodePool(), ...racks, waiting]), waiting);
  expect(reason).toMatchObject({ code: 'TopologyUnsatisfiable', keys: ['rack'] });
  expect(reason?.message).toBe(
    `unsatisfiable topology constraint for ${kind}, key=rack (counts = a: 0, b: 0, podDomains = rack Exists, nodeDomains = rack Exists`,
  );
});

test('every pool that refused has its own reason, the pool that is nearest first', () => {
  const pools = [
    nodePool({ name: 'tainted', weight: 9, taints: [{ key: 'gpu', effect: 'NoSchedule' }] }),
    nodePool({ name: 'limited', weight: 5, limits: { cpu: '1' } }),
    nodePool({ name: 'elsewhere', requirements: [requirement(label.zone, 'In', ['zone-2'])] }),
  ];
  const waiting = pod({ cpu: '1', spec: on({ [label.zone]: 'zone-1' }) });
  expect(reasonsOf(plan([...pools, waiting]), waiting)).toMatchObject([
    { nodePool: 'limited', code: 'LimitsExceeded' },
    { nodePool: 'tainted', code: 'TaintNotTolerated' },
    { nodePool: 'elsewhere', code: 'RequirementsIncompatible', keys: [label.zone] },
  ]);
});

test('every reason says what would help', () => {
  const waiting = [
    pod({ cpu: '9999' }),
    pod({ spec: on({ team: 'x' }) }),
    pod({ spec: on({ [label.hostname]: 'x' }) }),
    pod({ spec: { resourceClaims: [{ name: 'gpu' }] } }),
  ];
  const { unschedulable } = plan([nodePool(), ...waiting]);
  expect(unschedulable).toHaveLength(waiting.length);
  for (const { reasons } of unschedulable) for (const reason of reasons) expect(reason.suggestion).toMatch(/\w+ \w+/);
});

test('everything in the way of a pool is said, not only the first thing', () => {
  const tainted = nodePool({
    taints: [
      { key: 'a', effect: 'NoSchedule' },
      { key: 'b', value: 'x', effect: 'NoExecute' },
    ],
  });
  const waiting = pod({ cpu: '64', spec: on({ disk: 'nvme', team: 'x' }) });
  expect(reasonsOf(plan([tainted, waiting], { types: [amd] }), waiting)).toMatchObject([
    { code: 'TaintNotTolerated', message: expect.stringContaining('b=x:NoExecute') },
    { code: 'RequirementsIncompatible', keys: ['disk'] },
    { code: 'RequirementsIncompatible', keys: ['team'] },
    { code: 'InsufficientResources' },
  ]);
});

test('a pool made for other pods is farther away than one that is full', () => {
  const gpu = nodePool({ name: 'gpu', weight: 9, taints: [{ key: 'gpu', effect: 'NoSchedule' }] });
  const full = nodePool({ name: 'full', limits: { cpu: '2' } });
  const waiting = pod({ cpu: '3' });
  expect(reasonsOf(plan([gpu, full, waiting], { types: [amd] }), waiting)[0]).toMatchObject({
    code: 'LimitsExceeded',
    nodePool: 'full',
  });
});

test('a resource the pool has nothing of is farther away than a taint', () => {
  const gpu = nodePool({ name: 'gpu', taints: [{ key: 'gpu', effect: 'NoSchedule' }] });
  const types = [instanceType({ name: 'g', capacity: { 'a.com/gpu': '1' } })];
  const waiting = pod({ requests: { 'a.com/gpu': '1' } });
  const planned = plan([gpu, nodePool(), waiting], {
    instanceTypes: [
      { nodePool: 'gpu', items: types },
      { nodePool: 'default', items: [amd] },
    ],
  });
  expect(reasonsOf(planned, waiting)[0]).toMatchObject({ code: 'TaintNotTolerated', nodePool: 'gpu' });
});

test('limits too small for the pod are named, with what they leave', () => {
  const waiting = pod({ cpu: '4' });
  const types = [instanceType({ name: 'two', cpu: '2' }), instanceType({ name: 'eight', cpu: '8' })];
  expect(reasonsOf(plan([nodePool({ limits: { cpu: '2' } }), waiting], { types }), waiting)).toMatchObject([
    { code: 'LimitsExceeded', suggestion: 'raise the limits of NodePool default: they leave cpu 2' },
  ]);
});

test('a zone or type that does not exist is the reason, with those that do', () => {
  const lost = pod({ spec: on({ [label.zone]: 'eu-west-1a' }) });
  const misspelt = pod({ spec: on({ [label.instanceType]: 'amdd' }) });
  const planned = plan([nodePool(), lost, misspelt], { types: [amd, arm] });
  expect(reasonsOf(planned, lost)).toMatchObject([
    {
      code: 'UnknownValue',
      message: 'zone eu-west-1a does not exist here; available: zone-1, zone-2, zone-3',
      keys: [label.zone],
    },
  ]);
  expect(reasonsOf(planned, misspelt)[0]).toMatchObject({
    message: 'instance type amdd does not exist here; available: amd, arm',
    suggestion: expect.stringMatching(/^ask for amd in /),
  });
});
