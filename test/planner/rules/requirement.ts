// Requirement algebra on plain sets of strings: a requirement is a set of values or the complement of one, with optional
// whole-number bounds and minValues. A set of requirements is a map by key.
import type { RequirementSpec } from '../../../src/core/index.ts';

export interface Requirement {
  key: string;
  /** True: every value but those in `values`. */
  complement: boolean;
  values: Set<string>;
  gte?: number;
  lte?: number;
  minValues?: number;
  /** Someone asked for the label to exist; later exclusions do not take that back. */
  present?: true;
}

export type Requirements = Map<string, Requirement>;

/** Old spellings of keys and values, replaced before anything looks at them. */
export interface Spelling {
  keys: Record<string, string>;
  values: Record<string, Record<string, string>>;
}

export const noSpelling: Spelling = { keys: {}, values: {} };

export function requirement(spec: RequirementSpec, spelling: Spelling = noSpelling): Requirement {
  const key = spelling.keys[spec.key] ?? spec.key;
  const values = (spec.values ?? []).map((value) => spelling.values[key]?.[value] ?? value);
  const minValues = spec.minValues === undefined ? {} : { minValues: spec.minValues };
  const bound = Number(values[0]);
  switch (spec.operator) {
    case 'In':
      return {
        key,
        complement: false,
        values: new Set(values),
        ...(values.length > 0 ? { present: true } : {}),
        ...minValues,
      };
    case 'NotIn':
      return { key, complement: true, values: new Set(values), ...minValues };
    case 'Exists':
      return { key, complement: true, values: new Set(), present: true, ...minValues };
    case 'DoesNotExist':
      return { key, complement: false, values: new Set(), ...minValues };
    case 'Gt':
      return { key, complement: true, values: new Set(), gte: bound + 1, present: true, ...minValues };
    case 'Lt':
      return { key, complement: true, values: new Set(), lte: bound - 1, present: true, ...minValues };
    case 'Gte':
      return { key, complement: true, values: new Set(), gte: bound, present: true, ...minValues };
    case 'Lte':
      return { key, complement: true, values: new Set(), lte: bound, present: true, ...minValues };
  }
}

export function oneOf(key: string, values: Iterable<string>): Requirement {
  return { key, complement: false, values: new Set(values), present: true };
}

function withinBounds(value: string, gte?: number, lte?: number): boolean {
  if (gte === undefined && lte === undefined) return true;
  if (!/^-?\d+$/.test(value)) return false;
  const number = Number(value);
  return (gte === undefined || number >= gte) && (lte === undefined || number <= lte);
}

export function has(r: Requirement, value: string): boolean {
  return r.values.has(value) !== r.complement && withinBounds(value, r.gte, r.lte);
}

function extreme(
  a: number | undefined,
  b: number | undefined,
  pick: (a: number, b: number) => number,
): number | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return pick(a, b);
}

export function intersection(a: Requirement, b: Requirement): Requirement {
  const gte = extreme(a.gte, b.gte, Math.max);
  const lte = extreme(a.lte, b.lte, Math.min);
  const most = extreme(a.minValues, b.minValues, Math.max);
  const minValues = {
    ...(most === undefined ? {} : { minValues: most }),
    ...(a.present || b.present ? { present: true as const } : {}),
  };
  if (gte !== undefined && lte !== undefined && gte > lte) {
    return { key: a.key, complement: false, values: new Set(), ...minValues };
  }
  if (a.complement && b.complement) {
    const excluded = [...a.values, ...b.values].filter((value) => withinBounds(value, gte, lte));
    return {
      key: a.key,
      complement: true,
      values: new Set(excluded),
      ...(gte === undefined ? {} : { gte }),
      ...(lte === undefined ? {} : { lte }),
      ...minValues,
    };
  }
  const [concrete, other] = a.complement ? [b, a] : [a, b];
  const values = [...concrete.values].filter((value) => has(other, value) && withinBounds(value, gte, lte));
  return { key: a.key, complement: false, values: new Set(values), ...minValues };
}

