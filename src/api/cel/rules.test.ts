import { describe, expect, test } from 'vitest';
import {
  compileRules,
  evaluateRules,
  fieldErrorText,
  type RuleProblem,
  type Structural,
  type ValidationRule,
} from '../index.ts';
import { mentions, renameFunction } from './source.ts';
import { escapeFieldName } from './values.ts';

const ruled = (schema: Structural, rule: ValidationRule): Structural => ({
  ...schema,
  'x-kubernetes-validations': [rule],
});

function broken(schema: Structural, rule: ValidationRule, value: unknown, old?: unknown): string[] {
  const problems: RuleProblem[] = [];
  const tree = compileRules({ type: 'object', properties: { spec: ruled(schema, rule) } }, problems);
  expect(problems).toEqual([]);
  return evaluateRules(tree, { spec: value }, old === undefined ? undefined : { spec: old }).map(fieldErrorText);
}

const holds = (schema: Structural, rule: string, value: unknown): boolean =>
  broken(schema, { rule }, value).length === 0;

const anyText: Structural = { type: 'string' };
const numbers: Structural = { type: 'array', items: { type: 'integer' } };
const texts: Structural = { type: 'array', items: { type: 'string' } };

describe('values in rules', () => {
  test('integers compute as integers, numbers as numbers', () => {
    const schema: Structural = { type: 'object', properties: { i: { type: 'integer' }, d: { type: 'number' } } };
    expect(holds(schema, 'self.i + 1 == 4 && self.i / 2 == 1', { i: 3 })).toBe(true);
    expect(holds(schema, 'self.d * 2.0 == 3.0', { d: 1.5 })).toBe(true);
    expect(holds(schema, 'self.d == 3.0', { d: 3 })).toBe(true);
  });

  test('times compare as times', () => {
    const schema: Structural = { type: 'string', format: 'date-time' };
    expect(holds(schema, "self > timestamp('2026-01-01T00:00:00Z')", '2026-06-01T00:00:00Z')).toBe(true);
  });

  test('an int-or-string is what it is', () => {
    const schema: Structural = { 'x-kubernetes-int-or-string': true };
    const rule = "type(self) == string ? self == '5%' : self == 5";
    expect(holds(schema, rule, 5)).toBe(true);
    expect(holds(schema, rule, '5%')).toBe(true);
    expect(holds(schema, rule, 6)).toBe(false);
  });

  test('absent fields are absent, undeclared ones invisible', () => {
    const schema: Structural = { type: 'object', properties: { a: { type: 'string' } } };
    expect(holds(schema, '!has(self.a)', { b: 1 })).toBe(true);
    expect(broken(schema, { rule: "self.a == 'x'" }, {})).toEqual([
      'spec: Invalid value: "object": no such key: a evaluating rule: self.a == \'x\'',
    ]);
  });

  test.each([
    ['a-b', 'a__dash__b'],
    ['a.b/c', 'a__dot__b__slash__c'],
    ['a__b', 'a__underscores__b'],
    ['namespace', '__namespace__'],
    ['plain', 'plain'],
    ['9a', undefined],
    ['a b', undefined],
  ])('the field %s is called %s', (name, escaped) => {
    expect(escapeFieldName(name)).toBe(escaped);
  });

  test('an escaped field can be used', () => {
    const schema: Structural = { type: 'object', properties: { 'max-size': { type: 'integer' } } };
    expect(holds(schema, 'self.max__dash__size > 3', { 'max-size': 4 })).toBe(true);
  });
});

describe('what a broken rule says', () => {
  const schema: Structural = { type: 'object', properties: { a: { type: 'integer' } } };

  test('its message, else the rule', () => {
    expect(broken(schema, { rule: 'self.a > 1', message: ' too small ' }, { a: 1 })).toEqual([
      'spec: Invalid value: too small',
    ]);
    expect(broken(schema, { rule: 'self.a > 1' }, { a: 1 })).toEqual(['spec: Invalid value: failed rule: self.a > 1']);
  });

  test('what its expression computes, unless that fails', () => {
    const rule = { rule: 'self.a > 1', message: 'fallback' };
    expect(broken(schema, { ...rule, messageExpression: "'a is ' + string(self.a)" }, { a: 1 })).toEqual([
      'spec: Invalid value: a is 1',
    ]);
    expect(broken(schema, { ...rule, messageExpression: 'string(1 / (self.a - 1))' }, { a: 1 })).toEqual([
      'spec: Invalid value: fallback',
    ]);
  });

  test('where and why, if it says so', () => {
    const rule = { rule: 'self.a > 1', message: 'm' };
    expect(broken(schema, { ...rule, fieldPath: '.a' }, { a: 1 })).toEqual(['spec.a: Invalid value: m']);
    expect(broken(schema, { ...rule, reason: 'FieldValueForbidden' }, { a: 1 })).toEqual(['spec: Forbidden: m']);
    expect(broken(schema, { ...rule, reason: 'FieldValueRequired', fieldPath: ".a['b.c']" }, { a: 1 })).toEqual([
      'spec.a.b.c: Required value: m',
    ]);
    expect(broken({ type: 'integer' }, { rule: 'self > 1', reason: 'FieldValueDuplicate' }, 1)).toEqual([
      'spec: Duplicate value: 1',
    ]);
  });

  test('map keys stand in brackets', () => {
    const tree = compileRules({
      type: 'object',
      additionalProperties: ruled(anyText, { rule: "self != ''", message: 'empty' }),
    });
    expect(evaluateRules(tree, { 'a.b': '' }).map(fieldErrorText)).toEqual(['[a.b]: Invalid value: "": empty']);
  });
});

