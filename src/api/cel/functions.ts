// The functions Kubernetes adds to CEL and the library does not bring: strings, regular expressions, lists, sets and
// quantities here, the larger ones in files of their own. Not there: `format` and `quote` of strings, comprehensions with
// two variables, the newer functions of lists (slice, sort, flatten, distinct, range, first, last) and authorizer. A rule
// that needs one does not compile, and a definition with such a rule is refused.
import { type Environment, EvaluationError } from '@marcbachmann/cel-js';
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  isIdentical,
  type Quantity,
  quantityIn,
  tryParseQuantity,
} from '../../base/index.ts';
import { compilePattern } from '../schema/pattern.ts';
import { registerFormats } from './format.ts';
import { registerAddresses } from './ip.ts';
import { registerSemver } from './semver.ts';
import { registerUrls } from './url.ts';

/** Quantities as values of CEL; the library tells types apart by their class. */
class QuantityValue {
  readonly quantity: Quantity;

  constructor(quantity: Quantity) {
    this.quantity = quantity;
  }
}

const fail = (message: string): never => {
  throw new EvaluationError(message);
};

function regex(pattern: string, flags = ''): RegExp {
  const compiled = compilePattern(pattern);
  if (compiled === undefined) return fail(`error parsing regexp: ${pattern}`);
  return flags === '' ? compiled : new RegExp(compiled.source, compiled.flags + flags);
}

/** Structural equality of CEL values: like JSON's, and BigInts compare as such. */

const includes = (list: readonly unknown[], value: unknown): boolean => list.some((item) => isIdentical(item, value));

type Ordered = string | number | bigint;

const sum = (list: readonly (number | bigint)[]): number | bigint => {
  if (list.length === 0) return 0n;
  return typeof list[0] === 'bigint'
    ? (list as bigint[]).reduce((total, item) => total + item, 0n)
    : (list as number[]).reduce((total, item) => total + item, 0);
};

const extreme = (list: readonly Ordered[], name: string, better: (a: Ordered, b: Ordered) => boolean): Ordered =>
  list.length === 0 ? fail(`${name} called on empty list`) : list.reduce((a, b) => (better(b, a) ? b : a));

function registerStrings(env: Environment): void {
  const replace = (text: string, from: string, to: string, limit: bigint): string => {
    if (limit < 0n) return text.replaceAll(from, () => to);
    const parts = text.split(from);
    const kept = Math.min(Number(limit), parts.length - 1);
    return (
      parts.slice(0, kept + 1).join(to) +
      parts
        .slice(kept + 1)
        .map((part) => from + part)
        .join('')
    );
  };
  env
    .registerFunction(
      'string.find(string): string',
      (text: string, pattern: string) => regex(pattern).exec(text)?.[0] ?? '',
    )
    .registerFunction(
      'string.findAll(string): list<string>',
      (text: string, pattern: string) => text.match(regex(pattern, 'g')) ?? [],
    )
    .registerFunction('string.findAll(string, int): list<string>', (text: string, pattern: string, limit: bigint) =>
      (text.match(regex(pattern, 'g')) ?? []).slice(0, limit < 0n ? undefined : Number(limit)),
    )
    .registerFunction('string.replace(string, string): string', (text: string, from: string, to: string) =>
      replace(text, from, to, -1n),
    )
    .registerFunction('string.replace(string, string, int): string', replace)
    .registerFunction('string.charAt(int): string', (text: string, at: bigint) => [...text][Number(at)] ?? '')
    .registerFunction('string.reverse(): string', (text: string) => [...text].reverse().join(''));
}

function registerLists(env: Environment): void {
  env
    .registerFunction('list.isSorted(): bool', (list: Ordered[]) =>
      list.every((item, i) => i === 0 || (list[i - 1] ?? item) <= item),
    )
    .registerFunction('list.sum(): dyn', sum)
    .registerFunction('list.min(): dyn', (list: Ordered[]) => extreme(list, 'min', (a, b) => a < b))
    .registerFunction('list.max(): dyn', (list: Ordered[]) => extreme(list, 'max', (a, b) => a > b))
    .registerFunction('list.indexOf(dyn): int', (list: unknown[], value: unknown) =>
      BigInt(list.findIndex((item) => isIdentical(item, value))),
    )
    .registerFunction('list.lastIndexOf(dyn): int', (list: unknown[], value: unknown) =>
      BigInt(list.findLastIndex((item) => isIdentical(item, value))),
    );
}

/** What `sets` is in a rule: a name to hang the set functions on. */
class SetsNamespace {
  readonly name = 'sets';
}

