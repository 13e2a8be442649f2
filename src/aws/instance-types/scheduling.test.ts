// What the planner makes of the provider's types. Figures are the built-in ones; a few types whose figures
// do not ship are described here.
import { describe, expect, test } from 'vitest';
import { awsLabel, label } from '../../api/index.ts';
import { driftCommand } from '../../core/disruption/drift.ts';
import { finish, machine, pool, roundOf, running } from '../../core/disruption/fleet.testing.ts';
import type { Plan } from '../../core/index.ts';
import {
  expectScheduled,
  expectUnscheduled,
  newNodeOf,
  nodePool,
  type PodParts,
  plan,
  pod,
} from '../../core/testing/builders.testing.ts';
import type { InstanceTypeInfo } from './instance-type-info.ts';
import { contextOf, family, infoOf, infos, prices, zoneLetters } from './instance-types.testing.ts';
import { instanceTypesFor } from './instance-types.ts';
import type { NodeClassShape } from './node-class.ts';
import { awsProviderFacts } from './provider-facts.ts';

const facts = { ...awsProviderFacts, nodeClasses: ['TestNodeClass.karpenter.test.sh'] };

/** As EC2 describes the first Gaudi machine. */
const gaudi: InstanceTypeInfo = {
  ...infoOf('p4d.24xlarge'),
  InstanceType: 'dl1.24xlarge',
  GpuInfo: { Gpus: [{ Name: 'Gaudi HL-205', Manufacturer: 'Habana', Count: 8, MemoryInfo: { SizeInMiB: 32768 } }] },
};
const radeon: InstanceTypeInfo = {
  ...infoOf('g5.12xlarge'),
  InstanceType: 'g4ad.16xlarge',
  GpuInfo: { Gpus: [{ Name: 'Radeon Pro V520', Manufacturer: 'AMD', Count: 4, MemoryInfo: { SizeInMiB: 8192 } }] },
};

const common = [
  'm5.large',
  'm5.xlarge',
  't3.large',
  't4g.small',
  'g4dn.8xlarge',
  'g5.12xlarge',
  'inf2.xlarge',
  'inf2.24xlarge',
  'trn1.2xlarge',
  'm6idn.32xlarge',
  'c7i-flex.large',
];

function planFor(pods: PodParts[], nodeClass: NodeClassShape = family('AL2023'), extra: InstanceTypeInfo[] = []) {
  const context = contextOf(nodeClass);
  const known = [...common.map(infoOf), ...extra];
  const types = instanceTypesFor(known, {
    ...context,
    zonesOfType: {
      ...context.zonesOfType,
      ...Object.fromEntries(extra.map((info) => [info.InstanceType, context.zones])),
    },
    prices: { onDemand: (name) => prices[name] ?? 10, spot: (name) => (prices[name] ?? 10) * 0.7 },
  });
  const waiting = pods.map((parts) => pod(parts));
  return { result: plan([nodePool(), ...waiting], { types, provider: facts }), waiting };
}

const selecting = (nodeSelector: Record<string, string>): PodParts => ({ cpu: '100m', spec: { nodeSelector } });
const needing = (resource: string, count: number, nodeSelector?: Record<string, string>): PodParts => ({
  requests: { [resource]: String(count), cpu: '100m' },
  ...(nodeSelector === undefined ? {} : { spec: { nodeSelector } }),
});
/** Types of the node planned for the first pod. */
const typesOf = ({ result, waiting: [first] }: ReturnType<typeof planFor>): readonly string[] =>
  first === undefined ? [] : newNodeOf(result, first).instanceTypes;
const nodesOf = (result: Plan): number[] => result.newNodes.map(({ pods }) => pods.length).sort();

