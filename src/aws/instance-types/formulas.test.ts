// Every type of the built-in table, for every family of images, under the settings that change its size: what core makes of
// it against the published formulas, written down here once more in plain numbers.
import { describe, expect, test } from 'vitest';
import { staticKubelet } from '../../api/index.ts';
import { parseQuantity, quantityIn } from '../../base/index.ts';
import { allocatableOf, type InstanceTypeSpec } from '../../core/index.ts';
import { contextOf, family, infos, type } from './instance-types.testing.ts';
import { instanceTypesFor } from './instance-types.ts';
import type { NodeClassShape } from './node-class.ts';

const families = ['AL2', 'AL2023', 'Bottlerocket', 'Custom', 'Windows2019', 'Windows2022', 'Windows2025'];
const MiB = 2 ** 20;
const GiB = 2 ** 30;

interface Case {
  spec?: NonNullable<NodeClassShape['spec']>;
  reservedEnis?: number;
  vmMemoryOverhead?: number;
}

/** Under these every fifth type stands for its like. */
const cases: Record<string, Case> = {
  'a fixed number of pods': { spec: { kubelet: { maxPods: 110 } } },
  'pods per core, at most a number': { spec: { kubelet: { podsPerCore: 4, maxPods: 20 } } },
  'an interface that pods do not get': { reservedEnis: 1 },
  'another share for the hypervisor': { vmMemoryOverhead: 0.02 },
  'reservations and thresholds of the class': {
    spec: {
      kubelet: {
        kubeReserved: { cpu: '200m', memory: '1Gi' },
        systemReserved: { cpu: '100m', memory: '100Mi', 'ephemeral-storage': '1Gi' },
        evictionHard: { 'memory.available': '5%', 'nodefs.available': '3Gi' },
      },
    },
  },
  'local disks joined': { spec: { instanceStorePolicy: 'RAID0' } },
  'EFA-only interfaces': {
    spec: {
      networkInterfaces: [
        { networkCardIndex: 0, deviceIndex: 0, interfaceType: 'interface' },
        { networkCardIndex: 0, deviceIndex: 1, interfaceType: 'efa-only' },
      ],
    },
  },
};

function expected(info: (typeof infos)[number], name: string, { spec = {}, ...settings }: Case): object {
  const isWindows = name.startsWith('Windows');
  const { networkInterfaces = [] } = spec;
  const kubelet = staticKubelet(spec.kubelet ?? {});
  const cores = info.VCpuInfo.DefaultVCpus;
  const efaOnly = networkInterfaces.filter(({ interfaceType }) => interfaceType === 'efa-only').length;
  const cards = info.NetworkInfo?.NetworkCards ?? [];
  const interfaces = cards[info.NetworkInfo?.DefaultNetworkCardIndex ?? 0]?.MaximumNetworkInterfaces ?? 0;
  const byInterfaces = (reserved: number): number => {
    const left = Math.max(0, interfaces - reserved - efaOnly);
    return left === 0 ? 0 : left * ((info.NetworkInfo?.Ipv4AddressesPerInterface ?? 0) - 1) + 2;
  };
  let pods = kubelet.maxPods ?? (isWindows ? 110 : byInterfaces(settings.reservedEnis ?? 0));
  if (kubelet.podsPerCore !== undefined && name !== 'Bottlerocket') pods = Math.min(kubelet.podsPerCore * cores, pods);

  const isArm = info.ProcessorInfo?.SupportedArchitectures?.[0] === 'arm64';
  const machineMiB = info.MemoryInfo.SizeInMiB - (isArm ? 64 : 0);
  const memory = (machineMiB - Math.ceil(machineMiB * (settings.vmMemoryOverhead ?? 0.075))) * MiB;
  const localGB = spec.instanceStorePolicy === 'RAID0' ? info.InstanceStorageInfo?.TotalSizeInGB : undefined;
  const storage = localGB === undefined ? (isWindows ? 50 : 20) * GiB : localGB * 1e9;

  const countedPods = isWindows || name === 'Bottlerocket' ? pods : byInterfaces(0);
  let reservedCpu = 60;
  if (cores >= 2) reservedCpu += 10;
  if (cores > 2) reservedCpu += Math.floor(5 * (Math.min(cores, 4) - 2));
  if (cores > 4) reservedCpu += Math.floor(2.5 * (cores - 4));
  const hasOwn = kubelet.kubeReserved !== undefined;
  const reserved = hasOwn
    ? { cpu: 200 + 100, memory: GiB + 100 * MiB + Math.ceil(memory * 0.05), storage: GiB + GiB + 3 * GiB }
    : { cpu: reservedCpu, memory: (11 * countedPods + 255 + 100) * MiB, storage: GiB + Math.ceil(storage / 10) };
  return {
    capacity: { cpu: cores * 1000, memory, storage, pods },
    allocatable: {
      cpu: cores * 1000 - reserved.cpu,
      // Some early types are smaller than what is reserved on them; EC2 sells them, no one can use them.
      memory: Math.max(0, memory - reserved.memory),
      storage: storage - reserved.storage,
      pods,
    },
  };
}

