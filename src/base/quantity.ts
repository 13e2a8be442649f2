// Kubernetes quantities ("1500m", "2Gi", "1e3"), read exactly and printed as the API server prints them. A quantity is
// an integer count of billionths, the finest step Kubernetes keeps; finer input is rounded away from zero, as there.
// Hot code never carries quantities around: it asks once for `quantityIn` a unit and computes with plain numbers.

import { KerfError } from './errors.ts';

export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

export interface Quantity {
  readonly nano: bigint;
  /** How it was written, and so how it and sums starting with it are printed. */
  readonly format: QuantityFormat;
}

const nanoPerUnit = 1_000_000_000n;
/** Kubernetes saturates at the largest int64. */
const mostNano = 9_223_372_036_854_775_807n * nanoPerUnit;

const binaryPower: Readonly<Record<string, bigint>> = { Ki: 1n, Mi: 2n, Gi: 3n, Ti: 4n, Pi: 5n, Ei: 6n };
const decimalExponent: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const decimalSuffix = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const binarySuffix = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

const pattern = /^([+-]?)(\d*)(?:\.(\d*))?(?:([KMGTPE]i)|([numkMGTPE])|[eE]([+-]?\d{1,3}))?$/;

export function parseQuantity(text: string | number): Quantity {
  const quantity = tryParseQuantity(text);
  if (quantity === undefined) {
    throw new KerfError(
      'QuantityInvalid',
      `cannot read the quantity ${JSON.stringify(text)}: write a number with an optional suffix, such as 500m, 2, 1.5Gi or 1e3`,
    );
  }
  return quantity;
}

/** Undefined when the text is not a quantity. */
export function tryParseQuantity(text: string | number): Quantity | undefined {
  const match = pattern.exec(String(text));
  if (!match) return undefined;
  const [, sign, whole = '', fraction = '', binary, decimal, exponent] = match;
  if (whole === '' && fraction === '') return undefined;
  const digits = BigInt(whole + fraction);
  let nano: bigint;
  let format: QuantityFormat;
  if (binary !== undefined) {
    format = 'BinarySI';
    nano = divideUp(digits * 1024n ** (binaryPower[binary] ?? 0n) * nanoPerUnit, 10n ** BigInt(fraction.length));
  } else {
    format = exponent === undefined ? 'DecimalSI' : 'DecimalExponent';
    const power =
      9 + (exponent === undefined ? (decimalExponent[decimal ?? ''] ?? 0) : Number(exponent)) - fraction.length;
    nano = power >= 0 ? digits * 10n ** BigInt(power) : divideUp(digits, 10n ** BigInt(-power));
  }
  if (nano > mostNano) nano = mostNano;
  return { nano: sign === '-' ? -nano : nano, format };
}

/** The same text the API server writes: the largest suffix that leaves no fraction. */
export function formatQuantity(quantity: Quantity): string {
  const { nano, format } = quantity;
  if (nano === 0n) return '0';
  const magnitude = nano < 0n ? -nano : nano;
  const sign = nano < 0n ? '-' : '';
  const wholeUnits = magnitude % nanoPerUnit === 0n;
  if (format === 'BinarySI' && wholeUnits && magnitude >= 1024n * nanoPerUnit) {
    let value = magnitude / nanoPerUnit;
    let power = 0;
    while (power < binarySuffix.length - 1 && value % 1024n === 0n) {
      value /= 1024n;
      power += 1;
    }
    return `${sign}${value}${binarySuffix[power]}`;
  }
  let value = magnitude;
  let thousands = 0;
  while (thousands < decimalSuffix.length - 1 && value % 1000n === 0n) {
    value /= 1000n;
    thousands += 1;
  }
  if (format !== 'DecimalExponent') return `${sign}${value}${decimalSuffix[thousands]}`;
  return thousands === 3 ? `${sign}${value}` : `${sign}${value}e${thousands * 3 - 9}`;
}

export function addQuantities(left: Quantity, right: Quantity): Quantity {
  return { nano: left.nano + right.nano, format: left.nano === 0n ? right.format : left.format };
}

/** Negative, zero or positive, as for sorting. */
export function compareQuantities(left: Quantity, right: Quantity): number {
  return left.nano < right.nano ? -1 : left.nano > right.nano ? 1 : 0;
}

/** The count of whole units (or thousandths), a remainder rounded up, as a plain number: exact below 2^53. */
export function quantityIn(unit: 'units' | 'milli', quantity: Quantity): number {
  const step = unit === 'units' ? nanoPerUnit : 1_000_000n;
  return Number(quantity.nano < 0n ? quantity.nano / step : divideUp(quantity.nano, step));
}

/**
 * `quantityIn` of a text in one of the plain forms nearly all manifests use: digits, alone or before m, Ki, Mi or Gi.
 * Undefined for any other text. Exact: nine digits times a power of two fit a plain number.
 */
export function plainAmount(unit: 'units' | 'milli', text: string): number | undefined {
  let value = 0;
  let at = 0;
  for (; at < text.length; at++) {
    const digit = text.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
  }
  if (at === 0 || at > 9) return undefined;
  const perUnit = unit === 'milli' ? 1000 : 1;
  if (at === text.length) return value * perUnit;
  switch (text.slice(at)) {
    case 'm':
      return Math.ceil((value * perUnit) / 1000);
    case 'Ki':
      return value * perUnit * 2 ** 10;
    case 'Mi':
      return value * perUnit * 2 ** 20;
    case 'Gi':
      return value * perUnit * 2 ** 30;
    default:
      return undefined;
  }
}

/** `formatQuantity` of a plain number of units (or thousandths) that is a safe integer, without the detour. */
export function formatAmount(unit: 'units' | 'milli', count: number, format: 'DecimalSI' | 'BinarySI'): string {
  if (count === 0) return '0';
  if (!Number.isSafeInteger(count)) return formatQuantity(quantityOf(unit, count, format));
  const sign = count < 0 ? '-' : '';
  let value = Math.abs(count);
  if (format === 'BinarySI' && unit === 'units' && value >= 1024) {
    let power = 0;
    while (power < binarySuffix.length - 1 && value % 1024 === 0) {
      value /= 1024;
      power += 1;
    }
    return `${sign}${value}${binarySuffix[power]}`;
  }
  let thousands = unit === 'milli' ? 2 : 3;
  while (thousands < decimalSuffix.length - 1 && value % 1000 === 0) {
    value /= 1000;
    thousands += 1;
  }
  return `${sign}${value}${decimalSuffix[thousands]}`;
}

/** The quantity of a plain number of units (or thousandths). */
export function quantityOf(unit: 'units' | 'milli', count: number, format: QuantityFormat): Quantity {
  return { nano: BigInt(count) * (unit === 'units' ? nanoPerUnit : 1_000_000n), format };
}

function divideUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}
