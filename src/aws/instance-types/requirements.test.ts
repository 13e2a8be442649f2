import { describe, expect, test } from 'vitest';
import { awsLabel, label } from '../../api/names.ts';
import { builtInCatalogue } from './built-in.ts';
import type { InstanceTypeInfo } from './instance-type-info.ts';
import { contextOf, family, infoOf, infos, type, valueOf } from './instance-types.testing.ts';
import { instanceTypesFor } from './instance-types.ts';
import type { NodeClassShape } from './node-class.ts';
import { awsProviderFacts } from './provider-facts.ts';

const all = (await builtInCatalogue()).instanceTypes();

test('every key the provider registers is defined on every type, but the class itself', () => {
  const keys = awsProviderFacts.wellKnownLabels.filter((key) => key !== awsLabel.nodeClass);
  const common = [label.instanceType, label.arch, label.os, label.region, label.zone, label.capacityType];
  const wrong = all.filter((spec) => {
    const defined = new Set(spec.requirements.map(({ key }) => key));
    return defined.size !== spec.requirements.length || ![...keys, ...common].every((key) => defined.has(key));
  });
  expect(wrong.map(({ name }) => name)).toEqual([]);
});

test.each([
  ['c6gn.xlarge', 'c', '6', 'c6gn', 'xlarge'],
  ['hpc7g.16xlarge', 'hpc', '7', 'hpc7g', '16xlarge'],
  ['u-6tb1.56xlarge', 'u', '1', 'u-6tb1', '56xlarge'],
  ['u7i-12tb.224xlarge', 'u', '7', 'u7i-12tb', '224xlarge'],
  ['p6-b200.48xlarge', 'p', '6', 'p6-b200', '48xlarge'],
  ['inf2.xlarge', 'inf', '2', 'inf2', 'xlarge'],
  ['c7i-flex.large', 'c', '7', 'c7i-flex', 'large'],
])('%s is category %s, generation %s, family %s, size %s', (name, category, generation, familyName, size) => {
  const context = { ...contextOf(family('AL2023')), zonesOfType: {} };
  const info = infos.find((one) => one.InstanceType === name) ?? { ...infoOf('m5.xlarge'), InstanceType: name };
  const [spec] = instanceTypesFor([info], context);
  expect(spec && valueOf(spec, awsLabel.instanceCategory)).toBe(category);
  expect(spec && valueOf(spec, awsLabel.instanceGeneration)).toBe(generation);
  expect(spec && valueOf(spec, awsLabel.instanceFamily)).toBe(familyName);
  expect(spec && valueOf(spec, awsLabel.instanceSize)).toBe(size);
});

test('all labels of a GPU machine and of a Neuron machine are those EC2 implies', () => {
  const gpu = type('g4dn.8xlarge');
  const gpuLabels = Object.fromEntries(gpu.requirements.map(({ key }) => [key, valueOf(gpu, key)]));
  expect(gpuLabels).toMatchObject({
    [awsLabel.instanceCpu]: '32',
    [awsLabel.instanceCpuManufacturer]: 'intel',
    [awsLabel.instanceMemory]: '131072',
    [awsLabel.instanceCpuSustainedClockSpeedMhz]: '2500',
    [awsLabel.instanceEbsBandwidth]: '9500',
    [awsLabel.instanceNetworkBandwidth]: '50000',
    [awsLabel.instanceGpuName]: 't4',
    [awsLabel.instanceGpuManufacturer]: 'nvidia',
    [awsLabel.instanceGpuCount]: '1',
    [awsLabel.instanceGpuMemory]: '16384',
    [awsLabel.instanceLocalNvme]: '900',
    [awsLabel.instanceHypervisor]: 'nitro',
    [awsLabel.instanceAcceleratorCount]: undefined,
    [label.arch]: 'amd64',
    [label.os]: 'linux',
    [label.capacityType]: ['on-demand', 'spot'],
    [label.region]: 'us-east-1',
  });
  const neuron = type('inf2.xlarge');
  expect(valueOf(neuron, awsLabel.instanceAcceleratorName)).toBe('inferentia2');
  expect(valueOf(neuron, awsLabel.instanceAcceleratorManufacturer)).toBe('aws');
  expect(valueOf(neuron, awsLabel.instanceAcceleratorCount)).toBe('1');
  expect(valueOf(neuron, awsLabel.instanceEbsBandwidth)).toBe('10000');
  expect(valueOf(neuron, awsLabel.instanceNetworkBandwidth)).toBe('2083');
  expect(valueOf(neuron, awsLabel.instanceCpuSustainedClockSpeedMhz)).toBe('3600');
  expect(valueOf(neuron, awsLabel.instanceCpuManufacturer)).toBe('amd');
});

test('a fraction of a GPU has the label with count 0 and no GPU resource', () => {
  const spec = type('g6f.large');
  expect(valueOf(spec, awsLabel.instanceGpuCount)).toBe('0');
  expect(spec.capacity['nvidia.com/gpu']).toBeUndefined();
});

test('flex is true exactly for types whose family says so', () => {
  for (const spec of all)
    expect(valueOf(spec, awsLabel.instanceCapabilityFlex)).toBe(String(spec.name.includes('-flex')));
});