function sizeOf(spec: InstanceTypeSpec): object {
  const numbers = (quantities: Record<string, string | number>) => ({
    cpu: quantityIn('milli', parseQuantity(quantities['cpu'] ?? 0)),
    memory: quantityIn('units', parseQuantity(quantities['memory'] ?? 0)),
    storage: quantityIn('units', parseQuantity(quantities['ephemeral-storage'] ?? 0)),
    pods: quantityIn('units', parseQuantity(quantities['pods'] ?? 0)),
  });
  return { capacity: numbers(spec.capacity), allocatable: numbers(allocatableOf(spec)) };
}

function expectSizes(name: string, given: Case, tried: typeof infos): void {
  const context = contextOf(family(name, given.spec));
  const { reservedEnis = context.reservedEnis, vmMemoryOverhead = context.vmMemoryOverhead } = given;
  const types = instanceTypesFor(tried, { ...context, reservedEnis, vmMemoryOverhead });
  const wrong = tried.flatMap((info, index) => {
    const [is, should] = [sizeOf(types[index] as InstanceTypeSpec), expected(info, name, given)];
    return JSON.stringify(is) === JSON.stringify(should) ? [] : [{ type: info.InstanceType, is, should }];
  });
  expect(wrong).toEqual([]);
}

test.each(families)('every type has the size the formulas give: %s', (name) => {
  expect(infos.length).toBeGreaterThan(1_300);
  expectSizes(name, {}, infos);
});

describe.each(Object.entries(cases))('the formulas hold with %s', (_, given) => {
  test.each(['AL2023', 'Bottlerocket', 'Custom', 'Windows2022'])('%s', (name) => {
    expectSizes(
      name,
      given,
      infos.filter((__, index) => index % 5 === 0),
    );
  });
});

test.each([
  // vCPU, MiB and interfaces from EC2's own pages; the rest worked out by hand.
  ['m5.large', 'AL2023', {}, { pods: '29', cpu: '1930m', memory: '6903Mi', 'ephemeral-storage': '17Gi' }],
  ['t3.medium', 'AL2', {}, { pods: '17', cpu: '1930m', memory: '3246Mi', 'ephemeral-storage': '17Gi' }],
  ['p4d.24xlarge', 'AL2023', {}, { pods: '737', cpu: '95690m', memory: '1082712Mi' }],
  ['m6a.48xlarge', 'Custom', {}, { pods: '737', cpu: '191450m', memory: '718987Mi' }],
  ['m5.large', 'Bottlerocket', { maxPods: 110 }, { pods: '110', memory: '6012Mi' }],
  ['m5.large', 'AL2023', { maxPods: 110 }, { pods: '110', memory: '6903Mi' }],
  ['m5.large', 'Windows2022', {}, { pods: '110', memory: '6012Mi', 'ephemeral-storage': '44Gi' }],
])('%s with %s and %j leaves %j', (name, ami, kubelet, left) => {
  expect(allocatableOf(type(name, family(ami, { kubelet })))).toMatchObject(left);
});