describe('old values', () => {
  test('a rule about a change is not run on creation', () => {
    expect(broken(anyText, { rule: 'self == oldSelf' }, 'a')).toEqual([]);
    expect(broken(anyText, { rule: 'self == oldSelf', message: 'fixed' }, 'a', 'b')).toEqual([
      'spec: Invalid value: "a": fixed',
    ]);
  });

  test('inside a macro, too', () => {
    const rule = { rule: 'oldSelf.all(x, x in self)', message: 'only grows' };
    expect(broken(texts, rule, ['a'])).toEqual([]);
    expect(broken(texts, rule, ['b'], ['a'])).toEqual(['spec: Invalid value: only grows']);
  });

  test('an optional old value is there to ask for on creation', () => {
    const rule = { rule: "oldSelf.hasValue() || self == 'new'", message: 'starts as new', optionalOldSelf: true };
    expect(broken(anyText, rule, 'new')).toEqual([]);
    expect(broken(anyText, rule, 'x')).toEqual(['spec: Invalid value: "x": starts as new']);
    expect(broken(anyText, rule, 'x', 'new')).toEqual([]);
  });
});

describe('functions of Kubernetes', () => {
  test.each([
    ["self.find('[0-9]+') == '12'", 'a12b3'],
    ["self.findAll('[0-9]+') == ['12', '3']", 'a12b3'],
    ["self.findAll('[0-9]+', 1) == ['12']", 'a12b3'],
    ["self.replace('a', 'b') == 'bxbx'", 'axax'],
    ["self.replace('a', 'b', 1) == 'bxax'", 'axax'],
    ["self.charAt(1) == 'x'", 'axb'],
    ["self.reverse() == 'cba'", 'abc'],
    ["self.matches('^[a-z]+$') && self.startsWith('ab')", 'abc'],
    ["int(self) == 7 && int('-3') == -3 && int(2.9) == 2", '7'],
    ["quantity(self).isGreaterThan(quantity('1Gi'))", '1.5Gi'],
    ["quantity(self).add(quantity('24Mi')).compareTo(quantity('1Gi')) == 0", '1000Mi'],
    ['quantity(self).sub(1).asInteger() == 4 && quantity(self).sign() == 1', '5'],
    ["isQuantity(self) && !isQuantity('x') && !quantity(self).isInteger()", '500m'],
    ["quantity(self).asApproximateFloat() == 0.5 && quantity(self) == quantity('0.5')", '500m'],
    ["quantity(self).isLessThan(quantity('2')) && string(quantity(self).add(1)) == '2'", '1'],
  ])('%s', (rule, value) => {
    expect(holds(anyText, rule, value)).toBe(true);
  });

  test.each([
    ['self.isSorted() && self.sum() == 6 && self.min() == 1 && self.max() == 3', [1, 2, 3]],
    ['self.indexOf(2) == 1 && self.lastIndexOf(2) == 2 && self.indexOf(9) == -1', [1, 2, 2]],
    ['sets.contains(self, [1, 2]) && sets.equivalent(self, [3, 2, 1]) && sets.intersects(self, [9, 3])', [1, 2, 3]],
    ['!self.isSorted() && !sets.contains(self, [9])', [3, 1]],
    ['self.sum() == 0', []],
  ])('%s', (rule, value) => {
    expect(holds(numbers, rule, value)).toBe(true);
  });

  test.each([
    ['int(self) == 0', '', "type conversion error from 'string' to 'int'"],
    ['int(self) == 0', '99999999999999999999', "type conversion error from 'string' to 'int'"],
    ['quantity(self).sign() == 1', 'x', 'quantities must match the regular expression'],
    ['quantity(self).asInteger() == 1', '1.5', 'cannot convert value to integer'],
  ])('%s fails on %j', (rule, value, why) => {
    expect(broken(anyText, { rule }, value)[0]).toContain(why);
  });
});

describe('rules that do not compile', () => {
  test.each(['self.', 'unknown(self)', "'%s'.format([self]) == 'x'"])(
    '%s is reported with its place and never run',
    (rule) => {
      const problems: RuleProblem[] = [];
      const tree = compileRules(
        { type: 'object', properties: { spec: { type: 'array', items: ruled(anyText, { rule }) } } },
        problems,
      );
      expect(problems).toMatchObject([{ path: ['properties', 'spec', 'items'], rule }]);
      expect(evaluateRules(tree, { spec: ['x'] })).toEqual([]);
    },
  );
});

describe('words of an expression', () => {
  test('text and comments are not words', () => {
    expect(mentions("self == 'oldSelf'", 'oldSelf')).toBe(false);
    expect(mentions('self == r"\\" + oldSelf', 'oldSelf')).toBe(true);
    expect(mentions("self.oldSelf == '' // oldSelf", 'oldSelf')).toBe(false);
    expect(mentions("'it\\'s' + oldSelf", 'oldSelf')).toBe(true);
    expect(mentions('"""oldSelf "quoted" """ + self', 'oldSelf')).toBe(false);
  });

  test('only calls of the global function are renamed', () => {
    expect(renameFunction("int(x) + self.int(y) + int + 'int(z)' + print(1)", 'int', 'f')).toBe(
      "f(x) + self.int(y) + int + 'int(z)' + print(1)",
    );
  });
});
