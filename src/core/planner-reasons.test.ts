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
  const [reason] = reasonsOf(plan([nodePool(), waiting], { types }), waiting);
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

test('every pool that refused has its own reason, in the order in which pools are tried', () => {
  const pools = [
    nodePool({ name: 'tainted', weight: 9, taints: [{ key: 'gpu', effect: 'NoSchedule' }] }),
    nodePool({ name: 'limited', weight: 5, limits: { cpu: '1' } }),
    nodePool({ name: 'elsewhere', requirements: [requirement(label.zone, 'In', ['zone-2'])] }),
  ];
  const waiting = pod({ cpu: '1', spec: on({ [label.zone]: 'zone-1' }) });
  expect(reasonsOf(plan([...pools, waiting]), waiting)).toMatchObject([
    { nodePool: 'tainted', code: 'TaintNotTolerated' },
    { nodePool: 'limited', code: 'LimitsExceeded' },
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
