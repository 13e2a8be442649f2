import { expect, test } from 'vitest';
import { annotation, label } from '../api/names.ts';
import {
  expectScheduled,
  expectUnscheduled,
  instanceType,
  newNodeOf,
  nodePool,
  object,
  offering,
  plan,
  pod,
  pods,
  reasonsOf,
  requirement,
  sizes,
} from './testing/builders.testing.ts';

test('small pods share one node', () => {
  expect(plan([nodePool(), ...pods(10, { cpu: '500m' })]).newNodes).toHaveLength(1);
});

test('more pods than a node has slots need more nodes', () => {
  const types = [instanceType({ pods: '4' })];
  const { newNodes } = plan([nodePool(), ...pods(9, { cpu: '10m' })], { types });
  expect(newNodes.map((planned) => planned.pods.length)).toEqual([4, 4, 1]);
});

test('the largest pod goes first and small ones fill', () => {
  const types = [instanceType({ cpu: '4' })];
  const big = pod({ cpu: '3', name: 'big' });
  const small = [pod({ cpu: '1', name: 'small-1' }), pod({ cpu: '1', name: 'small-2' })];
  const { newNodes } = plan([nodePool(), ...small, big], { types });
  expect(newNodes[0]?.pods).toEqual(['default/big', 'default/small-1']);
});