test('bare metal has a hypervisor label with an empty value', () => {
  const spec = type('m5.metal');
  expect(spec.requirements).toContainEqual({ key: awsLabel.instanceHypervisor, operator: 'In', values: [''] });
});

test('Windows exists on amd64 only, with its build number', () => {
  const windows = family('Windows2022');
  expect(valueOf(type('m5.large', windows), label.os)).toBe('windows');
  expect(valueOf(type('m5.large', windows), label.windowsBuild)).toBe('10.0.20348');
  expect(valueOf(type('m6g.large', windows), label.os)).toBeUndefined();
  expect(valueOf(type('m5.large'), label.windowsBuild)).toBeUndefined();
});

test('zones and their ids are those of the class where it has subnets', () => {
  const nodeClass: NodeClassShape = {
    ...family('AL2023'),
    status: {
      subnets: [
        { zone: 'us-east-1b', zoneID: 'use1-az2' },
        { zone: 'us-east-1a', zoneID: 'use1-az1' },
        { zone: 'us-east-1a' },
      ],
    },
  };
  const spec = type('m5.large', nodeClass);
  expect(valueOf(spec, label.zone)).toEqual(['us-east-1a', 'us-east-1b']);
  expect(valueOf(spec, awsLabel.zoneId)).toEqual(['use1-az1', 'use1-az2']);
  const available = spec.offerings.filter((offering) => offering.available);
  expect(available).toHaveLength(4);
  expect(available[0]?.requirements).toContainEqual({ key: awsLabel.zoneId, operator: 'In', values: ['use1-az1'] });
});

describe('figures that EC2 gives in its own way', () => {
  const of = (change: Partial<InstanceTypeInfo>, key: string) => {
    const info = { ...infoOf('m5.xlarge'), ...change };
    const [spec] = instanceTypesFor([info], contextOf(family('AL2023')));
    return spec && valueOf(spec, key);
  };
  const { ProcessorInfo, EbsInfo } = infoOf('m5.xlarge');

  test('a clock speed that is not reported is 0, one that is reported is in whole MHz', () => {
    const { SustainedClockSpeedInGhz: _, ...silent } = ProcessorInfo ?? {};
    expect(of({ ProcessorInfo: silent }, awsLabel.instanceCpuSustainedClockSpeedMhz)).toBe('0');
    const odd = { ...ProcessorInfo, SustainedClockSpeedInGhz: 2.4999 };
    expect(of({ ProcessorInfo: odd }, awsLabel.instanceCpuSustainedClockSpeedMhz)).toBe('2500');
  });

  test('a bandwidth to disks counts only where machines always have it', () => {
    expect(of({}, awsLabel.instanceEbsBandwidth)).toBe('4750');
    const extra = { ...EbsInfo, EbsOptimizedSupport: 'supported' };
    expect(of({ EbsInfo: extra }, awsLabel.instanceEbsBandwidth)).toBeUndefined();
  });

  test('local disks count only if they are NVMe', () => {
    const disks = (NvmeSupport: string) => ({ InstanceStorageInfo: { TotalSizeInGB: 900, NvmeSupport } });
    expect(of(disks('required'), awsLabel.instanceLocalNvme)).toBe('900');
    expect(of(disks('unsupported'), awsLabel.instanceLocalNvme)).toBeUndefined();
  });

  test('names are in lower case with dashes; two kinds of GPU have no labels at all', () => {
    const gpu = { Name: 'RTX PRO Server 6000', Manufacturer: 'NVIDIA', Count: 2, MemoryInfo: { SizeInMiB: 1024 } };
    expect(of({ GpuInfo: { Gpus: [gpu] } }, awsLabel.instanceGpuName)).toBe('rtx-pro-server-6000');
    expect(of({ GpuInfo: { Gpus: [gpu] } }, awsLabel.instanceGpuManufacturer)).toBe('nvidia');
    for (const key of [awsLabel.instanceGpuName, awsLabel.instanceGpuCount, awsLabel.instanceGpuMemory])
      expect(of({ GpuInfo: { Gpus: [gpu, gpu] } }, key)).toBeUndefined();
  });

  test('another accelerator counts where EC2 lists no Neuron device', () => {
    const InferenceAcceleratorInfo = {
      Accelerators: [{ Name: 'QAIC AI100 Standard', Manufacturer: 'Qualcomm', Count: 8 }],
    };
    expect(of({ InferenceAcceleratorInfo }, awsLabel.instanceAcceleratorName)).toBe('qaic-ai100-standard');
    expect(of({ InferenceAcceleratorInfo }, awsLabel.instanceAcceleratorManufacturer)).toBe('qualcomm');
    const NeuronInfo = { NeuronDevices: [{ Name: 'Inferentia2', Count: 1 }] };
    expect(of({ InferenceAcceleratorInfo, NeuronInfo }, awsLabel.instanceAcceleratorManufacturer)).toBe('aws');
  });

  test('a type that EC2 sells in other ways only is offered in none of ours', () => {
    expect(of({ SupportedUsageClasses: ['capacity-block'] }, label.capacityType)).toBeUndefined();
  });
});
