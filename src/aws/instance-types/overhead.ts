// What of a machine is not for pods: what the kubelet and the system reserve, and what is kept free so that eviction can
// still act. Allocatable is capacity minus all three.
import { parseQuantity, quantityIn } from '../../base/index.ts';
import type { Overhead, ResourceQuantities } from '../../core/index.ts';
import { amiFamilies } from './ami-family.ts';
import { eniLimitedPods, ephemeralStorageOf, estimatedMemoryMiB, podsOf } from './capacity.ts';
import type { InstanceTypeContext } from './context.ts';
import type { InstanceTypeInfo } from './instance-type-info.ts';

const bytesPerMiB = 1024 * 1024;

/** Thousandths of each further core that the kubelet keeps: 6 % of the first, 1 % of the second, and so on. */
const reservedMilliPerCore = [
  { upToCore: 1, milli: 60 },
  { upToCore: 2, milli: 10 },
  { upToCore: 4, milli: 5 },
  { upToCore: Number.POSITIVE_INFINITY, milli: 2.5 },
];

export type OverheadBuilder = (info: InstanceTypeInfo) => Overhead;

export function overheadBuilder(context: InstanceTypeContext): OverheadBuilder {
  // Nearly all types of a class have the same disk, and reading a quantity is not free.
  const bytes = new Map<string, number>();
  const storageBytes = (info: InstanceTypeInfo): number => {
    const text = ephemeralStorageOf(info, context);
    let count = bytes.get(text);
    if (count === undefined) bytes.set(text, (count = quantityIn('units', parseQuantity(text))));
    return count;
  };
  return (info) => ({
    kubeReserved: kubeReserved(info, context),
    systemReserved: { ...context.kubelet.systemReserved },
    evictionThreshold: evictionThreshold(info, storageBytes(info), context),
  });
}

function kubeReserved(info: InstanceTypeInfo, context: InstanceTypeContext): ResourceQuantities {
  const pods = amiFamilies[context.amiFamily].reservesMemoryByEni
    ? eniLimitedPods(info, context, 0)
    : podsOf(info, context);
  return {
    cpu: `${reservedCpuMilli(info.VCpuInfo.DefaultVCpus)}m`,
    memory: `${11 * pods + 255}Mi`,
    'ephemeral-storage': '1Gi',
    ...context.kubelet.kubeReserved,
  };
}

export function reservedCpuMilli(cores: number): number {
  let milli = 0;
  let from = 0;
  for (const slice of reservedMilliPerCore) {
    const inSlice = Math.max(0, Math.min(cores, slice.upToCore) - from);
    milli += Math.trunc(inSlice * slice.milli);
    from = slice.upToCore;
  }
  return milli;
}

/** Only hard thresholds count: soft ones evict late enough to leave the space usable. */
function evictionThreshold(info: InstanceTypeInfo, storage: number, context: InstanceTypeContext): ResourceQuantities {
  const hard = context.kubelet.evictionHard ?? {};
  // Percentages are of the estimate even where the real memory is known, as the kubelet's own figure differs from both.
  const memory = estimatedMemoryMiB(info, context) * bytesPerMiB;
  return {
    memory: thresholdOf(hard['memory.available'], memory) ?? '100Mi',
    'ephemeral-storage': thresholdOf(hard['nodefs.available'] ?? '10%', storage) ?? '0',
  };
}

function thresholdOf(signal: string | undefined, capacityBytes: number): string | undefined {
  if (signal === undefined || signal === '') return undefined;
  if (!signal.endsWith('%')) return signal;
  const percent = Number(signal.slice(0, -1));
  // The kubelet reads 100 % as "no threshold".
  return percent === 100 ? '0' : String(Math.ceil((capacityBytes / 100) * percent));
}