test('requests beyond every single type fail even if types together would do', () => {
  const types = [
    instanceType({ name: 'cpu', cpu: '32', memory: '2Gi' }),
    instanceType({ name: 'memory', cpu: '2', memory: '64Gi' }),
  ];
  const greedy = pod({ cpu: '16', memory: '32Gi' });
  expect(reasonsOf(plan([nodePool(), greedy], { types }), greedy)[0]).toMatchObject({
    code: 'InsufficientResources',
    message: expect.stringMatching(/^no instance type has enough resources, requirements=.*, resources=\{"cpu":"16"/),
  });
});

test('resources that only different types have lead to different nodes', () => {
  const types = [
    instanceType({ name: 'gpu-a', capacity: { 'a.com/gpu': '2' } }),
    instanceType({ name: 'gpu-b', capacity: { 'b.com/gpu': '2' } }),
  ];
  const a = pod({ requests: { 'a.com/gpu': '1' } });
  const b = pod({ requests: { 'b.com/gpu': '1' } });
  const result = plan([nodePool(), a, b], { types });
  expect(newNodeOf(result, a).instanceTypes).toEqual(['gpu-a']);
  expect(newNodeOf(result, b).instanceTypes).toEqual(['gpu-b']);
});

test('a request of a million cpus is taken for a typing error', () => {
  const greedy = pod({ cpu: '1M' });
  expect(reasonsOf(plan([nodePool(), greedy]), greedy)[0]?.message).toMatch(
    /\(CPU request >= 1 Million, m vs M typo\?\)$/,
  );
});

test('requests listed in the plan are what pods ask for', () => {
  const [planned] = plan([nodePool(), ...pods(3, { cpu: '300m', memory: '200Mi' })]).newNodes;
  expect(planned?.requests).toEqual({ cpu: '900m', memory: '600Mi', pods: '3' });
});

test.each([
  ['runtime overhead', { overhead: { cpu: '2' } }, '3'],
  [
    'an init container larger than the rest',
    { initContainers: [{ name: 'i', resources: { requests: { cpu: '6' } } }] },
    '6',
  ],
  [
    'a sidecar beside the containers',
    { initContainers: [{ name: 's', restartPolicy: 'Always', resources: { requests: { cpu: '2' } } }] },
    '3',
  ],
  [
    'an init container that starts after a sidecar',
    {
      initContainers: [
        { name: 's', restartPolicy: 'Always', resources: { requests: { cpu: '2' } } },
        { name: 'i', resources: { requests: { cpu: '6' } } },
      ],
    },
    '8',
  ],
  [
    'an init container that starts before a sidecar',
    {
      initContainers: [
        { name: 'i', resources: { requests: { cpu: '6' } } },
        { name: 's', restartPolicy: 'Always', resources: { requests: { cpu: '2' } } },
      ],
    },
    '6',
  ],
  ['pod-level resources', { resources: { requests: { cpu: '5' } } }, '5'],
  ['limits without requests', { containers: [{ name: 'm', resources: { limits: { cpu: '7' } } }] }, '7'],
])('%s count', (_, spec, cpu) => {
  const [planned] = plan([nodePool(), pod({ cpu: '1', spec })]).newNodes;
  expect(planned?.requests['cpu']).toBe(cpu);
});

test('a pod being resized needs the larger of what it wishes and what it holds', () => {
  const status = {
    containerStatuses: [{ name: 'main', resources: { requests: { cpu: '3' } }, allocatedResources: { cpu: '2' } }],
  };
  const [planned] = plan([nodePool(), pod({ cpu: '1', status })]).newNodes;
  expect(planned?.requests['cpu']).toBe('3');
});

test('zero requests are harmless, also for resources nobody has', () => {
  const zero = pod({ requests: { 'x.com/device': '0', cpu: '0' } });
  expectScheduled(plan([nodePool(), zero]), zero);
});

test('instance types are listed cheapest first under the final constraints', () => {
  const types = [
    instanceType({ name: 'dear', offerings: [offering('zone-1', 'spot', 9), offering('zone-2', 'on-demand', 1)] }),
    instanceType({ name: 'cheap', offerings: [offering('zone-1', 'spot', 3), offering('zone-2', 'on-demand', 4)] }),
    instanceType({
      name: 'unavailable',
      offerings: [offering('zone-1', 'spot', 0.1, { available: false }), offering('zone-1', 'on-demand', 5)],
    }),
  ];
  const open = pod();
  const [planned] = plan([nodePool(), open], { types }).newNodes;
  expect(planned?.instanceTypes).toEqual(['dear', 'cheap', 'unavailable']);
  expect(planned?.chosen).toEqual({ instanceType: 'dear', zone: 'zone-2', capacityType: 'on-demand', pricePerHour: 1 });
  const pinned = pod({ spec: { nodeSelector: { [label.zone]: 'zone-1' } } });
  expect(plan([nodePool(), pinned], { types }).newNodes[0]?.instanceTypes).toEqual(['cheap', 'unavailable', 'dear']);
});

test('the price of a plan is the sum of its nodes', () => {
  const types = [instanceType({ pods: '1', price: 0.1 })];
  expect(plan([nodePool(), ...pods(3)], { types }).pricePerHour).toBe(0.3);
});

test('at most maxInstanceTypes are listed, the cheapest', () => {
  const [planned] = plan([nodePool(), pod()], { settings: { maxInstanceTypes: 2 } }).newNodes;
  expect(planned?.instanceTypes).toEqual(['c2', 'c4']);
});

test('overhead and huge pages are not there for pods', () => {
  const types = [
    instanceType({
      memory: '10Gi',
      capacity: { 'hugepages-2Mi': '4Gi' },
      overhead: {
        kubeReserved: { memory: '1Gi' },
        systemReserved: { memory: '1Gi' },
        evictionThreshold: { memory: '1Gi' },
      },
    }),
  ];
  const fits = pod({ memory: '3Gi' });
  const large = pod({ memory: '3073Mi' });
  expectScheduled(plan([nodePool(), fits], { types }), fits);
  expectUnscheduled(plan([nodePool(), large], { types }), large);
});

test('an offering with more capacity than its type holds what the others cannot', () => {
  const types = [
    instanceType({
      cpu: '4',
      offerings: [
        offering('zone-1', 'on-demand', 1),
        offering('zone-2', 'on-demand', 2, { capacityOverride: { cpu: '4' } }),
      ],
    }),
  ];
  const large = pod({ cpu: '6' });
  const [planned] = plan([nodePool(), large], { types }).newNodes;
  expect(planned?.chosen).toMatchObject({ zone: 'zone-2', pricePerHour: 2 });
  const elsewhere = pod({ cpu: '6', spec: { nodeSelector: { [label.zone]: 'zone-1' } } });
  expectUnscheduled(plan([nodePool(), elsewhere], { types }), elsewhere);
});

test('overlay markers are carried when any listed type had one applied', () => {
  const types = [
    instanceType({ name: 'a', capacityOverlayApplied: true }),
    instanceType({ name: 'b', offerings: [offering('zone-1', 'spot', 1, { priceOverlayApplied: true })] }),
  ];
  expect(plan([nodePool(), pod()], { types }).newNodes[0]?.annotations).toEqual({
    [annotation.minValuesRelaxed]: 'false',
    [annotation.priceOverlayApplied]: 'true',
    [annotation.capacityOverlayApplied]: 'true',
  });
});

const flexible = (minValues: number) =>
  nodePool({ requirements: [requirement(label.instanceType, 'Exists', undefined, minValues)] });

test('minValues is met by distinct values over the types that are left', () => {
  const small = pod({ cpu: '1' });
  const large = pod({ cpu: '7' });
  expectScheduled(plan([flexible(4), small]), small);
  expect(reasonsOf(plan([flexible(3), large]), large)[0]).toMatchObject({
    code: 'MinValuesUnsatisfied',
    keys: [label.instanceType],
  });
});

test('of several minValues on one key the largest counts', () => {
  const pool = nodePool({
    requirements: [
      requirement(label.instanceType, 'Exists', undefined, 1),
      requirement(label.instanceType, 'NotIn', ['c16'], 4),
    ],
  });
  const waiting = pod();
  expect(reasonsOf(plan([pool, waiting]), waiting)[0]?.code).toBe('NoInstanceTypes');
});

test('a pool that cannot meet minValues at all leaves its pods without instance types', () => {
  const waiting = pod();
  const reasons = reasonsOf(plan([flexible(5), waiting]), waiting);
  expect(reasons.map((reason) => reason.code)).toEqual(['NoInstanceTypes', 'MinValuesUnsatisfied']);
});

test('a comparison with minValues counts concrete values of the types in range', () => {
  const types = ['2', '4', '6'].map((size) =>
    instanceType({ name: `t${size}`, requirements: [requirement('example.com/size', 'In', [size])] }),
  );
  const above = (bound: string, minValues: number) =>
    nodePool({ requirements: [requirement('example.com/size', 'Gt', [bound], minValues)] });
  const waiting = pod();
  expectScheduled(plan([above('2', 2), waiting], { types }), waiting);
  expectUnscheduled(plan([above('4', 2), waiting], { types }), waiting);
});

test('under BestEffort minValues is lowered to what is there, in the heavier pool first', () => {
  const heavy = nodePool({
    name: 'heavy',
    weight: 10,
    requirements: [requirement(label.instanceType, 'Exists', undefined, 3)],
  });
  const large = pod({ cpu: '7' });
  const settings = { minValuesPolicy: 'BestEffort' as const };
  const planned = newNodeOf(plan([heavy, nodePool(), large], { settings }), large);
  expect(planned.nodePool).toBe('heavy');
  expect(planned.annotations[annotation.minValuesRelaxed]).toBe('true');
  expect(planned.requirements).toContainEqual({ key: label.instanceType, operator: 'Exists', minValues: 2 });
});

test('minValues lost by cutting the list of types makes the pod fail', () => {
  const waiting = pod();
  const [reason] = reasonsOf(plan([flexible(3), waiting], { settings: { maxInstanceTypes: 2 } }), waiting);
  expect(reason).toMatchObject({ code: 'MinValuesUnsatisfied', keys: [label.instanceType] });
  expect(reason?.message).toContain('pod didn’t schedule because NodePool couldn’t meet minValues requirements');
});

test('limits already exceeded allow nothing, an exact fit is allowed', () => {
  const waiting = pod({ cpu: '1' });
  const types = [instanceType({ cpu: '4' })];
  expect(reasonsOf(plan([nodePool({ limits: { cpu: '3' } }), waiting], { types }), waiting)[0]).toMatchObject({
    code: 'LimitsExceeded',
    message: 'all available instance types exceed limits for nodepool (NodePool=default)',
  });
  expectScheduled(plan([nodePool({ limits: { cpu: '4' } }), waiting], { types }), waiting);
});

test('as many nodes as limits allow are planned, each charged with its largest candidate', () => {
  const types = [instanceType({ cpu: '4', pods: '1' })];
  expect(plan([nodePool({ limits: { cpu: '10' } }), ...pods(5)], { types }).newNodes).toHaveLength(2);
  expect(plan([nodePool({ limits: { cpu: '17' } }), ...pods(2, { cpu: '15' })]).newNodes).toHaveLength(1);
});

test('limits of named devices count', () => {
  const types = [instanceType({ capacity: { 'a.com/gpu': '2' }, pods: '1' })];
  const gpu = pods(3, { requests: { 'a.com/gpu': '1' } });
  expect(plan([nodePool({ limits: { 'a.com/gpu': '4' } }), ...gpu], { types }).newNodes).toHaveLength(2);
});

test('existing nodes of the pool use up its limits, also the number of nodes', () => {
  const busy = object('v1', 'Node', 'n', {
    metadata: { labels: { [label.nodePool]: 'default' } },
    spec: {},
    status: { capacity: { cpu: '4' }, allocatable: { cpu: '0', pods: '0' } },
  });
  const waiting = pod({ cpu: '1' });
  const types = [instanceType({ cpu: '4' })];
  expectUnscheduled(plan([nodePool({ limits: { cpu: '7' } }), busy, waiting], { types }), waiting);
  expectScheduled(plan([nodePool({ limits: { cpu: '8' } }), busy, waiting], { types }), waiting);
  expect(reasonsOf(plan([nodePool({ limits: { nodes: '1' } }), busy, waiting], { types }), waiting)[0]?.message).toBe(
    'node limits have been exhausted for nodepool (NodePool=default)',
  );
});

const hostPort = (port: number, more = {}) => ({
  containers: [{ name: 'm', ports: [{ containerPort: 80, hostPort: port, protocol: 'TCP', ...more }] }],
});

test('a host port is given once per node, address and protocol', () => {
  expect(plan([nodePool(), ...pods(2, { spec: hostPort(80) })]).newNodes).toHaveLength(2);
  const udp = pod({ spec: hostPort(80, { protocol: 'UDP' }) });
  expect(plan([nodePool(), pod({ spec: hostPort(80) }), udp]).newNodes).toHaveLength(1);
  const ips = ['10.0.0.1', '10.0.0.2'].map((hostIP) => pod({ spec: hostPort(80, { hostIP }) }));
  expect(plan([nodePool(), ...ips]).newNodes).toHaveLength(1);
  expect(plan([nodePool(), ...ips, pod({ spec: hostPort(80) })]).newNodes).toHaveLength(2);
});

const daemonSet = (spec: object, name = 'agent') =>
  object('apps/v1', 'DaemonSet', name, { metadata: { namespace: 'kube-system' }, spec: { template: { spec } } });
const asking = (cpu: string) => [{ name: 'd', resources: { requests: { cpu } } }];

test('what daemons take is counted and listed', () => {
  const types = [instanceType({ cpu: '4' })];
  const waiting = pod({ cpu: '3' });
  const result = plan([nodePool(), daemonSet({ containers: asking('1') }), waiting], { types });
  expect(newNodeOf(result, waiting).requests).toEqual({ cpu: '4', pods: '2' });
  expectUnscheduled(plan([nodePool(), daemonSet({ containers: asking('2') }), waiting], { types }), waiting);
});

test.each([
  ['a pool with startup taints', { startupTaints: [{ key: 's', effect: 'NoExecute' }] }, {}, true],
  ['a pool with a PreferNoSchedule taint', { taints: [{ key: 'p', effect: 'PreferNoSchedule' }] }, {}, true],
  ['a matching custom selector', { labels: { team: 'x' } }, { nodeSelector: { team: 'x' } }, true],
  ['a selector on an unknown label', {}, { nodeSelector: { team: 'x' } }, false],
  ['a taint it does not tolerate', { taints: [{ key: 't', effect: 'NoSchedule' }] }, {}, false],
  [
    'NotIn on an unknown key',
    {},
    {
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [requirement('a', 'NotIn', ['b'])] }],
          },
        },
      },
    },
    true,
  ],
  [
    'any matching alternative',
    {},
    {
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              { matchExpressions: [requirement(label.zone, 'In', ['nowhere'])] },
              { matchExpressions: [requirement(label.zone, 'In', ['zone-1'])] },
            ],
          },
        },
      },
    },
    true,
  ],
  [
    'a preference that cannot be met',
    {},
    {
      affinity: {
        nodeAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 1, preference: { matchExpressions: [requirement('a', 'In', ['b'])] } },
          ],
        },
      },
    },
    true,
  ],
  ['no instance type it could run on', {}, { nodeSelector: { [label.arch]: 'riscv' } }, false],
  ['waiting for an initialised node', {}, { nodeSelector: { [label.initialized]: 'true' } }, true],
])('a daemon with %s counts: %o', (_, pool, spec, counts) => {
  const waiting = pod({ cpu: '1', spec: { tolerations: [{ operator: 'Exists' }] } });
  const result = plan([nodePool(pool), daemonSet({ containers: asking('1'), ...spec }), waiting]);
  expect(newNodeOf(result, waiting).requests['cpu']).toBe(counts ? '2' : '1');
});

