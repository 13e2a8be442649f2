// The small vocabulary that random snapshots are made of: few values, so that constraints meet often.
import * as fc from 'fast-check';
import { wellKnownLabels } from '../../../src/api/index.ts';
import type { ProviderFacts } from '../../../src/core/index.ts';
import type { LabelSelector, Toleration } from '../rules/objects.ts';

export const zones = ['zone-a', 'zone-b', 'zone-c'];
export const apps = ['red', 'green', 'blue'];
export const namespaces = ['default', 'other'];
export const reservationKey = 'test.kerf/reservation-id';
export const driver = 'disk.csi.test.kerf';
export const time = '2026-01-01T12:00:00Z';

export const provider: ProviderFacts = {
  nodeClasses: ['TestNodeClass.karpenter.test.sh'],
  wellKnownLabels: [...wellKnownLabels, 'test.kerf/cpu', reservationKey],
  restrictedLabels: [],
  restrictedLabelDomains: [],
  reservationIDLabel: reservationKey,
  reservedCapacityLabels: [],
  unsupportedProvisioners: ['slow.csi.test.kerf'],
  unsupportedTopologyKeys: [],
};

/** `value` with the given share in a hundred, else nothing. */
export function sometimes<T>(percent: number, value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.nat({ max: 99 }).chain((n) => (n < 100 - percent ? fc.constant(undefined) : value));
}

type Loose<T> = { [K in keyof T]: T[K] | undefined };

/** An object without its undefined fields: optional fields of manifests are absent, not undefined. */
export function defined<T extends object>(object: Loose<T>): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;
}

export const selector: fc.Arbitrary<LabelSelector> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...apps).map((app) => ({ matchLabels: { app } })) },
  {
    weight: 1,
    arbitrary: fc
      .subarray(apps, { minLength: 1 })
      .map((values) => ({ matchExpressions: [{ key: 'app', operator: 'In', values }] })),
  },
  { weight: 1, arbitrary: fc.constant<LabelSelector>({ matchExpressions: [{ key: 'app', operator: 'Exists' }] }) },
);

export const dedicated = { key: 'dedicated', value: 'batch', effect: 'NoSchedule' };
export const softTaint = { key: 'soft', effect: 'PreferNoSchedule' };

export const tolerations: fc.Arbitrary<Toleration[] | undefined> = sometimes(
  35,
  fc.constantFrom<Toleration[]>(
    [{ key: 'dedicated', operator: 'Equal', value: 'batch', effect: 'NoSchedule' }],
    [{ key: 'dedicated', operator: 'Exists' }],
    [{ operator: 'Exists' }],
    [{ key: 'unrelated', operator: 'Exists' }],
  ),
);
