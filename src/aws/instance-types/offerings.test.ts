import { expect, test } from 'vitest';
import { awsLabel, label } from '../../api/names.ts';
import { builtInCatalogue, spotPriceRatio } from './built-in.ts';
import { contextOf, family, infoOf, prices, type, valueOf, zoneLetters } from './instance-types.testing.ts';
import { instanceTypesFor } from './instance-types.ts';

const all = (await builtInCatalogue()).instanceTypes();

test('there is exactly one per zone and capacity type, available where EC2 offers the type and has a price', () => {
  for (const spec of all) {
    const seen = new Set<string>();
    for (const { requirements, available, price } of spec.offerings) {
      const zone = requirements.find(({ key }) => key === label.zone)?.values?.[0] ?? '';
      const capacity = requirements.find(({ key }) => key === label.capacityType)?.values?.[0] ?? '';
      seen.add(`${zone}/${capacity}`);
      const onDemand = prices[spec.name];
      const offered = (zoneLetters[spec.name] ?? '').includes(zone.slice(-1)) && !spec.name.startsWith('a1.');
      expect(available).toBe(offered && onDemand !== undefined);
      if (onDemand === undefined) continue;
      expect(price).toBeCloseTo(capacity === 'spot' ? onDemand * spotPriceRatio : onDemand, 6);
    }
    expect(seen.size).toBe(spec.offerings.length);
  }
  expect(type('m5.large').offerings.filter(({ available }) => available)).toHaveLength(10);
});

test('first-generation Graviton is unavailable with AL2023 and available with the others', () => {
  const available = (name: string): number =>
    type('a1.large', family(name)).offerings.filter((offering) => offering.available).length;
  expect(type('a1.large').offerings.length).toBeGreaterThan(0);
  expect(available('AL2023')).toBe(0);
  expect(available('Bottlerocket')).toBe(6);
  expect(available('Custom')).toBe(6);
});

test('a reservation is an offering of its own: nearly free, counted, unavailable when expiring, without room when full', () => {
  const context = contextOf(family('AL2023'));
  const reservation = {
    id: 'cr-1',
    instanceType: 'm5.large',
    zone: 'us-east-1a',
    type: 'default',
    interruptible: false,
    state: 'active',
    available: 3,
  };
  const offeringOf = (change: object) => {
    const [spec] = instanceTypesFor([infoOf('m5.large')], {
      ...context,
      reservations: [{ ...reservation, ...change }],
    });
    return spec?.offerings.find(({ reservationCapacity }) => reservationCapacity !== undefined);
  };
  expect(offeringOf({})).toMatchObject({ available: true, reservationCapacity: 3, price: 0.096 / 10_000_000 });
  expect(offeringOf({})?.requirements).toContainEqual({
    key: awsLabel.capacityReservationId,
    operator: 'In',
    values: ['cr-1'],
  });
  expect(offeringOf({ available: 0 })).toMatchObject({ available: true, reservationCapacity: 0 });
  expect(offeringOf({ state: 'expiring' })?.available).toBe(false);
  expect(offeringOf({ zone: 'us-west-2a' })?.available).toBe(false);
});

test('a partition placement group clones every offering per partition', () => {
  const context = {
    ...contextOf(family('AL2023')),
    placementGroup: { id: 'pg-1', strategy: 'partition', partitions: 3 },
  };
  const info = { ...infoOf('m5.xlarge'), PlacementGroupInfo: { SupportedStrategies: ['partition'] } };
  const [spec] = instanceTypesFor([info], context);
  expect(spec?.offerings).toHaveLength(36);
  expect(spec && valueOf(spec, awsLabel.placementGroupPartition)).toEqual(['1', '2', '3']);
});

test('a region without prices starts from those of us-east-1; an unknown region is refused by name', async () => {
  const elsewhere = await builtInCatalogue({ region: 'eu-central-1' });
  const spec = elsewhere.instanceTypes().find(({ name }) => name === 'm5.large');
  expect(spec?.offerings[0]?.price).toBe(0.096);
  expect(spec && valueOf(spec, label.zone)).toContain('eu-central-1a');
  const unlisted = await builtInCatalogue({ region: 'sa-east-1', zones: ['sa-east-1a', 'sa-east-1c'] });
  expect(unlisted.zones).toEqual(['sa-east-1a', 'sa-east-1c']);
  await expect(builtInCatalogue({ region: 'mars-1' })).rejects.toThrow(/region mars-1.*us-east-1/);
});
