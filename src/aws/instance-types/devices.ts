// The devices that drivers will publish on a node of a type, before there is one: GPUs of NVIDIA's driver and EFA
// interfaces of DRANET (Dynamic Resource Allocation). What a driver reads from the running machine is left out, so that a
// request for it finds no device here; what devices have in common, whatever its value, is declared as such.
import type { AttributeBinding, DynamicResources, ResourceSliceTemplate } from '../../core/index.ts';
import { efaInterfaces } from './capacity.ts';
import type { InstanceTypeContext } from './context.ts';
import type { InstanceTypeInfo } from './instance-type-info.ts';

export const nvidiaDriver = 'gpu.nvidia.com';
export const efaDriver = 'dra.net';
const pcieRoot = 'resource.kubernetes.io/pcieRoot';

interface GpuProduct {
  productName: string;
  architecture: string;
  cudaComputeCapability: string;
  /** Left out where it depends on the driver's release. */
  brand?: string;
  /** No more than any release of the driver has been seen to report: a node that has less could not serve the pod. */
  memoryMiB: number;
}

const ada = { architecture: 'Ada Lovelace', cudaComputeCapability: '8.9.0' };
const ampere = { architecture: 'Ampere', brand: 'Nvidia' };
const hopper = { architecture: 'Hopper', cudaComputeCapability: '9.0.0', brand: 'Nvidia' };
const turing = { architecture: 'Turing', cudaComputeCapability: '7.5.0' };
const l4: GpuProduct = { productName: 'NVIDIA L4', ...ada, brand: 'Nvidia', memoryMiB: 22_478 };
const h200: GpuProduct = { productName: 'NVIDIA H200', ...hopper, memoryMiB: 142_848 };

/** By family. Families that are not listed have no GPU of NVIDIA, or one whose figures are not known yet. */
const products: Readonly<Record<string, GpuProduct>> = {
  g4dn: { productName: 'Tesla T4', ...turing, memoryMiB: 14_912 },
  g5: { productName: 'NVIDIA A10G', ...ampere, cudaComputeCapability: '8.6.0', memoryMiB: 22_516 },
  g5g: { productName: 'NVIDIA T4G', ...turing, memoryMiB: 14_912 },
  g6: l4,
  gr6: l4,
  g6e: { productName: 'NVIDIA L40S', ...ada, brand: 'Nvidia', memoryMiB: 45_372 },
  p3dn: {
    productName: 'Tesla V100-SXM2-32GB',
    architecture: 'Volta',
    cudaComputeCapability: '7.0.0',
    memoryMiB: 32_494,
  },
  p4d: { productName: 'NVIDIA A100-SXM4-40GB', ...ampere, cudaComputeCapability: '8.0.0', memoryMiB: 40_326 },
  p4de: { productName: 'NVIDIA A100-SXM4-80GB', ...ampere, cudaComputeCapability: '8.0.0', memoryMiB: 81_038 },
  p5: { productName: 'NVIDIA H100 80GB HBM3', ...hopper, memoryMiB: 81_004 },
  p5e: h200,
  p5en: h200,
  'p6-b200': {
    productName: 'NVIDIA B200',
    architecture: 'Blackwell',
    cudaComputeCapability: '10.0.0',
    brand: 'Nvidia',
    memoryMiB: 182_272,
  },
  'p6-b300': {
    productName: 'NVIDIA B300 SXM6 AC',
    architecture: 'Blackwell',
    cudaComputeCapability: '10.3.0',
    brand: 'Nvidia',
    memoryMiB: 273_408,
  },
};

/** A share of one GPU: EC2 counts none, the driver publishes one. */
const partOfL4 = (profile: string, memoryMiB: number): GpuProduct => ({
  productName: `NVIDIA L4-${profile}`,
  ...ada,
  memoryMiB,
});
const shares: Readonly<Record<string, GpuProduct>> = {
  'g6f.large': partOfL4('3Q', 2_800),
  'g6f.xlarge': partOfL4('3Q', 2_800),
  'g6f.2xlarge': partOfL4('6Q', 5_600),
  'g6f.4xlarge': partOfL4('12Q', 11_300),
  'gr6f.4xlarge': partOfL4('12Q', 11_300),
};

/** Families whose GPUs and EFA interfaces are attached in equal groups, one PCIe root each; elsewhere it is not known. */
const rootsOf: Readonly<Record<string, number>> = {
  p4d: 4,
  p4de: 4,
  p5: 8,
  p5e: 8,
  p5en: 8,
  'p6-b200': 8,
  'p6-b300': 8,
};

/** How many claims may share a GPU, as the driver is configured (`consumableShares`) and the class says in an annotation. */
export type GpuSharing = 'disabled' | 'memory' | 'unlimited' | number;

