import { describe, expect, test } from 'vitest';
import { kwokLabel, label } from '../../../api/names.ts';
import { isCatalogueFile, readCatalogueFile } from './catalogue-file.ts';
import { genericCatalogue } from './generic.ts';
import { kwokProviderFacts } from './provider-facts.ts';

const values = (type: { requirements: { key: string; values?: string[] }[] } | undefined, key: string): unknown =>
  type?.requirements.find((requirement) => requirement.key === key)?.values;

describe('the generic catalogue', () => {
  const types = genericCatalogue();
  const byName = new Map(types.map((type) => [type.name, type]));

  test('has 144 types with distinct names', () => {
    expect(types).toHaveLength(144);
    expect(byName.size).toBe(144);
  });

  test('a type has the resources its name says, 16 pods per cpu up to 1024, and 20Gi of storage', () => {
    expect(byName.get('c-4x-amd64-linux')?.capacity).toEqual({
      cpu: '4',
      memory: '8Gi',
      pods: '64',
      'ephemeral-storage': '20Gi',
    });
    expect(byName.get('m-256x-arm64-windows')?.capacity).toMatchObject({ cpu: '256', memory: '2048Gi', pods: '1024' });
    expect(byName.get('s-1x-arm64-linux')?.overhead).toEqual({ kubeReserved: { cpu: '100m', memory: '10Mi' } });
  });

  test('every type is sold in four zones, spot at seven tenths of on-demand', () => {
    for (const type of types) {
      expect(type.offerings).toHaveLength(8);
      const cpu = Number(type.capacity['cpu']);
      const gib = Number(String(type.capacity['memory']).replace('Gi', ''));
      const onDemand = 0.025 * cpu + (0.001 * gib * 2 ** 30) / 1e9;
      for (const { requirements, price, available } of type.offerings) {
        const spot = requirements.some(({ key, values: found }) => key === label.capacityType && found?.[0] === 'spot');
        expect(price).toBeCloseTo(spot ? 0.7 * onDemand : onDemand, 12);
        expect(available).toBe(true);
      }
    }
  });

  test('labels give family, size as the cpu count, cpu and memory', () => {
    const type = byName.get('m-48x-amd64-linux');
    expect(values(type, kwokLabel.instanceFamily)).toEqual(['m']);
    expect(values(type, kwokLabel.instanceSize)).toEqual(['48']);
    expect(values(type, kwokLabel.instanceCpu)).toEqual(['48']);
    expect(values(type, kwokLabel.instanceMemory)).toEqual(['384Gi']);
    expect(values(type, label.zone)).toEqual(['test-zone-a', 'test-zone-b', 'test-zone-c', 'test-zone-d']);
    expect(values(type, label.capacityType)).toEqual(['spot', 'on-demand']);
    expect(values(type, label.os)).toEqual(['linux']);
    expect(values(type, label.arch)).toEqual(['amd64']);
  });
});

describe('a catalogue file', () => {
  const entry = {
    name: 'm5.xlarge',
    architecture: 'amd64',
    operatingSystems: ['linux'],
    resources: { cpu: '4', memory: '16Gi' },
    offerings: [
      {
        Price: 0.192,
        Available: false,
        Requirements: [
          { key: label.zone, operator: 'In', values: ['zone-1'] },
          { key: label.capacityType, operator: 'In', values: ['on-demand'] },
          { key: 'example.com/rack', operator: 'In', values: ['r1'] },
        ],
      },
    ],
  };

  test('gives every offering as available and 110 pods where it says nothing', () => {
    const { instanceTypes } = readCatalogueFile([entry], 'types.json');
    expect(instanceTypes[0]?.capacity).toEqual({ cpu: '4', memory: '16Gi', pods: '110' });
    expect(instanceTypes[0]?.offerings[0]).toMatchObject({ price: 0.192, available: true });
    expect(values(instanceTypes[0], kwokLabel.instanceSize)).toEqual(['xlarge']);
    expect(values(instanceTypes[0], kwokLabel.instanceFamily)).toEqual(['m5']);
    expect(values(instanceTypes[0], label.zone)).toEqual(['zone-1']);
  });

  test('makes the keys of its offerings well known', () => {
    const { offeringKeys } = readCatalogueFile([entry], 'types.json');
    expect(kwokProviderFacts(offeringKeys).wellKnownLabels).toContain('example.com/rack');
  });

  test('takes the first letter as family and the cpu as size of a name without a known shape', () => {
    const { instanceTypes } = readCatalogueFile([{ ...entry, name: 'huge' }], 'types.json');
    expect(values(instanceTypes[0], kwokLabel.instanceFamily)).toEqual(['h']);
    expect(values(instanceTypes[0], kwokLabel.instanceSize)).toEqual(['4']);
  });

  test('is distinguished from other documents by its resources', () => {
    expect(isCatalogueFile([entry])).toBe(true);
    expect(isCatalogueFile([{ name: 'a', capacity: {} }])).toBe(false);
    expect(isCatalogueFile({})).toBe(false);
  });

  test.each([
    ['not a list', {}, /the document must be a list/],
    ['a missing name', [{ ...entry, name: undefined }], /\[0\]\.name must be a text/],
    [
      'a quantity that cannot be read',
      [{ ...entry, resources: { cpu: 'four' } }],
      /\[0\]\.resources\.cpu must be a quantity/,
    ],
    [
      'a price that is text',
      [{ ...entry, offerings: [{ Price: 'x' }] }],
      /\[0\]\.offerings\[0\]\.Price must be a price/,
    ],
    [
      'an unknown operator',
      [{ ...entry, offerings: [{ Price: 1, Requirements: [{ key: 'a', operator: 'Is' }] }] }],
      /offerings\[0\]\.Requirements\[0\]\.operator must be one of In/,
    ],
  ])('refuses %s, naming file and field', (_, value, message) => {
    expect(() => readCatalogueFile(value, 'types.json')).toThrow(message);
    expect(() => readCatalogueFile(value, 'types.json')).toThrow(/types\.json/);
  });
});
