import { expect, test } from 'vitest';
import { annotation, label } from '../api/names.ts';
import {
  expectScheduled,
  expectUnscheduled,
  instanceType,
  newNodeOf,
  nodeClaim,
  nodePool,
  offering,
  plan,
  pod,
  pods,
  reasonsOf,
} from './testing/builders.testing.ts';

test('small pods share one node, and more only where that is cheaper', () => {
  const objects = [nodePool(), ...pods(10, { cpu: '500m' })];
  expect(plan(objects, {}, { improve: false }).newNodes).toHaveLength(1);
  expect(plan(objects, { types: [instanceType({ cpu: '8' })] }).newNodes).toHaveLength(1);
  expect(
    plan(objects)
      .newNodes.map((node) => node.chosen.instanceType)
      .sort(),
  ).toEqual(['c2', 'c4']);
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

test('zero requests are harmless, for unknown resources included, and are listed like the others', () => {
  const zero = pod({ requests: { 'x.com/device': '0', cpu: '0' } });
  const some = pod({ cpu: '1', memory: '0' });
  const [planned] = plan([nodePool(), zero, some]).newNodes;
  expect(planned?.pods).toHaveLength(2);
  expect(planned?.requests).toEqual({ cpu: '1', memory: '0', pods: '2', 'x.com/device': '0' });
});

test('parts of a byte or of a thousandth of a cpu count as a whole one, as kube-scheduler has it', () => {
  const types = [instanceType({ cpu: '2', memory: '3' })];
  const fine = pods(2, { cpu: '900500u', memory: '1500m' });
  const result = plan([nodePool(), ...fine], { types });
  expect(result.newNodes.map(({ requests }) => requests)).toEqual([
    { cpu: '901m', memory: '2', pods: '1' },
    { cpu: '901m', memory: '2', pods: '1' },
  ]);
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

test('on demand that is cheaper than the spot of other types comes first', () => {
  const types = [
    instanceType({ name: 'spot', capacityTypes: ['spot'], price: 2 }),
    instanceType({ name: 'demand', capacityTypes: ['on-demand'], price: 1 }),
    instanceType({
      name: 'unsuitable',
      arch: 'arm64',
      offerings: [offering('zone-1', 'spot', 0.1), offering('zone-2', 'on-demand', 3)],
    }),
  ];
  const waiting = pod({ spec: { nodeSelector: { [label.zone]: 'zone-2' } } });
  const planned = newNodeOf(plan([nodePool(), waiting], { types }), waiting);
  expect(planned.instanceTypes).toEqual(['demand', 'spot', 'unsuitable']);
  expect(planned.chosen).toMatchObject({ instanceType: 'demand', capacityType: 'on-demand', pricePerHour: 1 });
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
        offering('zone-2', 'on-demand', 2, { capacityOverride: { cpu: '8' } }),
      ],
    }),
  ];
  const large = pod({ cpu: '6' });
  const [planned] = plan([nodePool(), large], { types }).newNodes;
  expect(planned?.chosen).toMatchObject({ zone: 'zone-2', pricePerHour: 2 });
  const elsewhere = pod({ cpu: '6', spec: { nodeSelector: { [label.zone]: 'zone-1' } } });
  expectUnscheduled(plan([nodePool(), elsewhere], { types }), elsewhere);
});

test('an override replaces what it names: capacity as it is, and the whole overhead of a resource', () => {
  const types = [
    instanceType({
      cpu: '4',
      overhead: { kubeReserved: { cpu: '1' }, systemReserved: { cpu: '1', memory: '1Gi' } },
      offerings: [
        offering('zone-1', 'on-demand', 1, { capacityOverride: { cpu: '6' } }),
        offering('zone-2', 'on-demand', 1, { overheadOverride: { kubeReserved: { cpu: '500m' } } }),
      ],
    }),
  ];
  const fits = (zone: string, cpu: string): boolean => {
    const asked = pod({ cpu, spec: { nodeSelector: { [label.zone]: zone } } });
    return plan([nodePool(), asked], { types }).newNodes.length === 1;
  };
  expect([fits('zone-1', '4'), fits('zone-1', '4001m')]).toEqual([true, false]);
  expect([fits('zone-2', '3500m'), fits('zone-2', '3501m')]).toEqual([true, false]);
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

test('a pod that was planned but not bound is planned again, onto the claim made for it', () => {
  const waiting = pods(2, { cpu: '1' });
  const again = plan([nodePool(), nodeClaim('default-1'), ...waiting]);
  expect(again.newNodes).toEqual([]);
  expect(again.existingNodes).toMatchObject([{ name: 'default-1', pods: { length: 2 } }]);
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

test('the choice of types narrows as pods are added, and the cheapest that is left is chosen', () => {
  expect(plan([nodePool(), pod({ cpu: '3' })]).newNodes[0]?.instanceTypes).toEqual(['c4', 'c8', 'c16']);
  const [planned] = plan([nodePool(), ...pods(2, { cpu: '3' })]).newNodes;
  expect(planned?.instanceTypes).toEqual(['c8', 'c16']);
  expect(planned?.chosen.instanceType).toBe('c8');
});

test('a plan says what its nodes cost with fees beside their price, where someone set them', () => {
  const types = [instanceType({ pods: '1', price: 0.1 })];
  expect(plan([nodePool(), ...pods(3)], { types }).costPerHour).toBeUndefined();
  const settings = { nodeCostPerHour: 0.25 };
  const { pricePerHour, costPerHour, newNodes } = plan([nodePool(), ...pods(3)], { types, settings });
  expect(costPerHour).toBeCloseTo(pricePerHour + 0.25 * newNodes.length, 9);
  const fee = { metadata: { annotations: { 'kerf.sh/node-cost-per-hour': '1' } } };
  const own = plan([nodePool(fee), ...pods(3)], { types });
  expect(own.costPerHour).toBeCloseTo(own.pricePerHour + own.newNodes.length, 9);
});
