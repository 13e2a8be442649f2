import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  addQuantities,
  compareQuantities,
  formatAmount,
  formatQuantity,
  parseQuantity,
  plainAmount,
  quantityIn,
  quantityOf,
} from './index.ts';

const print = (text: string | number): string => formatQuantity(parseQuantity(text));

test.each([
  ['100m', '100m'],
  ['0.1', '100m'],
  ['1000m', '1'],
  ['1', '1'],
  [2, '2'],
  ['1500m', '1500m'],
  ['1000', '1k'],
  ['12e6', '12e6'],
  ['1E', '1E'],
  ['1Gi', '1Gi'],
  ['1024Mi', '1Gi'],
  ['1.5Gi', '1536Mi'],
  ['1000Ki', '1000Ki'],
  ['512', '512'],
  ['0.5Ki', '512'],
  ['0Gi', '0'],
  ['-2Gi', '-2Gi'],
  ['+3', '3'],
  ['.5', '500m'],
  ['1.', '1'],
  ['0.0000000001', '1n'],
  ['128974848000m', '128974848'],
])('%s prints as %s', (text, printed) => {
  expect(print(text)).toBe(printed);
});

test.each(['', 'x', '1.2.3', '1 Gi', 'Gi', '1gi', '--1', '1e', 'NaN'])('%j is not a quantity', (text) => {
  expect(() => parseQuantity(text)).toThrow(/cannot read the quantity/);
});

test('a sum keeps the way its first non-zero part was written', () => {
  expect(formatQuantity(addQuantities(parseQuantity('0'), parseQuantity('1Gi')))).toBe('1Gi');
  expect(formatQuantity(addQuantities(parseQuantity('512Mi'), parseQuantity('512Mi')))).toBe('1Gi');
  expect(compareQuantities(parseQuantity('1Gi'), parseQuantity('1G'))).toBe(1);
});

test('counting in a unit rounds a remainder up', () => {
  expect(quantityIn('milli', parseQuantity('0.0001'))).toBe(1);
  expect(quantityIn('units', parseQuantity('1500m'))).toBe(2);
  expect(quantityIn('units', parseQuantity('24Ti'))).toBe(24 * 1024 ** 4);
});

test('a plain form is read quickly to the same amount, and no other is', () => {
  const suffix = fc.constantFrom('', 'm', 'Ki', 'Mi', 'Gi', 'k', 'M', 'Ti', 'e3', '.5', ' ');
  const texts = fc.tuple(fc.bigInt({ min: 0n, max: 10n ** 10n }), suffix).map(([digits, after]) => `${digits}${after}`);
  fc.assert(
    fc.property(texts, fc.constantFrom('units' as const, 'milli' as const), (text, unit) => {
      const isPlain = /^\d{1,9}(m|[KMG]i)?$/.test(text);
      expect(plainAmount(unit, text)).toBe(isPlain ? quantityIn(unit, parseQuantity(text)) : undefined);
    }),
    { seed: 2, numRuns: 2000 },
  );
});

test('an amount is printed like the quantity it stands for', () => {
  const counts = fc.oneof(
    fc.maxSafeInteger(),
    fc
      .tuple(
        fc.integer({ min: -999, max: 999 }),
        fc.constantFrom(1, 1000, 1e6, 1e9, 2 ** 10, 2 ** 20, 2 ** 30, 2 ** 40),
      )
      .map(([digits, scale]) => digits * scale),
  );
  fc.assert(
    fc.property(
      counts,
      fc.constantFrom('units' as const, 'milli' as const),
      fc.constantFrom('DecimalSI' as const, 'BinarySI' as const),
      (count, unit, format) => {
        if (unit === 'milli' && format === 'BinarySI') return;
        expect(formatAmount(unit, count, format)).toBe(formatQuantity(quantityOf(unit, count, format)));
      },
    ),
    { seed: 3, numRuns: 2000 },
  );
});

test('printing and reading again changes nothing', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n }),
      fc.constantFrom('DecimalSI' as const, 'BinarySI' as const, 'DecimalExponent' as const),
      (nano, format) => {
        expect(parseQuantity(formatQuantity({ nano, format })).nano).toBe(nano);
      },
    ),
    { seed: 1, numRuns: 500 },
  );
});

test('a count in milli survives the way through a quantity', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 31 }), (count) => {
      expect(quantityIn('milli', quantityOf('milli', count, 'DecimalSI'))).toBe(count);
    }),
    { seed: 1 },
  );
});
