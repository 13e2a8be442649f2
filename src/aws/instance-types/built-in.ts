// The catalogue that needs no AWS account: the types, zones and prices that ship with the project, for one node class.
// A second class costs only its own arithmetic.
import { KerfError } from '../../base/index.ts';
import type { InstanceTypeSpec } from '../../core/index.ts';
import { builtInPrices, builtInTables, defaultRegion } from './built-in-tables.ts';
import type { Prices } from './context.ts';
import { instanceTypesFor } from './instance-types.ts';
import { type NodeClassShape, readNodeClass } from './node-class.ts';

/**
 * Spot prices move by the hour and by zone, and none ship with the project. The estimate is the simulated provider's
 * ratio, the same in every zone: cautious, as real discounts are mostly larger.
 */
export const spotPriceRatio = 0.7;

/** Default of the setting `vmMemoryOverheadPercent`. */
export const defaultVmMemoryOverhead = 0.075;

export interface BuiltInCatalogue {
  region: string;
  zones: string[];
  /** Figures of another region that stand in for those of this one; for people. */
  standIns: string[];
  instanceTypes(nodeClass?: NodeClassShape): InstanceTypeSpec[];
}

export interface BuiltInOptions {
  region?: string;
  /** Zones known to exist; they stand in for a region the tables lack, with every type offered in each. */
  zones?: readonly string[];
  vmMemoryOverhead?: number;
  reservedEnis?: number;
  /** Instead of the built-in ones. */
  prices?: Prices;
}

/** Types that EC2 offers in the region, with zones, on-demand prices and estimated spot prices. */
export async function builtInCatalogue(options: BuiltInOptions = {}): Promise<BuiltInCatalogue> {
  const tables = await builtInTables();
  const { infos, zoneLetters, eniLimits, bandwidthMbps } = tables;
  const region = options.region ?? defaultRegion;
  const letters = zoneLetters[region] ?? lettersFor(region, options.zones ?? [], zoneLetters[defaultRegion] ?? {});
  if (letters === undefined) {
    throw new KerfError(
      'RegionUnknown',
      `no built-in EC2 figures for region ${region}: use one of ${Object.keys(zoneLetters).join(', ')}, or name its zones with --zones`,
    );
  }
  const offered = infos.filter(({ InstanceType }) => InstanceType in letters);
  const zonesOfType: Record<string, string[]> = {};
  for (const { InstanceType } of offered) {
    zonesOfType[InstanceType] = [...(letters[InstanceType] ?? '')].map((letter) => `${region}${letter}`);
  }
  const zones = [...new Set(Object.values(zonesOfType).flat())].sort();
  const place = {
    region,
    zones,
    zonesOfType,
    prices: options.prices ?? pricesOf(builtInPrices(tables, region)),
    eniLimits,
    bandwidthMbps,
  };
  return {
    region,
    zones,
    standIns: [
      ...(region in zoneLetters
        ? []
        : [`no built-in offerings of ${region}: every type of ${defaultRegion} counts as offered`]),
      ...(options.prices !== undefined || region in tables.onDemand
        ? []
        : [`no built-in prices of ${region}: those of ${defaultRegion} stand in; --live-prices asks AWS`]),
    ],
    instanceTypes: (nodeClass) =>
      instanceTypesFor(offered, {
        ...place,
        ...readNodeClass(nodeClass, zones),
        vmMemoryOverhead: options.vmMemoryOverhead ?? defaultVmMemoryOverhead,
        reservedEnis: options.reservedEnis ?? 0,
        devices: { nvidia: true, efa: true },
      }),
  };
}

/** A region without figures: the types of the default region, in the zones that are known to be there. */
function lettersFor(
  region: string,
  zones: readonly string[],
  types: Record<string, string>,
): Record<string, string> | undefined {
  const letters = zones.filter((zone) => zone.startsWith(region)).map((zone) => zone.slice(region.length));
  if (letters.length === 0) return undefined;
  return Object.fromEntries(Object.keys(types).map((type) => [type, letters.join('')]));
}

function pricesOf(table: Readonly<Record<string, number>>): Prices {
  return {
    onDemand: (type) => table[type],
    spot: (type) => {
      const price = table[type];
      return price === undefined ? undefined : Number((price * spotPriceRatio).toFixed(6));
    },
  };
}
