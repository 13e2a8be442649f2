// Random small catalogues: sizes, architectures, a custom type label, offerings that are missing or sold out, reserved
// capacity, offerings whose machines are a little larger than usual, and few volumes that can be attached.
import * as fc from 'fast-check';
import { label } from '../../../src/api/index.ts';
import type { InstanceTypeSpec, OfferingSpec } from '../../../src/core/index.ts';
import { driver, reservationKey, zones } from './values.ts';

export interface CatalogueOptions {
  reserved: boolean;
}

interface TypeShape {
  cpu: number;
  ratio: number;
  arch: string;
  gpu: number;
  offerings: number;
  soldOut: number;
  roomy: boolean;
  reservation: number;
  attachments: number;
}

const shape: fc.Arbitrary<TypeShape> = fc.record({
  cpu: fc.constantFrom(1, 2, 4, 8, 16),
  ratio: fc.constantFrom(2, 4, 8),
  arch: fc.constantFrom('amd64', 'amd64', 'amd64', 'arm64'),
  gpu: fc.constantFrom(0, 0, 0, 0, 0, 2),
  offerings: fc.constantFrom(63, 63, 63, 56, 7, 21, 48),
  soldOut: fc.constantFrom(0, 0, 0, 1, 8, 9, 36),
  roomy: fc.nat({ max: 19 }).map((n) => n === 0),
  reservation: fc.constantFrom(0, 0, 0, 1, 2, 3),
  attachments: fc.constantFrom(0, 0, 0, 1, 2),
});

export function catalogue(options: CatalogueOptions): fc.Arbitrary<InstanceTypeSpec[]> {
  return fc
    .array(shape, { minLength: 2, maxLength: 8 })
    .map((shapes) => shapes.map((s, i) => instanceType(s, i, options)));
}

function instanceType(s: TypeShape, index: number, options: CatalogueOptions): InstanceTypeSpec {
  const name = `${s.arch === 'arm64' ? 'g' : 'm'}${index}.${s.cpu}x${s.ratio}`;
  const memoryGi = s.cpu * s.ratio;
  // The index keeps prices distinct, so that "cheapest" has one answer.
  const price = 0.04 * s.cpu + 0.005 * memoryGi + 0.5 * s.gpu + 0.0001 * (index + 1);
  const offerings: OfferingSpec[] = [];
  zones.forEach((zone, z) => {
    for (const [c, capacityType] of ['on-demand', 'spot'].entries()) {
      const bit = 1 << (z + 3 * c);
      if ((s.offerings & bit) === 0) continue;
      offerings.push({
        requirements: [
          { key: label.zone, operator: 'In', values: [zone] },
          { key: label.capacityType, operator: 'In', values: [capacityType] },
        ],
        price: price * (capacityType === 'spot' ? 0.6 : 1) + 0.00001 * z,
        available: (s.soldOut & bit) === 0,
        // A little more than the type has: an override replaces.
        ...(s.roomy && z === 0 ? { capacityOverride: { memory: `${memoryGi * 1024 + 512}Mi` } } : {}),
      });
    }
  });
  if (options.reserved && s.reservation > 0) {
    offerings.push({
      requirements: [
        { key: label.zone, operator: 'In', values: [zones[index % zones.length] ?? ''] },
        { key: label.capacityType, operator: 'In', values: ['reserved'] },
        { key: reservationKey, operator: 'In', values: [`r-${index}`] },
      ],
      price: price / 1000,
      available: true,
      reservationCapacity: s.reservation - 1,
    });
  }
  const capacityTypes = [...new Set(offerings.map((o) => o.requirements[1]?.values?.[0] ?? ''))];
  const offered = [...new Set(offerings.map((o) => o.requirements[0]?.values?.[0] ?? ''))];
  return {
    name,
    requirements: [
      { key: label.instanceType, operator: 'In', values: [name] },
      { key: label.arch, operator: 'In', values: [s.arch] },
      { key: label.os, operator: 'In', values: ['linux'] },
      { key: label.zone, operator: 'In', values: offered },
      { key: label.capacityType, operator: 'In', values: capacityTypes },
      { key: 'test.kerf/cpu', operator: 'In', values: [String(s.cpu)] },
      ...(s.gpu > 0
        ? [{ key: 'test.kerf/gpu', operator: 'In' as const, values: ['yes'] }]
        : [{ key: 'test.kerf/gpu', operator: 'DoesNotExist' as const }]),
      ...(options.reserved && s.reservation > 0
        ? [{ key: reservationKey, operator: 'In' as const, values: [`r-${index}`] }]
        : [{ key: reservationKey, operator: 'DoesNotExist' as const }]),
    ],
    capacity: {
      cpu: String(s.cpu),
      memory: `${memoryGi}Gi`,
      pods: String(Math.min(8 + 4 * s.cpu, 30)),
      ...(s.gpu > 0 ? { 'nvidia.com/gpu': String(s.gpu) } : {}),
    },
    overhead: { kubeReserved: { cpu: '100m', memory: '200Mi' }, evictionThreshold: { memory: '100Mi' } },
    offerings,
    ...(s.attachments > 0 ? { volumeAttachmentLimits: { [driver]: s.attachments } } : {}),
  };
}