/** Text that the driver would not accept either counts as not shared. */
export function readGpuSharing(text: string | undefined): GpuSharing {
  if (text === 'memory' || text === 'unlimited') return text;
  return text !== undefined && /^[1-9]\d{0,5}$/.test(text) ? Number(text) : 'disabled';
}

export function devicesOf(info: InstanceTypeInfo, context: InstanceTypeContext): DynamicResources | undefined {
  const { devices } = context;
  const gpus = devices?.nvidia === true ? gpuSlice(info, context.gpuSharing) : undefined;
  const interfaces = devices?.efa === true ? efaSlice(info, context) : undefined;
  const slices = [gpus, interfaces].filter((slice) => slice !== undefined);
  if (slices.length === 0) return undefined;
  const alike = gpus === undefined ? [] : ['driverVersion', 'cudaDriverVersion'];
  return {
    resourceSliceTemplates: slices,
    attributeBindings: [
      ...alike.map((name) => ({ attribute: `${nvidiaDriver}/${name}`, devices: idsOf(gpus) })),
      ...rootBindings(info, idsOf(gpus), idsOf(interfaces)),
    ],
  };
}

type DeviceIds = AttributeBinding['devices'];

const idsOf = (slice: ResourceSliceTemplate | undefined): DeviceIds =>
  (slice?.devices ?? []).map(({ name }) => ({
    driver: slice?.driver ?? '',
    pool: slice?.pool.name ?? '',
    device: name,
  }));

const familyOf = ({ InstanceType: name }: InstanceTypeInfo): string => name.split('.')[0] ?? '';

function gpuSlice(info: InstanceTypeInfo, sharing: GpuSharing): ResourceSliceTemplate | undefined {
  const share = shares[info.InstanceType];
  const product = share ?? products[familyOf(info)];
  if (product === undefined) return undefined;
  const count = share === undefined ? (info.GpuInfo?.Gpus?.[0]?.Count ?? 0) : 1;
  const { memoryMiB, ...texts } = product;
  const { cudaComputeCapability: version, ...strings } = texts;
  const attributes = {
    type: { string: 'gpu' },
    ...Object.fromEntries(Object.entries(strings).map(([name, string]) => [name, { string }])),
    cudaComputeCapability: { version },
  };
  const capacity = capacityUnder(sharing, `${memoryMiB}Mi`);
  const shared = sharing === 'disabled' ? {} : { allowMultipleAllocations: true };
  return {
    driver: nvidiaDriver,
    pool: { name: nvidiaDriver },
    devices: Array.from({ length: count }, (_, index) => ({ name: `gpu-${index}`, attributes, capacity, ...shared })),
  };
}

/** What a claim that says nothing takes: one share and no memory, all memory, or nothing at all. */
function capacityUnder(sharing: GpuSharing, memory: string) {
  if (sharing === 'disabled' || sharing === 'memory') return { memory: { value: memory } };
  const free = { memory: { value: memory, requestPolicy: { default: '0', validRange: { min: '0' } } } };
  if (sharing === 'unlimited') return free;
  const shares = { value: String(sharing), requestPolicy: { default: '1', validRange: { min: '1', step: '1' } } };
  return { ...free, shares };
}

function efaSlice(info: InstanceTypeInfo, context: InstanceTypeContext): ResourceSliceTemplate | undefined {
  const count = efaInterfaces(info, context);
  if (count === 0) return undefined;
  const attributes = {
    [`${efaDriver}/pciDevice`]: { string: 'Elastic Fabric Adapter (EFA)' },
    [`${efaDriver}/pciVendor`]: { string: 'Amazon.com, Inc.' },
    [`${efaDriver}/rdma`]: { bool: true },
  };
  return {
    driver: efaDriver,
    pool: { name: efaDriver },
    devices: Array.from({ length: count }, (_, index) => ({ name: `efa-${index}`, attributes })),
  };
}

/** Devices of one root have its name in common. */
function rootBindings(info: InstanceTypeInfo, gpus: DeviceIds, interfaces: DeviceIds): AttributeBinding[] {
  const roots = rootsOf[familyOf(info)] ?? 0;
  const isWhole = gpus.length % roots === 0 && interfaces.length % roots === 0;
  // A smaller machine of the family has its own layout.
  if (roots === 0 || !isWhole) return [];
  const part = (ids: DeviceIds, root: number): DeviceIds =>
    ids.slice((root * ids.length) / roots, ((root + 1) * ids.length) / roots);
  return Array.from({ length: roots }, (_, root) => ({
    attribute: pcieRoot,
    devices: [...part(gpus, root), ...part(interfaces, root)],
  }));
}