describe('a pod that selects labels', () => {
  const gpuLabels = {
    [label.instanceType]: 'g4dn.8xlarge',
    [label.zone]: 'us-east-1a',
    [label.region]: 'us-east-1',
    [label.arch]: 'amd64',
    [label.os]: 'linux',
    [label.capacityType]: 'on-demand',
    [awsLabel.instanceCategory]: 'g',
    [awsLabel.instanceGeneration]: '4',
    [awsLabel.instanceFamily]: 'g4dn',
    [awsLabel.instanceSize]: '8xlarge',
    [awsLabel.instanceCapabilityFlex]: 'false',
    [awsLabel.instanceCpu]: '32',
    [awsLabel.instanceCpuManufacturer]: 'intel',
    [awsLabel.instanceCpuSustainedClockSpeedMhz]: '2500',
    [awsLabel.instanceMemory]: '131072',
    [awsLabel.instanceEbsBandwidth]: '9500',
    [awsLabel.instanceNetworkBandwidth]: '50000',
    [awsLabel.instanceGpuName]: 't4',
    [awsLabel.instanceGpuManufacturer]: 'nvidia',
    [awsLabel.instanceGpuCount]: '1',
    [awsLabel.instanceGpuMemory]: '16384',
    [awsLabel.instanceLocalNvme]: '900',
    [awsLabel.instanceHypervisor]: 'nitro',
    [awsLabel.instanceEncryptionInTransitSupported]: 'true',
    [awsLabel.instanceTenancy]: 'default',
  };
  const acceleratorLabels = {
    [label.instanceType]: 'inf2.xlarge',
    [awsLabel.instanceAcceleratorName]: 'inferentia2',
    [awsLabel.instanceAcceleratorManufacturer]: 'aws',
    [awsLabel.instanceAcceleratorCount]: '1',
    [awsLabel.instanceEbsBandwidth]: '10000',
    [awsLabel.instanceNetworkBandwidth]: '2083',
    [awsLabel.instanceCpuSustainedClockSpeedMhz]: '3600',
    [awsLabel.instanceCpuManufacturer]: 'amd',
  };
  const older = {
    'beta.kubernetes.io/arch': 'amd64',
    'beta.kubernetes.io/os': 'linux',
    'beta.kubernetes.io/instance-type': 'm5.large',
    'failure-domain.beta.kubernetes.io/zone': 'us-east-1a',
    'failure-domain.beta.kubernetes.io/region': 'us-east-1',
    'topology.ebs.csi.aws.com/zone': 'us-east-1a',
  };

  test.each(Object.entries({ ...gpuLabels, ...acceleratorLabels, ...older }))(
    'schedules by %s=%s alone',
    (key, value) => {
      const { result, waiting } = planFor([selecting({ [key]: value })]);
      expectScheduled(result, ...waiting);
    },
  );

  test('schedules by all labels of a GPU machine together, and of a Neuron machine', () => {
    for (const labels of [gpuLabels, acceleratorLabels]) {
      const { result, waiting } = planFor([selecting(labels)]);
      expectScheduled(result, ...waiting);
      expect(typesOf({ result, waiting })).toEqual([labels[label.instanceType]]);
    }
  });
});

test('a branch interface is never had on t3.large, elsewhere on a type that has them', () => {
  const eni = 'vpc.amazonaws.com/pod-eni';
  const small = planFor([needing(eni, 1, { [label.instanceType]: 't3.large' })]);
  expectUnscheduled(small.result, ...small.waiting);
  const any = planFor([needing(eni, 1)]);
  expectScheduled(any.result, ...any.waiting);
  const types = typesOf(any);
  expect(types).not.toContain('t3.large');
});

test('flex is what its name says, and a pool can refuse it', () => {
  const flex = planFor([selecting({ [awsLabel.instanceCapabilityFlex]: 'true' })]);
  expect(typesOf(flex)).toEqual(['c7i-flex.large']);
  const rigid = planFor([selecting({ [awsLabel.instanceCapabilityFlex]: 'false' })]);
  const types = typesOf(rigid);
  expect(types.some((name) => name.includes('flex'))).toBe(false);
  const wanting = pod(selecting({ [awsLabel.instanceCapabilityFlex]: 'true' }));
  const refusing = nodePool({
    requirements: [{ key: awsLabel.instanceCapabilityFlex, operator: 'NotIn', values: ['true'] }],
  });
  const all = instanceTypesFor(common.map(infoOf), contextOf(family('AL2023')));
  expectUnscheduled(plan([refusing, wanting], { types: all, provider: facts }), wanting);
});

test('addresses for Windows pods come from the table; a type missing there never has any', () => {
  const address = 'vpc.amazonaws.com/PrivateIPv4Address';
  const windows = family('Windows2022');
  const known = planFor([needing(address, 1, { [label.os]: 'windows', [label.instanceType]: 'm5.large' })], windows);
  expectScheduled(known.result, ...known.waiting);
  const unlisted = { ...infoOf('m5.large'), InstanceType: 'm99.large' };
  const other = planFor([needing(address, 1, { [label.instanceType]: 'm99.large' })], windows, [unlisted]);
  expectUnscheduled(other.result, ...other.waiting);
});

