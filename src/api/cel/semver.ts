// Semantic versions as values of CEL.
import { type Environment, EvaluationError } from '@marcbachmann/cel-js';

/** The library tells types apart by their class. */
class SemverValue {
  readonly numbers: readonly bigint[];
  readonly pre: readonly string[];

  constructor(numbers: readonly bigint[], pre: readonly string[]) {
    this.numbers = numbers;
    this.pre = pre;
  }
}

const number = '(0|[1-9][0-9]*)';
const word = '[0-9A-Za-z-]+';
/** A part before the release that is a number has no leading zeros. */
const early = `(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-]${word.slice(0, -1)}*)`;
const pattern = new RegExp(
  `^${number}\\.${number}\\.${number}(?:-(${early}(?:\\.${early})*))?(?:\\+${word}(?:\\.${word})*)?$`,
);

function parse(text: string): SemverValue | undefined {
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const pre = match[4] === undefined ? [] : match[4].split('.');
  const numbers = match.slice(1, 4).map(BigInt);
  const counted = [...numbers, ...pre.filter((part) => /^[0-9]+$/.test(part)).map(BigInt)];
  return counted.every((each) => each < 2n ** 64n) ? new SemverValue(numbers, pre) : undefined;
}

/** Without a leading `v` and leading zeros, and with minor and patch numbers: `v1.02` is `1.2.0`. */
function parseTolerantly(text: string): SemverValue | undefined {
  const [major = '', minor, ...patch] = text.replace(/^v/, '').split('.');
  const parts = [major, ...(minor === undefined ? [] : [minor]), ...(patch.length === 0 ? [] : [patch.join('.')])];
  if (parts.length < 3 && /[+-]/.test(parts.at(-1) ?? '')) return undefined;
  const trimmed = parts.map((part) => part.replace(/^0+(?=[0-9])/, ''));
  return parse([...trimmed, '0', '0'].slice(0, 3).join('.'));
}

export function semverValue(text: string, isTolerant = false): SemverValue {
  const value = isTolerant ? parseTolerantly(text) : parse(text);
  if (value === undefined) throw new EvaluationError(`"${text}" is not a semantic version`);
  return value;
}

/** Negative, zero or positive; a version before its release comes first. */
function compare(left: SemverValue, right: SemverValue): number {
  for (let at = 0; at < 3; at++) {
    const difference = (left.numbers[at] ?? 0n) - (right.numbers[at] ?? 0n);
    if (difference !== 0n) return difference < 0n ? -1 : 1;
  }
  if (left.pre.length === 0 || right.pre.length === 0) return right.pre.length - left.pre.length;
  for (let at = 0; at < Math.min(left.pre.length, right.pre.length); at++) {
    const difference = comparePart(left.pre[at] as string, right.pre[at] as string);
    if (difference !== 0) return difference;
  }
  return left.pre.length - right.pre.length;
}

function comparePart(left: string, right: string): number {
  const [isLeft, isRight] = [/^\d+$/.test(left), /^\d+$/.test(right)];
  if (isLeft && isRight) return Number(BigInt(left) - BigInt(right));
  if (isLeft !== isRight) return isLeft ? -1 : 1;
  return left < right ? -1 : left > right ? 1 : 0;
}

export function registerSemver(env: Environment): void {
  env
    .registerType('Semver', SemverValue)
    .registerFunction('semver(string): Semver', (text: string) => semverValue(text))
    .registerFunction('semver(string, bool): Semver', semverValue)
    .registerFunction('isSemver(string): bool', (text: string) => parse(text) !== undefined)
    .registerFunction(
      'isSemver(string, bool): bool',
      (text: string, isTolerant: boolean) => (isTolerant ? parseTolerantly(text) : parse(text)) !== undefined,
    )
    .registerFunction('Semver.major(): int', (value: SemverValue) => value.numbers[0])
    .registerFunction('Semver.minor(): int', (value: SemverValue) => value.numbers[1])
    .registerFunction('Semver.patch(): int', (value: SemverValue) => value.numbers[2])
    .registerFunction('Semver.compareTo(Semver): int', (left: SemverValue, right: SemverValue) =>
      BigInt(Math.sign(compare(left, right))),
    )
    .registerFunction(
      'Semver.isLessThan(Semver): bool',
      (left: SemverValue, right: SemverValue) => compare(left, right) < 0,
    )
    .registerFunction(
      'Semver.isGreaterThan(Semver): bool',
      (left: SemverValue, right: SemverValue) => compare(left, right) > 0,
    )
    .registerOperator('Semver == Semver', (left: SemverValue, right: SemverValue) => compare(left, right) === 0);
}
