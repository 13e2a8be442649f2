// The figures that ship with the project (src/aws/data), read on first use and kept.
import type { InstanceTypeContext } from './context.ts';
import type { InstanceTypeInfo } from './instance-type-info.ts';

/** The region whose prices stand in for regions without a table of their own. */
export const defaultRegion = 'us-east-1';

export interface BuiltInTables {
  infos: InstanceTypeInfo[];
  zoneLetters: Record<string, Record<string, string>>;
  onDemand: Record<string, Record<string, number>>;
  eniLimits: InstanceTypeContext['eniLimits'];
  bandwidthMbps: Record<string, number>;
}

let tables: Promise<BuiltInTables> | undefined;

export function builtInTables(): Promise<BuiltInTables> {
  tables ??= read();
  return tables;
}

/** On-demand prices of a region, or of the one that stands in for it. */
export function builtInPrices({ onDemand }: BuiltInTables, region: string): Readonly<Record<string, number>> {
  return onDemand[region] ?? onDemand[defaultRegion] ?? {};
}

async function read(): Promise<BuiltInTables> {
  const [infos, zones, prices, limits, bandwidth] = await Promise.all([
    import('../data/instance-types.json', { with: { type: 'json' } }),
    import('../data/zone-offerings.json', { with: { type: 'json' } }),
    import('../data/on-demand-prices.json', { with: { type: 'json' } }),
    import('../data/eni-limits.json', { with: { type: 'json' } }),
    import('../data/bandwidth.json', { with: { type: 'json' } }),
  ]);
  return {
    infos: infos.default,
    zoneLetters: zones.default,
    onDemand: prices.default,
    eniLimits: limits.default,
    bandwidthMbps: bandwidth.default,
  };
}
