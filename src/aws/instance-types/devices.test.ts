// Devices of types no one has launched yet: what is declared, and what plans make of it with real selectors.
import { describe, expect, test } from 'vitest';
import { annotation, compileDeviceSelector } from '../../api/index.ts';
import { claim, deviceClass, type Fields, request, user } from '../../core/devices/devices.testing.ts';
import type { InstanceTypeSpec, SnapshotObject } from '../../core/index.ts';
import { nodePool, plan } from '../../core/testing/builders.testing.ts';
import { readGpuSharing } from './devices.ts';
import { contextOf, family, infoOf, infos, type } from './instance-types.testing.ts';
import { instanceTypesFor } from './instance-types.ts';
import type { NodeClassShape } from './node-class.ts';
import { awsProviderFacts } from './provider-facts.ts';

const facts = { ...awsProviderFacts, nodeClasses: ['TestNodeClass.karpenter.test.sh'] };
const both = { nvidia: true, efa: true };
const classes = [
  deviceClass('gpu.nvidia.com', [
    "device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == 'gpu'",
  ]),
  deviceClass('efa.networking.k8s.aws', [
    "device.driver == 'dra.net' && device.attributes['dra.net'].pciDevice == 'Elastic Fabric Adapter (EFA)'",
  ]),
];
const gpu = (exactly: Fields = {}, name = 'gpu'): Fields =>
  request({ deviceClassName: 'gpu.nvidia.com', ...exactly }, name);
const efa = (exactly: Fields = {}): Fields => request({ deviceClassName: 'efa.networking.k8s.aws', ...exactly }, 'efa');
const selecting = (expression: string): Fields => ({ selectors: [{ cel: { expression } }] });

const sharing = (text: string): NodeClassShape => ({
  ...family('AL2023'),
  metadata: { annotations: { [annotation.nvidiaConsumableCapacity]: text } },
});
const typesOf = (names: string[], nodeClass = family('AL2023'), devices = both): InstanceTypeSpec[] =>
  instanceTypesFor(names.map(infoOf), { ...contextOf(nodeClass), devices });

function planned(objects: SnapshotObject[], types: InstanceTypeSpec[]) {
  return plan(
    [nodePool(), ...classes, ...objects],
    { types, provider: facts, settings: { ignoreDRARequests: false } },
    { compileDeviceSelector },
  );
}

const all = typesOf([
  'm5.large',
  'g4dn.xlarge',
  'g5.xlarge',
  'g6e.xlarge',
  'p4d.24xlarge',
  'p5.48xlarge',
  'p5en.48xlarge',
]);
/** Types of the one new node for a pod with this claim. */
const fitting = (requests: Fields[], more: Fields = {}, types = all): string[] =>
  planned([claim('c', requests, more), user('pod', 'c')], types).newNodes.flatMap(({ instanceTypes }) => instanceTypes);

describe('a pod that asks for a GPU by what it is', () => {
  test('gets a type that has one, though none was ever launched', () => {
    expect(fitting([gpu()])).not.toContain('m5.large');
    expect(fitting([gpu()])).toHaveLength(6);
  });

  test('by compute capability and memory', () => {
    const capability = 'device.attributes["gpu.nvidia.com"].cudaComputeCapability.compareTo(semver("9.0.0")) >= 0';
    const memory = 'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("100Gi")) >= 0';
    expect(fitting([gpu(selecting(`${capability} && ${memory}`))])).toEqual(['p5en.48xlarge']);
  });

  test('by product, architecture and number', () => {
    const product = selecting('device.attributes["gpu.nvidia.com"].productName == "NVIDIA H100 80GB HBM3"');
    expect(fitting([gpu(product)])).toEqual(['p5.48xlarge']);
    const ampere = selecting('device.attributes["gpu.nvidia.com"].architecture == "Ampere"');
    expect(fitting([gpu({ ...ampere, count: 2 })])).toEqual(['p4d.24xlarge']);
    expect(fitting([gpu({ count: 9 })])).toEqual([]);
  });

  test('by what only a running driver knows finds none', () => {
    expect(fitting([gpu(selecting('device.attributes["gpu.nvidia.com"].uuid != ""'))])).toEqual([]);
  });
});

