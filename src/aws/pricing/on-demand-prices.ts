// On-demand prices as the Pricing service lists them: products are JSON texts with terms inside terms. Virtual machines
// and bare metal are two product families; a list without either is not a list.
import { GetProductsCommand, type PricingClient } from '@aws-sdk/client-pricing';
import { KerfError } from '../../base/index.ts';
import { allPages } from '../paging.ts';

const serviceCode = 'AmazonEC2';
const pageSize = 100;

const commonFields: Readonly<Record<string, string>> = {
  serviceCode,
  preInstalledSw: 'NA',
  operatingSystem: 'Linux',
  capacitystatus: 'Used',
  marketoption: 'OnDemand',
};

/** Bare metal is sold dedicated only. */
const families = [
  { tenancy: 'Shared', productFamily: 'Compute Instance' },
  { tenancy: 'Dedicated', productFamily: 'Compute Instance (bare metal)' },
];

interface Product {
  product?: { attributes?: { instanceType?: string } };
  terms?: {
    OnDemand?: Record<string, { priceDimensions?: Record<string, { pricePerUnit?: Record<string, string> }> }>;
  };
}

/** By instance type, in the region's currency. Fails when a family is missing. */
export async function onDemandPrices(pricing: PricingClient, region: string): Promise<Map<string, number>> {
  const lists = await Promise.all(families.map((family) => pricesOfFamily(pricing, region, family)));
  return new Map(lists.flatMap((list) => [...list]));
}

async function pricesOfFamily(
  pricing: PricingClient,
  region: string,
  family: Readonly<Record<string, string>>,
): Promise<Map<string, number>> {
  const fields = { regionCode: region, ...commonFields, ...family };
  const Filters = Object.entries(fields).map(([Field, Value]) => ({ Type: 'TERM_MATCH' as const, Field, Value }));
  const currency = region.startsWith('cn-') ? 'CNY' : 'USD';
  const prices = new Map<string, number>();
  const pages = allPages((next) =>
    pricing.send(new GetProductsCommand({ ServiceCode: serviceCode, Filters, MaxResults: pageSize, ...next })),
  );
  for await (const { PriceList = [] } of pages) {
    for (const text of PriceList) {
      const { product, terms } = readProduct(text);
      const type = product?.attributes?.instanceType;
      const price = priceOf(terms, currency);
      if (type !== undefined && price !== undefined) prices.set(type, price);
    }
  }
  if (prices.size === 0) {
    throw new KerfError('NoOnDemandPrices', `no on-demand prices for ${family['productFamily']} in ${region}`, {
      retryable: true,
    });
  }
  return prices;
}

/** The SDK hands out texts, or objects that turn into the text. */
function readProduct(text: unknown): Product {
  try {
    return JSON.parse(String(text)) as Product;
  } catch {
    return {};
  }
}

function priceOf(terms: Product['terms'], currency: string): number | undefined {
  for (const { priceDimensions = {} } of Object.values(terms?.OnDemand ?? {})) {
    for (const { pricePerUnit = {} } of Object.values(priceDimensions)) {
      const price = Number.parseFloat(pricePerUnit[currency] ?? '');
      // Free offers and reservations are listed at zero; they are not prices.
      if (Number.isFinite(price) && price !== 0) return price;
    }
  }
  return undefined;
}
