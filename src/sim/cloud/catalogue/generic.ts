// The simulated provider's own catalogue: 144 types in three families, two architectures and two operating systems, each
// offered in four zones, spot and on-demand.
import { capacityType, label } from '../../../api/names.ts';
import type { InstanceTypeSpec, OfferingSpec, RequirementSpec } from '../../../core/index.ts';
import { simulatedType } from './simulated-type.ts';

const cpuCounts = [1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256];
/** Memory per cpu in GiB names the family: compute, standard, memory. */
const families = [
  { name: 'c', gibPerCpu: 2 },
  { name: 's', gibPerCpu: 4 },
  { name: 'm', gibPerCpu: 8 },
];
const operatingSystems = ['linux', 'windows'];
const architectures = ['amd64', 'arm64'];
const zones = ['test-zone-a', 'test-zone-b', 'test-zone-c', 'test-zone-d'];

const usdPerCpuHour = 0.025;
const usdPerGigabyteHour = 0.001;
const spotRatio = 0.7;
const mostPods = 1024;
const podsPerCpu = 16;
const bytesPerGib = 2 ** 30;

/** The places a type is sold in; the same for all types, so built once. */
const places: { requirements: RequirementSpec[]; ratio: number }[] = zones.flatMap((zone) =>
  [capacityType.spot, capacityType.onDemand].map((type) => ({
    requirements: [
      { key: label.capacityType, operator: 'In', values: [type] },
      { key: label.zone, operator: 'In', values: [zone] },
    ],
    ratio: type === capacityType.spot ? spotRatio : 1,
  })),
);

export function genericCatalogue(): InstanceTypeSpec[] {
  const types: InstanceTypeSpec[] = [];
  for (const cpu of cpuCounts) {
    for (const { name, gibPerCpu } of families) {
      for (const os of operatingSystems) {
        for (const architecture of architectures) {
          types.push(
            simulatedType({
              name: `${name}-${cpu}x-${architecture}-${os}`,
              architecture,
              operatingSystems: [os],
              resources: {
                cpu: String(cpu),
                memory: `${cpu * gibPerCpu}Gi`,
                pods: String(Math.min(podsPerCpu * cpu, mostPods)),
                'ephemeral-storage': '20Gi',
              },
              offerings: offeringsAt(priceOf(cpu, cpu * gibPerCpu * bytesPerGib)),
            }),
          );
        }
      }
    }
  }
  return types;
}

function priceOf(cpu: number, memoryBytes: number): number {
  return usdPerCpuHour * cpu + (usdPerGigabyteHour * memoryBytes) / 1e9;
}

function offeringsAt(onDemandPrice: number): OfferingSpec[] {
  return places.map(({ requirements, ratio }) => ({ requirements, price: onDemandPrice * ratio, available: true }));
}
