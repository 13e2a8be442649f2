import { expect, test } from 'vitest';
import { isCompatible } from './compatibility.ts';
import type { InstanceTypeContext } from './context.ts';
import type { InstanceTypeInfo } from './instance-type-info.ts';
import { contextOf, family, infoOf } from './instance-types.testing.ts';

const efa = (count: number) =>
  Array.from({ length: count }, (_, card) => ({
    networkCardIndex: card,
    deviceIndex: 1,
    interfaceType: 'efa-only',
  }));
const primary = { networkCardIndex: 0, deviceIndex: 0, interfaceType: 'interface' };
const info: InstanceTypeInfo = {
  ...infoOf('m5.xlarge'),
  NetworkInfo: {
    EfaInfo: { MaximumEfaInterfaces: 2 },
    NetworkCards: [{ MaximumNetworkInterfaces: 4 }, { MaximumNetworkInterfaces: 4 }],
  },
};
const check = (change: Partial<InstanceTypeContext>, type: InstanceTypeInfo = info): boolean =>
  isCompatible(type, { ...contextOf(family('AL2023')), ...change });

test('configured interfaces need that many cards, devices and EFA slots, and ENA', () => {
  expect(check({ networkInterfaces: [primary, ...efa(2)] })).toBe(true);
  expect(check({ networkInterfaces: [primary, ...efa(3)] })).toBe(false);
  expect(check({ networkInterfaces: [{ ...primary, networkCardIndex: 2 }] })).toBe(false);
  expect(check({ networkInterfaces: [{ ...primary, deviceIndex: 4 }] })).toBe(false);
  expect(check({ networkInterfaces: [primary, ...efa(1)] }, { ...info, NetworkInfo: { NetworkCards: [{}] } })).toBe(
    false,
  );
  const withoutEna = { ...info, NetworkInfo: { ...info.NetworkInfo, EnaSupport: 'unsupported' } };
  expect(check({ networkInterfaces: [primary] }, withoutEna)).toBe(false);
  expect(check({}, withoutEna)).toBe(true);
});

test('nested virtualisation, placement strategies and connection tracking need the type to support them', () => {
  expect(check({ nestedVirtualization: true })).toBe(false);
  expect(
    check({ nestedVirtualization: true }, { ...info, ProcessorInfo: { SupportedFeatures: ['nested-virtualization'] } }),
  ).toBe(true);
  expect(check({ placementGroup: { id: 'pg-1', strategy: 'cluster' } })).toBe(false);
  expect(check({ connectionTracking: true })).toBe(true);
  expect(check({ connectionTracking: true }, { ...info, Hypervisor: 'xen' })).toBe(false);
});
