// DescribeSpotPriceHistory: one current Linux price per type and zone, a fixed share of on-demand unless a test set it.
import { type AwsAnswer, type AwsCall, ec2Answer } from '../exchange.ts';
import { formText, formTexts } from '../form.ts';
import type { World } from '../world.ts';
import { element } from '../xml.ts';
import { catalogue, defaultSpotPrice, zonesOf } from './catalogue.ts';
import { dryRunSucceeded, ec2Page, isDryRun, matchesFilters, readFilters } from './filters.ts';
import { tokenOf } from './instance-types.ts';

const product = 'Linux/UNIX';

/** Undefined: no spot market for the type in the zone. */
export function spotPrice(world: World, region: string, instanceType: string, zone: string): number | undefined {
  const key = `${instanceType}:${zone}`;
  if (world.spotPrices.has(key)) return world.spotPrices.get(key);
  if (!catalogue().types.get(instanceType)?.SupportedUsageClasses.includes('spot')) return undefined;
  return defaultSpotPrice(region, instanceType);
}

export async function describeSpotPriceHistory(call: AwsCall, world: World): Promise<AwsAnswer> {
  if (isDryRun(call)) throw dryRunSucceeded();
  const wantedTypes = formTexts(call.form, 'InstanceType');
  const wantedZone = formText(call.form, 'AvailabilityZone');
  const products = formTexts(call.form, 'ProductDescription');
  const filters = readFilters(call.form);
  const timestamp = new Date(world.now()).toISOString();
  const rows = [];
  for (const type of wantedTypes.length > 0 ? wantedTypes : catalogue().types.keys()) {
    for (const zone of zonesOf(call.region, type) ?? []) {
      const price = spotPrice(world, call.region, type, zone);
      if (price === undefined || (wantedZone !== undefined && wantedZone !== zone)) continue;
      if (products.length > 0 && !products.includes(product)) continue;
      const values: Record<string, string[]> = {
        'availability-zone': [zone],
        'instance-type': [type],
        'product-description': [product],
      };
      if (!matchesFilters(filters, (name) => values[name])) continue;
      rows.push(
        element('item', [
          element('availabilityZone', zone),
          element('instanceType', type),
          element('productDescription', product),
          element('spotPrice', price.toFixed(6)),
          element('timestamp', timestamp),
        ]),
      );
    }
  }
  const page = ec2Page(call, rows);
  return ec2Answer(call, [element('spotPriceHistorySet', page.items), tokenOf(page.nextToken)]);
}
