import { setImmediate as settle } from 'node:timers/promises';
import type { PricingClient } from '@aws-sdk/client-pricing';
import { beforeEach, describe, expect, test } from 'vitest';
import { VirtualClock } from '../../base/index.ts';
import { recordedLog } from '../../controllers/testing/records.testing.ts';
import { awsRefusal, type Fake, fakeEc2, fakePricing } from '../fake-client.testing.ts';
import { builtInTables } from '../instance-types/built-in-tables.ts';
import { Pricing, type PricingOptions } from './pricing.ts';

const tables = await builtInTables();

const product = (instanceType: string, price: string, currency = 'USD'): string =>
  JSON.stringify({
    product: { attributes: { instanceType } },
    terms: { OnDemand: { term: { priceDimensions: { dimension: { pricePerUnit: { [currency]: price } } } } } },
  });
const spot = (InstanceType: string, AvailabilityZone: string, SpotPrice: string) => ({
  InstanceType,
  AvailabilityZone,
  SpotPrice,
  Timestamp: new Date(0),
});

type Filters = { Filters: { Field: string; Value: string }[]; NextToken?: string };

let virtual: string[][];
let metal: string[][];
let spotPrices: object[];
let pricingApi: Fake<PricingClient>;
let ec2: ReturnType<typeof fakeEc2>;

beforeEach(() => {
  virtual = [[product('m5.large', '0.1')]];
  metal = [[product('m5.metal', '5')]];
  spotPrices = [spot('m5.large', 'us-east-1a', '0.03')];
  pricingApi = fakePricing({
    GetProducts: ({ Filters, NextToken }: Filters) => {
      const isMetal = Filters.some(({ Value }) => Value.includes('bare metal'));
      const pages = isMetal ? metal : virtual;
      const page = Number(NextToken ?? 0);
      return { PriceList: pages[page], ...(page + 1 < pages.length ? { NextToken: String(page + 1) } : {}) };
    },
  });
  ec2 = fakeEc2({ DescribeSpotPriceHistory: () => ({ SpotPriceHistory: spotPrices }) });
});

const pricing = (change: Partial<PricingOptions> = {}): Pricing =>
  new Pricing({
    ec2: ec2.client,
    pricing: pricingApi.client,
    clock: new VirtualClock({ settle }),
    log: recordedLog(),
    region: 'us-east-1',
    isolatedVpc: false,
    tables,
    ...change,
  });

describe('before AWS was asked', () => {
  test.each([
    ['us-east-1', 'us-east-1'],
    ['us-gov-west-1', 'us-gov-west-1'],
    ['us-gov-east-1', 'us-gov-east-1'],
    ['cn-north-1', 'cn-north-1'],
    ['eu-west-1', 'us-east-1'],
  ])('prices of %s are those of the table of %s, exactly, spot too', (region, table) => {
    const prices = pricing({ region });
    const expected = Object.entries(tables.onDemand[table] ?? {});
    expect(expected.length).toBeGreaterThan(300);
    for (const [type, price] of expected) {
      expect(prices.onDemand(type)).toBe(price);
      expect(prices.spot(type, `${region}a`)).toBe(price);
    }
    expect(prices.version).toBe(0);
  });
});

