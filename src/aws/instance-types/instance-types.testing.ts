// Instance types for tests, one at a time: building the whole catalogue for every assertion would take seconds.
import { formatQuantity, parseQuantity, quantityIn } from '../../base/index.ts';
import type { InstanceTypeSpec } from '../../core/index.ts';
import bandwidthTable from '../data/bandwidth.json' with { type: 'json' };
import limitsTable from '../data/eni-limits.json' with { type: 'json' };
import infoTable from '../data/instance-types.json' with { type: 'json' };
import priceTable from '../data/on-demand-prices.json' with { type: 'json' };
import zoneTable from '../data/zone-offerings.json' with { type: 'json' };
import type { InstanceTypeContext } from './context.ts';
import type { InstanceTypeInfo } from './instance-type-info.ts';
import { instanceTypesFor } from './instance-types.ts';
import { type NodeClassShape, readNodeClass } from './node-class.ts';

export const infos = infoTable as InstanceTypeInfo[];
export const limits: Record<string, { ipv4: number; branch: number }> = limitsTable;
export const bandwidth: Record<string, number> = bandwidthTable;
export const prices: Record<string, number> = priceTable['us-east-1'];
export const zoneLetters: Record<string, string> = zoneTable['us-east-1'];

export const family = (amiFamily: string, rest: NodeClassShape['spec'] = {}): NodeClassShape => ({
  spec: { amiFamily, ...rest },
});

export function infoOf(name: string): InstanceTypeInfo {
  const info = infos.find((one) => one.InstanceType === name);
  if (info === undefined) throw new Error(`${name} is not in the table`);
  return info;
}

/** The context of a class in us-east-1, with every zone unless its status says otherwise. */
export function contextOf(nodeClass: NodeClassShape): InstanceTypeContext {
  const zones = [...'abcdef'].map((letter) => `us-east-1${letter}`);
  const zonesOfType: Record<string, string[]> = {};
  for (const [name, letters] of Object.entries(zoneLetters)) {
    zonesOfType[name] = [...letters].map((letter) => `us-east-1${letter}`);
  }
  return {
    region: 'us-east-1',
    zones,
    zonesOfType,
    ...readNodeClass(nodeClass, zones),
    vmMemoryOverhead: 0.075,
    reservedEnis: 0,
    prices: { onDemand: (name) => prices[name], spot: (name) => prices[name] },
    bandwidthMbps: bandwidth,
    eniLimits: limits,
  };
}

/** One type of the table as a class sees it. */
export function type(
  name: string,
  nodeClass: NodeClassShape = family('AL2023'),
  change: Partial<InstanceTypeContext> = {},
): InstanceTypeSpec {
  const [spec] = instanceTypesFor([infoOf(name)], { ...contextOf(nodeClass), ...change });
  if (spec === undefined) throw new Error('one type in, one type out');
  return spec;
}

/** The one value of a label, several as a list, undefined for DoesNotExist. */
export function valueOf(spec: InstanceTypeSpec, key: string): string | string[] | undefined {
  const requirement = spec.requirements.find((one) => one.key === key);
  if (requirement?.operator === 'DoesNotExist') return undefined;
  return requirement?.values?.length === 1 ? requirement.values[0] : requirement?.values;
}

/** Sum of the three overheads. */
export function total(spec: InstanceTypeSpec, resource: string): string {
  let sum = 0;
  for (const part of Object.values(spec.overhead ?? {})) {
    sum += quantityIn('milli', parseQuantity((part as Record<string, string>)[resource] ?? '0'));
  }
  return formatQuantity({ nano: BigInt(sum) * 1_000_000n, format: resource === 'cpu' ? 'DecimalSI' : 'BinarySI' });
}

export function allocatable(spec: InstanceTypeSpec, resource: string): string {
  const capacity = parseQuantity(spec.capacity[resource] ?? '0');
  const overhead = parseQuantity(total(spec, resource));
  return formatQuantity({ nano: capacity.nano - overhead.nano, format: capacity.format });
}
