// The project's own EC2 figures (src/aws/data), read once: instance types, the zones that offer them, prices.
import { readFileSync } from 'node:fs';

export interface TypeFigures {
  InstanceType: string;
  Hypervisor?: string;
  BareMetal?: boolean;
  SupportedUsageClasses: string[];
  ProcessorInfo: { SupportedArchitectures: string[] };
  VCpuInfo: { DefaultVCpus: number };
  NetworkInfo: object;
}

interface Catalogue {
  types: Map<string, TypeFigures>;
  /** Region → type → letters of its zones. */
  zoneLetters: Record<string, Record<string, string>>;
  /** Region → type → price per hour. */
  onDemand: Record<string, Record<string, number>>;
}

/** Spot costs this share of on-demand unless a test says otherwise. */
const spotShare = 0.4;
const pricedRegion = 'us-east-1';

let loaded: Catalogue | undefined;

export function catalogue(): Catalogue {
  loaded ??= {
    types: new Map(read<TypeFigures[]>('instance-types').map((figures) => [figures.InstanceType, figures])),
    zoneLetters: read('zone-offerings'),
    onDemand: read('on-demand-prices'),
  };
  return loaded;
}

/** Undefined for a region whose offerings we do not hold. */
export function zonesOf(region: string, instanceType: string): string[] | undefined {
  const letters = catalogue().zoneLetters[region];
  if (letters === undefined) return undefined;
  return [...(letters[instanceType] ?? '')].map((letter) => `${region}${letter}`);
}

export function onDemandPrice(region: string, instanceType: string): number | undefined {
  const { onDemand } = catalogue();
  return (onDemand[region] ?? onDemand[pricedRegion])?.[instanceType];
}

export function defaultSpotPrice(region: string, instanceType: string): number | undefined {
  const price = onDemandPrice(region, instanceType);
  return price === undefined ? undefined : Number((price * spotShare).toFixed(6));
}

function read<T>(name: string): T {
  const file = new URL(`../../../../src/aws/data/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')) as T;
}
