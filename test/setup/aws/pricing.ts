// Pricing GetProducts, a service moto does not have: on-demand Linux prices from the project's own table, as the strings
// of JSON that the real one sends.

import { catalogue, onDemandPrice, zonesOf } from './ec2/catalogue.ts';
import { pageOf } from './ec2/filters.ts';
import { type AwsAnswer, type AwsCall, type Handler, jsonAnswer } from './exchange.ts';
import type { World } from './world.ts';

interface PriceFilter {
  Field: string;
  Type: string;
  Value: string;
}

async function getProducts(call: AwsCall): Promise<AwsAnswer> {
  const filters = (call.json['Filters'] ?? []) as PriceFilter[];
  const valueOf = (field: string): string | undefined => filters.find(({ Field }) => Field === field)?.Value;
  const region = valueOf('regionCode') ?? 'us-east-1';
  const products = [...catalogue().types.values()]
    .filter(({ InstanceType }) => zonesOf(region, InstanceType)?.length !== 0)
    .map(({ InstanceType, BareMetal, VCpuInfo }) => attributesOf(region, InstanceType, BareMetal === true, VCpuInfo))
    .filter((attributes) => filters.every(({ Field, Value }) => attributes[Field] === Value))
    .map((attributes) => product(region, attributes))
    .filter((text) => text !== undefined);
  const text = (name: string): string | undefined =>
    call.json[name] === undefined ? undefined : String(call.json[name]);
  const page = pageOf(products, text('MaxResults'), text('NextToken'), 100);
  return jsonAnswer({ FormatVersion: 'aws_v1', PriceList: page.items, NextToken: page.nextToken });
}

type Attributes = Record<string, string>;

function attributesOf(
  region: string,
  instanceType: string,
  bareMetal: boolean,
  vcpu: { DefaultVCpus: number },
): Attributes {
  return {
    regionCode: region,
    servicecode: 'AmazonEC2',
    serviceCode: 'AmazonEC2',
    instanceType,
    vcpu: String(vcpu.DefaultVCpus),
    preInstalledSw: 'NA',
    operatingSystem: 'Linux',
    capacitystatus: 'Used',
    marketoption: 'OnDemand',
    tenancy: bareMetal ? 'Dedicated' : 'Shared',
    productFamily: bareMetal ? 'Compute Instance (bare metal)' : 'Compute Instance',
  };
}

function product(region: string, attributes: Attributes): string | undefined {
  const price = onDemandPrice(region, attributes['instanceType'] ?? '');
  if (price === undefined) return undefined;
  const { productFamily, ...rest } = attributes;
  const currency = region.startsWith('cn-') ? 'CNY' : 'USD';
  const sku = `SKU${attributes['instanceType']}`;
  const dimension = { unit: 'Hrs', beginRange: '0', endRange: 'Inf', pricePerUnit: { [currency]: price.toFixed(10) } };
  return JSON.stringify({
    product: { productFamily, attributes: rest, sku },
    serviceCode: 'AmazonEC2',
    terms: {
      OnDemand: { [`${sku}.JRTCKXETXF`]: { sku, priceDimensions: { [`${sku}.JRTCKXETXF.6YS6EN2CT7`]: dimension } } },
    },
  });
}

export const pricingHandlers: Record<string, Handler<World>> = { GetProducts: getProducts };