describe('devices are shared out', () => {
  test.each<[string, string, number[], number[], InstanceTypeInfo[]]>([
    ['nvidia.com/gpu', 'g5.12xlarge', [1, 2], [2], []],
    ['nvidia.com/gpu', 'g5.12xlarge', [1, 2, 4], [1, 2], []],
    ['habana.ai/gaudi', 'dl1.24xlarge', [1, 2, 4], [3], [gaudi]],
    ['aws.amazon.com/neuron', 'inf2.24xlarge', [2, 2], [2], []],
    ['aws.amazon.com/neuron', 'inf2.24xlarge', [2, 2, 4], [1, 2], []],
    ['amd.com/gpu', 'g4ad.16xlarge', [1, 2], [2], [radeon]],
    ['amd.com/gpu', 'g4ad.16xlarge', [1, 2, 4], [1, 2], [radeon]],
    ['vpc.amazonaws.com/efa', 'dl1.24xlarge', [1, 2], [2], [gaudi]],
  ])('%s on %s: %j become nodes of %j pods', (resource, type, counts, nodes, extra) => {
    const selector = { [label.instanceType]: type };
    const { result, waiting } = planFor(
      counts.map((count) => needing(resource, count, selector)),
      family('AL2023'),
      extra,
    );
    expectScheduled(result, ...waiting);
    expect(nodesOf(result)).toEqual(nodes);
  });

  test('trn1.2xlarge serves one Neuron device, inf2.xlarge two of its cores', () => {
    const device = planFor([needing('aws.amazon.com/neuron', 1, { [label.instanceType]: 'trn1.2xlarge' })]);
    expectScheduled(device.result, ...device.waiting);
    const cores = planFor([needing('aws.amazon.com/neuroncore', 2, { [label.instanceType]: 'inf2.xlarge' })]);
    expectScheduled(cores.result, ...cores.waiting);
    const more = planFor([needing('aws.amazon.com/neuroncore', 3, { [label.instanceType]: 'inf2.xlarge' })]);
    expectUnscheduled(more.result, ...more.waiting);
  });
});

test('five terabytes of storage are had only where local disks are joined', () => {
  const large: PodParts = { requests: { 'ephemeral-storage': '5000Gi' } };
  const plain = planFor([large]);
  expectUnscheduled(plain.result, ...plain.waiting);
  const joined = planFor([large], family('AL2023', { instanceStorePolicy: 'RAID0' }));
  expectScheduled(joined.result, ...joined.waiting);
  expect(typesOf(joined)).toEqual(['m6idn.32xlarge']);
});

test('a type keeps its offerings with interfaces it can carry, and loses all with more', () => {
  const primary = { networkCardIndex: 0, deviceIndex: 0, interfaceType: 'interface' };
  const efa = (count: number) =>
    Array.from({ length: count }, (_, card) => ({ networkCardIndex: card, deviceIndex: 1, interfaceType: 'efa-only' }));
  const available = (count: number): number => {
    const context = contextOf(family('AL2023', { networkInterfaces: [primary, ...efa(count)] }));
    const [spec] = instanceTypesFor([infoOf('p4d.24xlarge')], context);
    return spec?.offerings.filter((each) => each.available).length ?? 0;
  };
  expect(available(1)).toBeGreaterThan(0);
  expect(available(5)).toBe(0);
});

test('the figures used here are real', () => {
  expect(common.filter((name) => !(name in zoneLetters))).toEqual([]);
  expect(infos.length).toBeGreaterThan(1300);
});

test('a drifted node in a full reservation goes first, behind the gate: its pods fit only the slot it frees', () => {
  const id = 'cr-1';
  const reservation = { id, instanceType: 'm5.large', zone: 'us-east-1a', type: 'default', interruptible: false };
  const types = instanceTypesFor([infoOf('m5.large')], {
    ...contextOf(family('AL2023')),
    reservations: [{ ...reservation, state: 'active', available: 0 }],
  });
  const objects = [
    pool(),
    ...machine('a', {
      type: 'm5.large',
      cpu: '2',
      zone: 'us-east-1a',
      capacityType: 'reserved',
      labels: { [awsLabel.capacityReservationId]: id },
      conditions: { Drifted: 'True' },
    }),
    running('a', { cpu: '1', spec: { nodeSelector: { [label.capacityType]: 'reserved' } } }),
  ];
  const commandOf = (TerminateFirstDrift: boolean) =>
    finish(
      driftCommand(roundOf(objects, { types, provider: facts, settings: { featureGates: { TerminateFirstDrift } } })),
    ).command;
  expect(commandOf(true)).toMatchObject({ terminateFirst: 'no-reserved-capacity', replacements: [] });
  expect(commandOf(false)).toBeUndefined();
});