test('a daemon that runs on some types only is charged there, and listed only where it is certain', () => {
  const types = [
    instanceType({ name: 'amd', arch: 'amd64', cpu: '4' }),
    instanceType({ name: 'arm', arch: 'arm64', cpu: '4' }),
  ];
  const daemon = daemonSet({ containers: asking('2'), nodeSelector: { [label.arch]: 'arm64' } });
  const small = pod({ cpu: '1' });
  const large = pod({ cpu: '3' });
  expect(newNodeOf(plan([nodePool(), daemon, small], { types }), small).requests['cpu']).toBe('1');
  expect(newNodeOf(plan([nodePool(), daemon, large], { types }), large).instanceTypes).toEqual(['amd']);
});

test('the requests of a running daemon pod replace those of its template', () => {
  const running = pod({
    namespace: 'kube-system',
    cpu: '3',
    node: 'gone',
    owner: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', controller: true },
  });
  const waiting = pod({ cpu: '1' });
  const result = plan([nodePool(), daemonSet({ containers: asking('1') }), running, waiting]);
  expect(newNodeOf(result, waiting).requests['cpu']).toBe('4');
});

test('host ports of a daemon keep pods only off types on which it runs', () => {
  const types = [
    instanceType({ name: 'amd', arch: 'amd64', price: 1 }),
    instanceType({ name: 'arm', arch: 'arm64', price: 2 }),
  ];
  const daemon = daemonSet({ ...hostPort(80), nodeSelector: { [label.arch]: 'amd64' } });
  const waiting = pod({ spec: hostPort(80) });
  expect(newNodeOf(plan([nodePool(), daemon, waiting], { types }), waiting).instanceTypes).toEqual(['arm']);
  const everywhere = plan([nodePool(), daemonSet(hostPort(80)), waiting], { types });
  expect(reasonsOf(everywhere, waiting)[0]?.code).toBe('HostPortConflict');
});

