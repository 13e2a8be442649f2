// One label requirement: the set of values a node may have for one key. In, NotIn, Exists, DoesNotExist and the integer
// comparisons are all one form: a set of values or its complement, optional inclusive integer bounds, and the number of
// distinct values to stay flexible over (minValues). Requirements never change; operations make new ones.
//
// Rules matched (Karpenter 1.14): bounds exclude values that are not integers; a concrete set drops its bounds after
// intersecting; the larger minValues wins.

import type { Operator, RequirementSpec } from '../snapshot.ts';

export interface Requirement {
  readonly key: string;
  /** True when `values` are the excluded ones. */
  readonly complement: boolean;
  /** Sorted, without duplicates. */
  readonly values: readonly string[];
  readonly gte: number | undefined;
  readonly lte: number | undefined;
  readonly minValues: number | undefined;
}

/** The largest integer a bound can be; nothing is greater. */
const maxInteger = 9_223_372_036_854_775_807n;

const none: readonly string[] = [];

export function requirementOf(
  key: string,
  operator: Operator,
  values: readonly string[] = none,
  minValues?: number,
): Requirement {
  const bound = (offset: number): number => (integerOf(values[0] ?? '') ?? 0) + offset;
  switch (operator) {
    case 'In':
      return { key, complement: false, values: sorted(values), gte: undefined, lte: undefined, minValues };
    case 'NotIn':
      return { key, complement: true, values: sorted(values), gte: undefined, lte: undefined, minValues };
    case 'Exists':
      return { key, complement: true, values: none, gte: undefined, lte: undefined, minValues };
    case 'DoesNotExist':
      return { key, complement: false, values: none, gte: undefined, lte: undefined, minValues };
    case 'Gt':
      // Nothing exceeds the largest integer, and there the flexibility is forgotten too.
      if (isLargestInteger(values[0] ?? '')) return requirementOf(key, 'DoesNotExist');
      return { key, complement: true, values: none, gte: bound(1), lte: undefined, minValues };
    case 'Lt':
      return { key, complement: true, values: none, gte: undefined, lte: bound(-1), minValues };
    case 'Gte':
      return { key, complement: true, values: none, gte: bound(0), lte: undefined, minValues };
    case 'Lte':
      return { key, complement: true, values: none, gte: undefined, lte: bound(0), minValues };
    default:
      // Raw objects can name an operator there is not; nothing satisfies it, and validation says so.
      return requirementOf(key, 'DoesNotExist');
  }
}

export function allows(requirement: Requirement, value: string): boolean {
  return contains(requirement.values, value) !== requirement.complement && withinBounds(requirement, value);
}

export function intersection(left: Requirement, right: Requirement): Requirement {
  const gte = greater(left.gte, right.gte);
  const lte = lesser(left.lte, right.lte);
  const minValues = greater(left.minValues, right.minValues);
  const { key } = left;
  if (gte !== undefined && lte !== undefined && gte > lte) {
    return { key, complement: false, values: none, gte: undefined, lte: undefined, minValues };
  }
  const bounds = { gte, lte };
  const complement = left.complement && right.complement;
  const values = combine(left, right).filter((value) => withinBounds(bounds, value));
  return complement
    ? { key, complement, values, gte, lte, minValues }
    : { key, complement, values, gte: undefined, lte: undefined, minValues };
}

/** Whether some value satisfies both; two complements with consistent bounds always do. */
export function intersects(left: Requirement, right: Requirement): boolean {
  const gte = greater(left.gte, right.gte);
  const lte = lesser(left.lte, right.lte);
  if (gte !== undefined && lte !== undefined && gte > lte) return false;
  if (left.complement && right.complement) return true;
  const bounds = { gte, lte };
  const [concrete, other] = left.complement ? [right, left] : [left, right];
  for (const value of concrete.values) {
    if (contains(other.values, value) !== other.complement && withinBounds(bounds, value)) return true;
  }
  return false;
}

