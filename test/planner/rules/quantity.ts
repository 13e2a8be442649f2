// Kubernetes quantities as exact whole numbers of billionths, and resource lists as maps of them. Slow and plain: the point
// is to be obviously right.
import type { Resources } from './objects.ts';

const billion = 1_000_000_000n;
const decimal: Record<string, bigint> = {
  n: 1n,
  u: 1_000n,
  m: 1_000_000n,
  '': billion,
  k: billion * 1_000n,
  M: billion * 1_000_000n,
  G: billion * billion,
  T: billion * billion * 1_000n,
  P: billion * billion * 1_000_000n,
  E: billion * billion * billion,
};
const binary: Record<string, bigint> = {
  Ki: billion << 10n,
  Mi: billion << 20n,
  Gi: billion << 30n,
  Ti: billion << 40n,
  Pi: billion << 50n,
  Ei: billion << 60n,
};

/** Billionths; a remainder below one billionth is rounded up, as the API does. */
export function quantity(text: string | number): bigint {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?(?:([eE][+-]?\d+)|([KMGTPE]i|[numkMGTPE]))?$/.exec(String(text).trim());
  if (match === null) throw new Error(`not a quantity: ${text}`);
  const [, sign, whole = '', fraction = '', exponent, suffix = ''] = match;
  let numerator = BigInt(`${whole}${fraction}` || '0') * (binary[suffix] ?? decimal[suffix] ?? billion);
  let denominator = 10n ** BigInt(fraction.length);
  const power = exponent === undefined ? 0 : Number(exponent.slice(1));
  if (power > 0) numerator *= 10n ** BigInt(power);
  if (power < 0) denominator *= 10n ** BigInt(-power);
  const value = (numerator + denominator - 1n) / denominator;
  return sign === '-' ? -value : value;
}

/** Resource name to billionths. A missing name is zero. */
export type Amounts = Map<string, bigint>;

export function amounts(resources: Resources | undefined): Amounts {
  return new Map(Object.entries(resources ?? {}).map(([name, text]) => [name, quantity(text)]));
}

export function plus(...lists: Amounts[]): Amounts {
  const sum: Amounts = new Map();
  for (const list of lists) for (const [name, value] of list) sum.set(name, (sum.get(name) ?? 0n) + value);
  return sum;
}

export function minus(from: Amounts, what: Amounts): Amounts {
  const left: Amounts = new Map(from);
  for (const [name, value] of what) left.set(name, (left.get(name) ?? 0n) - value);
  return left;
}

/** Per resource the larger of both. */
export function larger(a: Amounts, b: Amounts): Amounts {
  const result: Amounts = new Map(a);
  for (const [name, value] of b) {
    const other = result.get(name);
    if (other === undefined || value > other) result.set(name, value);
  }
  return result;
}

/** Per resource the smaller of all lists; a resource missing from one of them counts as zero there. */
export function smallest(lists: Amounts[]): Amounts {
  const result: Amounts = new Map();
  const names = new Set(lists.flatMap((list) => [...list.keys()]));
  for (const name of names) {
    const values = lists.map((list) => list.get(name) ?? 0n);
    result.set(
      name,
      values.reduce((a, b) => (a < b ? a : b)),
    );
  }
  return result;
}

/** First resource of `asked` that does not fit into `room`; nothing fits where anything is already negative. */
export function misfit(asked: Amounts, room: Amounts): string | undefined {
  for (const [name, value] of room) if (value < 0n) return name;
  for (const [name, value] of asked) if (value > (room.get(name) ?? 0n)) return name;
  return undefined;
}

export function sameAmounts(a: Amounts, b: Amounts): boolean {
  return [...new Set([...a.keys(), ...b.keys()])].every((name) => (a.get(name) ?? 0n) === (b.get(name) ?? 0n));
}

export function showAmounts(list: Amounts): string {
  return [...list]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${Number(value) / 1e9}`)
    .join(' ');
}
