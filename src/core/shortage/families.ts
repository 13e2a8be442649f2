// What failures of some sizes say about others. Sizes of one family are cut from the same hosts: where three sizes have
// just failed, a larger one will fail too. Smaller ones may well be there, and other zones, families and capacity types
// say nothing about each other.

export interface OfferingName {
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: string;
}

/** So many sizes of a family must have failed in one zone before others are suspected. */
const enoughSizes = 3;

const ec2Sizes = ['nano', 'micro', 'small', 'medium', 'large', 'xlarge'];

interface FamilyAndSize {
  family: string;
  size: number;
}

/** Read once per name: one failed call names hundreds. */
const read = new Map<string, FamilyAndSize | undefined>();
const mostRead = 10_000;

/** `m5.2xlarge` is of family `m5`, `c-4x-amd64-linux` of `c-amd64-linux`; undefined for names that say neither. */
export function familyAndSize(instanceType: string): FamilyAndSize | undefined {
  if (read.has(instanceType)) return read.get(instanceType);
  const found = readName(instanceType);
  if (read.size < mostRead) read.set(instanceType, found);
  return found;
}

function readName(instanceType: string): FamilyAndSize | undefined {
  const simulated = /^([a-z]+)-(\d+)x-(.+)$/.exec(instanceType);
  if (simulated !== null) return { family: `${simulated[1]}-${simulated[3]}`, size: Number(simulated[2]) };
  const dot = instanceType.indexOf('.');
  if (dot <= 0) return undefined;
  const family = instanceType.slice(0, dot);
  const name = instanceType.slice(dot + 1);
  const fixed = ec2Sizes.indexOf(name);
  if (fixed >= 0) return { family, size: fixed };
  const [, times] = /^(\d+)xlarge$/.exec(name) ?? [];
  if (times !== undefined) return { family, size: ec2Sizes.length + Number(times) };
  return name.startsWith('metal') ? { family, size: Number.POSITIVE_INFINITY } : undefined;
}

/** Family, zone and capacity type in one text; undefined for names without a family. */
export function familyPlace({ instanceType, zone, capacityType }: OfferingName): string | undefined {
  const family = familyAndSize(instanceType)?.family;
  return family === undefined ? undefined : `${capacityType}:${family}:${zone}`;
}

/** Of `siblings` (type names) those that `failed`, which holds offerings of one family and place, makes suspicious. */
export function suspectedSizes(failed: readonly OfferingName[], siblings: readonly string[]): string[] {
  const sizes = failed.flatMap(({ instanceType }) => familyAndSize(instanceType)?.size ?? []).sort((a, b) => a - b);
  const least = sizes[enoughSizes - 1];
  if (least === undefined) return [];
  const known = new Set(failed.map(({ instanceType }) => instanceType));
  return siblings.filter((name) => !known.has(name) && (familyAndSize(name)?.size ?? -1) > least);
}