test('pods with resource claims are not supported while DRA is ignored, and their daemons take nothing', () => {
  const claims = { resourceClaims: [{ name: 'gpu' }] };
  const device = pod({ spec: claims });
  const waiting = pod({ cpu: '1' });
  const result = plan([nodePool(), daemonSet({ ...claims, containers: asking('1') }), device, waiting]);
  expect(reasonsOf(result, device)).toMatchObject([{ code: 'DynamicResourcesUnsupported' }]);
  expect(newNodeOf(result, waiting).requests['cpu']).toBe('1');
});

test('the plan does not depend on the order of objects', () => {
  const objects = [
    nodePool(),
    ...pods(7, { cpu: '700m' }),
    ...pods(5, { cpu: '1', labels: { app: 'x' } }),
    nodePool({ name: 'z' }),
  ];
  expect(JSON.stringify(plan([...objects].reverse()))).toBe(JSON.stringify(plan(objects)));
});

test('one hopeless pod does not keep the others waiting', () => {
  const hopeless = pods(3, { cpu: '9999' });
  const fine = pods(3, { cpu: '1' });
  const result = plan([nodePool(), ...hopeless, ...fine]);
  expectUnscheduled(result, ...hopeless);
  expectScheduled(result, ...fine);
  expect(result.pods).toBe(6);
});

test('cheaper types of the catalogue are kept while pods are added', () => {
  const [planned] = plan([nodePool(), ...pods(2, { cpu: '3' })]).newNodes;
  expect(planned?.instanceTypes).toEqual(['c8', 'c16']);
  expect(sizes.map((type) => type.name)).toEqual(['c2', 'c4', 'c8', 'c16']);
});