test('more memory is never promised than EC2 says a GPU has', () => {
  for (const info of infos.filter(({ GpuInfo }) => GpuInfo !== undefined)) {
    const [slice] =
      type(info.InstanceType, undefined, { devices: both }).dynamicResources?.resourceSliceTemplates ?? [];
    const memory = slice?.driver === 'gpu.nvidia.com' ? slice.devices?.[0]?.capacity?.['memory']?.value : '0Mi';
    expect(Number(String(memory).replace('Mi', '')), info.InstanceType).toBeLessThanOrEqual(
      info.GpuInfo?.Gpus?.[0]?.MemoryInfo?.SizeInMiB ?? 0,
    );
  }
});

test.each([
  ['g4dn.12xlarge', 4, 1],
  ['g5.xlarge', 1, 0],
  ['g6f.2xlarge', 1, 0],
  ['g6e.48xlarge', 8, 4],
  ['p4d.24xlarge', 8, 4],
  ['p5.48xlarge', 8, 32],
  ['p6-b300.48xlarge', 8, 16],
  ['m5.large', 0, 0],
])('%s has %i GPUs and %i EFA interfaces', (name, gpus, interfaces) => {
  const count = (driver: string) =>
    type(name, undefined, { devices: both })
      .dynamicResources?.resourceSliceTemplates?.filter((slice) => slice.driver === driver)
      .flatMap(({ devices = [] }) => devices).length ?? 0;
  expect([count('gpu.nvidia.com'), count('dra.net')]).toEqual([gpus, interfaces]);
});

describe('a GPU and an EFA interface of one PCIe root', () => {
  const aligned = { constraints: [{ requests: ['gpu', 'efa'], matchAttribute: 'resource.kubernetes.io/pcieRoot' }] };

  test('are found only where the layout is known', () => {
    const types = typesOf(['g4dn.12xlarge', 'p5.4xlarge', 'p5.48xlarge', 'p5en.48xlarge']);
    expect(fitting([gpu(), efa()], {}, types)).toHaveLength(4);
    expect(fitting([gpu(), efa()], aligned, types).toSorted()).toEqual(['p5.48xlarge', 'p5en.48xlarge']);
    // One GPU has four interfaces beside it on the one, two on the other.
    expect(fitting([gpu(), efa({ count: 3 })], aligned, types)).toEqual(['p5.48xlarge']);
  });

  test('and the NodeClaim says that interfaces are to be attached', () => {
    const types = typesOf(['p5.48xlarge']);
    const [node] = planned([claim('c', [gpu(), efa()]), user('pod', 'c')], types).newNodes;
    expect(node?.annotations).toMatchObject({ [annotation.requestedDraDrivers]: 'dra.net,gpu.nvidia.com' });
  });
});

describe('GPUs that several claims share', () => {
  const nodesFor = (pods: number, nodeClass: NodeClassShape): number => {
    const names = Array.from({ length: pods }, (_, index) => `p${index}`);
    const objects = names.flatMap((name) => [claim(`c-${name}`, [gpu()]), user(name, `c-${name}`)]);
    return planned(objects, typesOf(['g5.4xlarge'], nodeClass)).newNodes.length;
  };

  test('as the class says', () => {
    expect(nodesFor(8, sharing('disabled'))).toBe(8);
    expect(nodesFor(8, sharing('4'))).toBe(2);
    expect(nodesFor(8, sharing('unlimited'))).toBe(1);
    expect(nodesFor(2, sharing('memory'))).toBe(2);
  });

  test('by memory each takes what it asks for', () => {
    const some = gpu({ capacity: { requests: { memory: '10Gi' } } });
    const objects = ['a', 'b'].flatMap((name) => [claim(`c-${name}`, [some]), user(name, `c-${name}`)]);
    expect(planned(objects, typesOf(['g5.4xlarge'], sharing('memory'))).newNodes).toHaveLength(1);
  });

  test.each([undefined, '', '0', '-1', '1.5', 'all'])('%s means not shared', (text) => {
    expect(readGpuSharing(text)).toBe('disabled');
  });
});

test('without its gate a driver has no devices', () => {
  expect(type('p5.48xlarge').dynamicResources).toBeUndefined();
  const [spec] = typesOf(['p5.48xlarge'], family('AL2023'), { nvidia: false, efa: true });
  expect(spec?.dynamicResources?.resourceSliceTemplates?.map(({ driver }) => driver)).toEqual(['dra.net']);
});