export function intersects(a: Requirement, b: Requirement): boolean {
  const both = intersection(a, b);
  return both.complement || both.values.size > 0;
}

export type EffectiveOperator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';

export function operatorOf(r: Requirement): EffectiveOperator {
  if (r.complement) return r.values.size > 0 ? 'NotIn' : 'Exists';
  return r.values.size > 0 ? 'In' : 'DoesNotExist';
}

export function requirements(specs: readonly RequirementSpec[], spelling: Spelling = noSpelling): Requirements {
  return merge(specs.map((spec) => requirement(spec, spelling)));
}

export function fromLabels(labels: Record<string, string>, spelling: Spelling = noSpelling): Requirements {
  return requirements(
    Object.entries(labels).map(([key, value]) => ({ key, operator: 'In', values: [value] })),
    spelling,
  );
}

function merge(list: Iterable<Requirement>): Requirements {
  const set: Requirements = new Map();
  for (const r of list) {
    const before = set.get(r.key);
    set.set(r.key, before === undefined ? r : intersection(before, r));
  }
  return set;
}

/** All requirements of all sets together. */
export function both(...sets: Requirements[]): Requirements {
  return merge(sets.flatMap((set) => [...set.values()]));
}

/** A key on which nothing is left although someone asked for a value. */
export function contradiction(set: Requirements): string | undefined {
  return [...set.values()].find((r) => r.present && operatorOf(r) === 'DoesNotExist')?.key;
}

export function get(set: Requirements, key: string): Requirement {
  return set.get(key) ?? { key, complement: true, values: new Set() };
}

/** May the label be missing? */
const absent = (r: Requirement): boolean =>
  !r.present && (operatorOf(r) === 'NotIn' || operatorOf(r) === 'DoesNotExist');

/** The first key on which the sets have nothing in common, undefined keys being free. */
export function conflict(existing: Requirements, incoming: Requirements): string | undefined {
  for (const [key, r] of incoming) {
    const other = existing.get(key);
    if (other === undefined || intersects(other, r)) continue;
    if (!(absent(other) && absent(r))) return key;
  }
  return undefined;
}

/** The key on which `incoming` cannot be met by something described by `existing`. */
export function incompatible(
  existing: Requirements,
  incoming: Requirements,
  mayBeUndefined: ReadonlySet<string>,
): string | undefined {
  for (const [key, r] of incoming) {
    if (!mayBeUndefined.has(key) && !existing.has(key) && !absent(r)) return key;
  }
  return conflict(existing, incoming);
}

/** True if every value `inner` allows is also allowed by `outer`. */
export function within(inner: Requirement, outer: Requirement): boolean {
  if (operatorOf(inner) === 'DoesNotExist') return absent(outer);
  if (!inner.complement) return [...inner.values].every((value) => has(outer, value));
  if (!outer.complement) return false;
  if (outer.gte !== undefined && (inner.gte === undefined || inner.gte < outer.gte)) return false;
  if (outer.lte !== undefined && (inner.lte === undefined || inner.lte > outer.lte)) return false;
  return [...outer.values].every((value) => !has(inner, value));
}

/** As a NodeClaim writes them: both bounds become two entries, one bound loses its exclusions. */
export function toSpecs(set: Requirements): RequirementSpec[] {
  return [...set.values()].flatMap((r): RequirementSpec[] => {
    const minValues = r.minValues === undefined ? {} : { minValues: r.minValues };
    const bounds: RequirementSpec[] = [];
    if (r.gte !== undefined) bounds.push({ key: r.key, operator: 'Gte', values: [String(r.gte)], ...minValues });
    if (r.lte !== undefined) bounds.push({ key: r.key, operator: 'Lte', values: [String(r.lte)], ...minValues });
    if (bounds.length > 0) return bounds;
    const values = [...r.values].sort();
    return [{ key: r.key, operator: operatorOf(r), ...(values.length > 0 ? { values } : {}), ...minValues }];
  });
}