/** What the requirement amounts to, whatever it was written as. Bounded requirements count as Exists. */
export function operatorOf(requirement: Requirement): 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' {
  const some = requirement.values.length > 0;
  if (requirement.complement) return some ? 'NotIn' : 'Exists';
  return some ? 'In' : 'DoesNotExist';
}

/** True for the two operators that a node without the label satisfies. */
export function acceptsAbsence(requirement: Requirement): boolean {
  const operator = operatorOf(requirement);
  return operator === 'NotIn' || operator === 'DoesNotExist';
}

/** The requirement as a manifest writes it: two entries when bounded on both sides; Gt and Lt never reappear. */
export function toSpecs(requirement: Requirement): RequirementSpec[] {
  const { key, gte, lte, minValues, values } = requirement;
  const spec = (operator: Operator, listed?: readonly string[]): RequirementSpec => ({
    key,
    operator,
    ...(listed ? { values: [...listed] } : {}),
    ...(minValues === undefined ? {} : { minValues }),
  });
  if (gte !== undefined || lte !== undefined) {
    return [
      ...(gte === undefined ? [] : [spec('Gte', [String(gte)])]),
      ...(lte === undefined ? [] : [spec('Lte', [String(lte)])]),
    ];
  }
  const operator = operatorOf(requirement);
  return [operator === 'In' || operator === 'NotIn' ? spec(operator, values) : spec(operator)];
}

/** The most values printed before the rest is only counted. */
const printedValues = 5;

export function describeRequirement(requirement: Requirement): string {
  const { key, values, gte, lte, minValues } = requirement;
  const operator = operatorOf(requirement);
  let text = `${key} ${operator}`;
  if (values.length > printedValues) {
    text += ` [${values.slice(0, printedValues).join(' ')} and ${values.length - printedValues} others]`;
  } else if (values.length > 0) {
    text += ` [${values.join(' ')}]`;
  }
  if (gte !== undefined) text += ` >=${gte}`;
  if (lte !== undefined) text += ` <=${lte}`;
  if (minValues !== undefined) text += ` minValues ${minValues}`;
  return text;
}

/** Text that is equal exactly when the requirements are. */
export function identityOf(requirement: Requirement): string {
  const { key, complement, values, gte, lte, minValues } = requirement;
  return `${key}${complement ? '!' : '='}${values.join('\u001f')}|${gte ?? ''}|${lte ?? ''}|${minValues ?? ''}`;
}

function combine(left: Requirement, right: Requirement): readonly string[] {
  if (left.complement && right.complement) {
    return right.values.length === 0 ? left.values : sorted([...left.values, ...right.values]);
  }
  if (left.complement) return right.values.filter((value) => !contains(left.values, value));
  if (right.complement) return left.values.filter((value) => !contains(right.values, value));
  return left.values.filter((value) => contains(right.values, value));
}

function withinBounds(bounds: { gte: number | undefined; lte: number | undefined }, value: string): boolean {
  if (bounds.gte === undefined && bounds.lte === undefined) return true;
  const number = integerOf(value);
  if (number === undefined) return false;
  return (bounds.gte === undefined || number >= bounds.gte) && (bounds.lte === undefined || number <= bounds.lte);
}

/** Short lists are scanned, long ones (thousands of instance types) searched. */
function contains(values: readonly string[], value: string): boolean {
  if (values.length < 16) return values.includes(value);
  let low = 0;
  let high = values.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = values[middle] as string;
    if (found === value) return true;
    if (found < value) low = middle + 1;
    else high = middle - 1;
  }
  return false;
}

function sorted(values: readonly string[]): readonly string[] {
  return values.length < 2 ? [...values] : [...new Set(values)].sort();
}

export function integerOf(text: string): number | undefined {
  return /^[+-]?\d+$/.test(text) ? Number(text) : undefined;
}

function isLargestInteger(text: string): boolean {
  return /^\+?\d+$/.test(text) && BigInt(text) >= maxInteger;
}

function greater(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined || (right !== undefined && right > left) ? right : left;
}

function lesser(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined || (right !== undefined && right < left) ? right : left;
}