describe('what AWS says', () => {
  test('is laid over the table, over all pages; types it does not list keep their price', async () => {
    virtual = [[product('m5.large', '0.2')], [product('new.large', '0.3'), product('free.large', '0.0000000000')], []];
    const prices = pricing();
    const before = prices.onDemand('c5.large');
    await prices.refresh();
    expect(prices.onDemand('m5.large')).toBe(0.2);
    expect(prices.onDemand('new.large')).toBe(0.3);
    expect(prices.onDemand('m5.metal')).toBe(5);
    expect(prices.onDemand('free.large')).toBeUndefined();
    expect(prices.onDemand('c5.large')).toBe(before);
    virtual = [[product('new.large', '0.4')]];
    await prices.refresh();
    expect([prices.onDemand('m5.large'), prices.onDemand('new.large')]).toEqual([0.2, 0.4]);
  });

  test('is asked for with the filters of on-demand Linux machines of the region', async () => {
    await pricing().refresh();
    const [shared] = pricingApi.inputs<{ ServiceCode: string; MaxResults: number } & Filters>('GetProducts');
    expect(shared).toMatchObject({ ServiceCode: 'AmazonEC2', MaxResults: 100 });
    expect(Object.fromEntries(shared?.Filters.map(({ Field, Value }) => [Field, Value]) ?? [])).toEqual({
      regionCode: 'us-east-1',
      serviceCode: 'AmazonEC2',
      preInstalledSw: 'NA',
      operatingSystem: 'Linux',
      capacitystatus: 'Used',
      marketoption: 'OnDemand',
      tenancy: 'Shared',
      productFamily: 'Compute Instance',
    });
    expect(ec2.inputs('DescribeSpotPriceHistory')[0]).toMatchObject({
      ProductDescriptions: ['Linux/UNIX', 'Linux/UNIX (Amazon VPC)'],
      MaxResults: 2000,
      StartTime: expect.any(Date) as Date,
    });
  });

  test('in China is in CNY', async () => {
    virtual = [[product('m5.large', '0.7', 'CNY')]];
    metal = [[product('m5.metal', '30', 'CNY')]];
    const prices = pricing({ region: 'cn-north-1' });
    await prices.refresh();
    expect(prices.onDemand('m5.large')).toBe(0.7);
  });

  test('about spot leaves a zone it does not mention without a price, and keeps what it said before', async () => {
    const prices = pricing();
    await prices.refresh();
    expect(prices.spot('m5.large', 'us-east-1a')).toBe(0.03);
    expect(prices.spot('m5.large', 'us-east-1b')).toBeUndefined();
    expect(prices.spot('c5.large', 'us-east-1a')).toBeUndefined();
    spotPrices = [
      spot('c5.large', 'us-east-1a', '0.02'),
      { ...spot('c5.large', 'us-east-1b', '0.01'), Timestamp: undefined },
      spot('c5.large', 'us-east-1c', 'unreadable'),
    ];
    await prices.refresh();
    expect(prices.spot('m5.large', 'us-east-1a')).toBe(0.03);
    expect(['a', 'b', 'c'].map((zone) => prices.spot('c5.large', `us-east-1${zone}`))).toEqual([
      0.02,
      undefined,
      undefined,
    ]);
  });

  test('that is the same as before changes nothing: the version stays', async () => {
    const prices = pricing();
    await prices.refresh();
    const { version } = prices;
    await prices.refresh();
    expect(prices.version).toBe(version);
  });
});

describe('when AWS does not say', () => {
  test('on-demand prices stay, and spot is brought up to date all the same', async () => {
    pricingApi.answers['GetProducts'] = () => {
      throw awsRefusal('AccessDenied');
    };
    const prices = pricing();
    await expect(prices.refresh()).rejects.toThrow('AccessDenied');
    expect(prices.onDemand('c3.2xlarge')).toBe(0.42);
    expect(prices.spot('m5.large', 'us-east-1a')).toBe(0.03);
  });

  test('one empty family is not an answer: everything stays', async () => {
    metal = [[]];
    const prices = pricing();
    await expect(prices.refresh()).rejects.toThrow('bare metal');
    expect(prices.onDemand('m5.large')).toBe(0.096);
  });

  test('no spot prices keep the old ones', async () => {
    spotPrices = [];
    const prices = pricing();
    await expect(prices.refresh()).rejects.toThrow('no spot prices');
    // The built-in price, also where the on-demand price is known to be another by now.
    expect(prices.onDemand('m5.large')).toBe(0.1);
    expect(prices.spot('m5.large', 'us-east-1b')).toBe(0.096);
  });

  test('an isolated VPC keeps the table for on-demand and updates spot; GovCloud asks nothing of Pricing', async () => {
    const isolated = pricing({ isolatedVpc: true });
    await isolated.refresh();
    expect(isolated.onDemand('c3.2xlarge')).toBe(0.42);
    expect(isolated.spot('m5.large', 'us-east-1a')).toBe(0.03);
    await pricing({ region: 'us-gov-west-1' }).refresh();
    expect(pricingApi.calls).toEqual([]);
  });
});