function registerSets(env: Environment): void {
  const containsAll = (left: unknown[], right: unknown[]): boolean => right.every((item) => includes(left, item));
  env
    .registerType('SetsNamespace', SetsNamespace)
    .registerConstant('sets', 'SetsNamespace', new SetsNamespace())
    .registerFunction('SetsNamespace.contains(list, list): bool', (_: unknown, left: unknown[], right: unknown[]) =>
      containsAll(left, right),
    )
    .registerFunction(
      'SetsNamespace.equivalent(list, list): bool',
      (_: unknown, left: unknown[], right: unknown[]) => containsAll(left, right) && containsAll(right, left),
    )
    .registerFunction('SetsNamespace.intersects(list, list): bool', (_: unknown, left: unknown[], right: unknown[]) =>
      right.some((item) => includes(left, item)),
    );
}

/** A quantity as a value of CEL. */
export function quantityValue(text: string): QuantityValue {
  const quantity = tryParseQuantity(text);
  return quantity === undefined
    ? fail(`quantities must match the regular expression: ${text}`)
    : new QuantityValue(quantity);
}

function registerQuantities(env: Environment): void {
  const parse = quantityValue;
  const compare = (left: QuantityValue, right: QuantityValue): number =>
    compareQuantities(left.quantity, right.quantity);
  const amount = (text: bigint): QuantityValue => parse(String(text));
  const negative = ({ quantity }: QuantityValue): QuantityValue =>
    new QuantityValue({ ...quantity, nano: -quantity.nano });
  const add = (left: QuantityValue, right: QuantityValue): QuantityValue =>
    new QuantityValue(addQuantities(left.quantity, right.quantity));
  const isWhole = ({ quantity }: QuantityValue): boolean => quantity.nano % 1_000_000_000n === 0n;
  env
    .registerType('Quantity', QuantityValue)
    .registerFunction('isQuantity(string): bool', (text: string) => tryParseQuantity(text) !== undefined)
    .registerFunction('quantity(string): Quantity', parse)
    .registerFunction('Quantity.sign(): int', (value: QuantityValue) => BigInt(Math.sign(Number(value.quantity.nano))))
    .registerFunction('Quantity.isInteger(): bool', isWhole)
    .registerFunction('Quantity.asInteger(): int', (value: QuantityValue) =>
      isWhole(value) ? value.quantity.nano / 1_000_000_000n : fail('cannot convert value to integer'),
    )
    .registerFunction(
      'Quantity.asApproximateFloat(): double',
      (value: QuantityValue) => quantityIn('milli', value.quantity) / 1000,
    )
    .registerFunction('Quantity.add(Quantity): Quantity', add)
    .registerFunction('Quantity.add(int): Quantity', (left: QuantityValue, right: bigint) => add(left, amount(right)))
    .registerFunction('Quantity.sub(Quantity): Quantity', (left: QuantityValue, right: QuantityValue) =>
      add(left, negative(right)),
    )
    .registerFunction('Quantity.sub(int): Quantity', (left: QuantityValue, right: bigint) => add(left, amount(-right)))
    .registerFunction(
      'Quantity.isLessThan(Quantity): bool',
      (left: QuantityValue, right: QuantityValue) => compare(left, right) < 0,
    )
    .registerFunction(
      'Quantity.isGreaterThan(Quantity): bool',
      (left: QuantityValue, right: QuantityValue) => compare(left, right) > 0,
    )
    .registerFunction('Quantity.compareTo(Quantity): int', (left: QuantityValue, right: QuantityValue) =>
      BigInt(compare(left, right)),
    )
    .registerFunction('string(Quantity): string', (value: QuantityValue) => formatQuantity(value.quantity))
    .registerOperator(
      'Quantity == Quantity',
      (left: QuantityValue, right: QuantityValue) => compare(left, right) === 0,
    );
}

/** Name under which `int` is called: the library's own takes the empty text for 0, and functions cannot be replaced. */
export const strictInt = 'strictInt';

function registerConversions(env: Environment): void {
  const parse = (text: string): bigint => {
    const value = /^[+-]?[0-9]+$/.test(text) ? BigInt(text.replace('+', '')) : undefined;
    if (value !== undefined && BigInt.asIntN(64, value) === value) return value;
    return fail("type conversion error from 'string' to 'int'");
  };
  const truncate = (value: number): bigint =>
    Math.abs(value) < 2 ** 63 ? BigInt(Math.trunc(value)) : fail('integer overflow');
  env
    .registerFunction(`${strictInt}(string): int`, parse)
    .registerFunction(`${strictInt}(int): int`, (value: bigint) => value)
    .registerFunction(`${strictInt}(double): int`, truncate);
}

export function registerKubernetesFunctions(env: Environment): Environment {
  registerConversions(env);
  registerStrings(env);
  registerLists(env);
  registerSets(env);
  registerQuantities(env);
  registerAddresses(env);
  registerUrls(env);
  registerFormats(env);
  registerSemver(env);
  return env;
}
