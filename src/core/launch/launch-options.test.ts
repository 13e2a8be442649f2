import { describe, expect, test } from 'vitest';
import type { InstanceTypeSpec, OfferingSpec, ProviderFacts } from '../snapshot.ts';
import { allocatableOf, customLabels, launchOptions, singleValuedLabels } from './launch-options.ts';

const facts: ProviderFacts = { nodeClasses: [], wellKnownLabels: [] };
const offering = (zone: string, capacity: string, price: number, available = true): OfferingSpec => ({
  requirements: [
    { key: 'topology.kubernetes.io/zone', operator: 'In', values: [zone] },
    { key: 'karpenter.sh/capacity-type', operator: 'In', values: [capacity] },
  ],
  price,
  available,
});
const type = (name: string, offerings: OfferingSpec[]): InstanceTypeSpec => ({
  name,
  requirements: [{ key: 'node.kubernetes.io/instance-type', operator: 'In', values: [name] }],
  capacity: { cpu: '4', memory: '8Gi', pods: '110' },
  overhead: { kubeReserved: { cpu: '100m', memory: '10Mi' } },
  offerings,
});
const types = [
  type('large', [offering('a', 'spot', 0.2), offering('b', 'on-demand', 0.5)]),
  type('small', [offering('a', 'spot', 0.1, false), offering('b', 'spot', 0.15)]),
];
const named = (options: ReturnType<typeof launchOptions>): string[] =>
  options.map((option) => `${option.instanceType.name} ${option.offering.price}`);

describe('launch options', () => {
  test('are the available offerings, cheapest first', () => {
    expect(named(launchOptions(types, [], facts))).toEqual(['small 0.15', 'large 0.2', 'large 0.5']);
  });

  test('respect the claim’s types, zones and capacity types', () => {
    const only = (key: string, value: string) =>
      launchOptions(types, [{ key, operator: 'In', values: [value] }], facts);
    expect(named(only('node.kubernetes.io/instance-type', 'large'))).toEqual(['large 0.2', 'large 0.5']);
    expect(named(only('topology.kubernetes.io/zone', 'b'))).toEqual(['small 0.15', 'large 0.5']);
    expect(named(only('karpenter.sh/capacity-type', 'on-demand'))).toEqual(['large 0.5']);
  });

  test('ignore requirements that only concern the node, such as the pool’s custom labels', () => {
    expect(launchOptions(types, [{ key: 'team', operator: 'In', values: ['a'] }], facts)).toHaveLength(3);
  });
});

test('allocatable is capacity less the overheads, with huge pages taken off memory', () => {
  const plain = type('t', []);
  expect(allocatableOf(plain)).toEqual({ cpu: '3900m', memory: '8182Mi', pods: '110' });
  const huge = { ...plain, capacity: { ...plain.capacity, 'hugepages-2Mi': '1Gi' } };
  expect(allocatableOf(huge)).toEqual({ cpu: '3900m', memory: '7158Mi', pods: '110', 'hugepages-2Mi': '1Gi' });
});

test('labels follow from requirements that allow exactly one value', () => {
  const labels = singleValuedLabels(
    [
      { key: 'beta.kubernetes.io/arch', operator: 'In', values: ['arm64'] },
      { key: 'topology.kubernetes.io/zone', operator: 'In', values: ['a', 'b'] },
      { key: 'team', operator: 'Exists' },
    ],
    facts,
  );
  expect(labels).toEqual({ 'kubernetes.io/arch': 'arm64' });
});

describe('custom labels of a claim', () => {
  const labelsOf = (...requirements: Parameters<typeof customLabels>[0]) => customLabels(requirements, facts);

  test('an In picks one of its values, and several requirements on a key hold together', () => {
    expect(
      labelsOf({ key: 'team', operator: 'In', values: ['a', 'b'] }, { key: 'team', operator: 'NotIn', values: ['a'] }),
    ).toEqual({ team: 'b' });
  });

  test('Exists, NotIn and bounds get a whole number they allow', () => {
    expect(labelsOf({ key: 'x', operator: 'Exists' })).toEqual({ x: '0' });
    expect(labelsOf({ key: 'x', operator: 'NotIn', values: ['0', '1', 'b'] })).toEqual({ x: '2' });
    expect(labelsOf({ key: 'x', operator: 'Gt', values: ['4'] }, { key: 'x', operator: 'Lt', values: ['9'] })).toEqual({
      x: '5',
    });
  });

  test('DoesNotExist, well-known keys and keys of the node itself give no label', () => {
    expect(
      labelsOf(
        { key: 'x', operator: 'DoesNotExist' },
        { key: 'topology.kubernetes.io/zone', operator: 'In', values: ['a'] },
        { key: 'kubernetes.io/hostname', operator: 'In', values: ['n'] },
      ),
    ).toEqual({});
  });
});
