// The catalogue S(n): n instance types of growing size in three zones, the one the peer's own benchmark uses, so that
// figures can be put side by side.
import { label, wellKnownLabels } from '../../src/api/index.ts';
import type { InstanceTypeSpec, OfferingSpec, ProviderFacts } from '../../src/core/index.ts';

const gibibyte = 2 ** 30;
export const zones = ['test-zone-1', 'test-zone-2', 'test-zone-3'] as const;

export const testProvider: ProviderFacts = {
  nodeClasses: ['TestNodeClass.karpenter.test.sh'],
  wellKnownLabels: [...wellKnownLabels],
};

const offering = (zone: string, capacityType: string, price: number): OfferingSpec => ({
  requirements: [
    { key: label.capacityType, operator: 'In', values: [capacityType] },
    { key: label.zone, operator: 'In', values: [zone] },
  ],
  price,
  available: true,
});

export function syntheticCatalogue(count: number): InstanceTypeSpec[] {
  return Array.from({ length: count }, (_, i) => {
    const cpu = i + 1;
    const memoryGi = 2 * (i + 1);
    const price = 0.1 * cpu + (0.1 * memoryGi * gibibyte) / 1e9;
    const name = `fake-it-${i}`;
    return {
      name,
      requirements: [
        { key: label.instanceType, operator: 'In', values: [name] },
        { key: label.arch, operator: 'In', values: ['amd64'] },
        { key: label.os, operator: 'In', values: ['linux', 'windows', 'darwin'] },
        { key: label.zone, operator: 'In', values: [...zones] },
        { key: label.capacityType, operator: 'In', values: ['spot', 'on-demand'] },
      ],
      capacity: { cpu: String(cpu), memory: `${memoryGi}Gi`, pods: String(10 * (i + 1)) },
      overhead: { kubeReserved: { cpu: '100m', memory: '10Mi' } },
      offerings: [
        offering('test-zone-1', 'spot', price),
        offering('test-zone-2', 'spot', price),
        offering('test-zone-1', 'on-demand', price),
        offering('test-zone-2', 'on-demand', price),
        offering('test-zone-3', 'on-demand', price),
      ],
    };
  });
}
