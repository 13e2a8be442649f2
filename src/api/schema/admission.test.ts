// The machinery on schemas of any kind, not only ours: what a CustomResourceDefinition installed by a user may contain.
import { describe, expect, test } from 'vitest';
import { admit, compileSchema, fieldErrorText, type Structural } from '../index.ts';

const object = (properties: Record<string, Structural>, more: Structural = {}): Structural => ({
  type: 'object',
  properties,
  ...more,
});
const text: Structural = { type: 'string' };
const whole: Structural = { type: 'integer' };

/** Errors of a `spec` under its schema, as lines. */
function errors(spec: Structural, value: unknown, old?: unknown): string[] {
  const compiled = compileSchema(object({ spec }));
  expect(compiled.problems).toEqual([]);
  return admit(compiled, { spec: value }, old === undefined ? undefined : { spec: old }).errors.map(fieldErrorText);
}

const stored = (spec: Structural, value: unknown): unknown =>
  (admit(compileSchema(object({ spec })), { spec: value }).object as { spec: unknown }).spec;

describe('values', () => {
  test.each<[string, Structural, unknown, string[]]>([
    [
      'a text for a number',
      whole,
      'x',
      ['spec: Invalid value: "string": spec in body must be of type integer: "string"'],
    ],
    ['a whole number where any number goes', { type: 'number' }, 3, []],
    [
      'a list for an object',
      object({}),
      [],
      ['spec: Invalid value: "array": spec in body must be of type object: "array"'],
    ],
    ['an integer for int-or-string', { 'x-kubernetes-int-or-string': true }, 5, []],
    ['a text for int-or-string', { 'x-kubernetes-int-or-string': true }, '5%', []],
    [
      'more than the most',
      { type: 'integer', maximum: 3 },
      4,
      ['spec: Invalid value: 4: spec in body should be less than or equal to 3'],
    ],
    [
      'the most, if it is excluded',
      { type: 'integer', maximum: 3, exclusiveMaximum: true },
      3,
      ['spec: Invalid value: 3: spec in body should be less than 3'],
    ],
    [
      'the least, if it is excluded',
      { type: 'number', minimum: 3, exclusiveMinimum: true },
      3,
      ['spec: Invalid value: 3: spec in body should be greater than 3'],
    ],
    [
      'no multiple',
      { type: 'integer', multipleOf: 5 },
      7,
      ['spec: Invalid value: 7: spec in body should be a multiple of 5'],
    ],
    [
      'a text that is too short',
      { type: 'string', minLength: 2 },
      'a',
      ['spec: Invalid value: "a": spec in body should be at least 2 chars long'],
    ],
    ['characters, not bytes, count', { type: 'string', maxLength: 2 }, '🙂🙂', []],
    [
      'a text that is too long',
      { type: 'string', maxLength: 1 },
      'ab',
      ['spec: Too long: may not be more than 1 byte'],
    ],
    [
      'equal items in a unique list',
      { type: 'array', items: whole, uniqueItems: true },
      [1, 2, 1],
      ['spec: Invalid value: "": spec in body shouldn\'t contain duplicates'],
    ],
    [
      'too few entries',
      { type: 'object', additionalProperties: text, minProperties: 1 },
      {},
      ['spec: Invalid value: 0: spec in body should have at least 1 properties'],
    ],
    [
      'too many entries',
      { type: 'object', additionalProperties: text, maxProperties: 1 },
      { a: '', b: '' },
      ['spec: Too many: 2: must have at most 1 item'],
    ],
    [
      'a number that is none of those allowed',
      { type: 'integer', enum: [1, 2] },
      3,
      ['spec: Unsupported value: 3: supported values: "1", "2"'],
    ],
    [
      'an address',
      { type: 'string', format: 'ipv4' },
      '1.2.3.256',
      ['spec: Invalid value: "1.2.3.256": spec in body must be of type ipv4: "1.2.3.256"'],
    ],
    ['an unknown format', { type: 'string', format: 'whatever' }, 'x', []],
    ['null where it may be', { type: 'string', nullable: true }, null, []],
  ])('%s', (_, schema, value, expected) => {
    expect(errors(schema, value)).toEqual(expected);
  });

  test.each([
    ['ipv6', '::1', '::g'],
    ['ipv6', '1:2:3:4:5:6:1.2.3.4', '1:2:3'],
    ['cidr', '10.0.0.0/8', '10.0.0.0/33'],
    ['cidr', 'fe80::/10', '10.0.0.0'],
    ['date', '2026-02-28', '2026-02-30'],
    ['duration', '1h', 'soon'],
    ['duration', '2 days', '2 moons'],
    ['uuid', '123e4567-e89b-12d3-a456-426614174000', '123'],
    ['byte', 'YWJj', 'YWJ'],
    ['hostname', 'a.example.com', 'a b'],
    ['uri', 'https://example.com', 'example'],
    ['email', 'a@example.com', 'a'],
  ])('format %s takes %s and not %s', (format, good, bad) => {
    expect(errors({ type: 'string', format }, good)).toEqual([]);
    expect(errors({ type: 'string', format }, bad)).toHaveLength(1);
  });

  test('alternatives say what was missed', () => {
    const either: Structural = { ...object({ a: text, b: text }), anyOf: [{ required: ['a'] }, { required: ['b'] }] };
    expect(errors(either, { a: '' })).toEqual([]);
    expect(errors(either, {})[0]).toContain('"spec" must validate at least one schema (anyOf)');
    const one: Structural = { ...object({ a: text, b: text }), oneOf: [{ required: ['a'] }, { required: ['b'] }] };
    expect(errors(one, { a: '', b: '' })[0]).toContain(
      'must validate one and only one schema (oneOf). Found 2 valid alternatives',
    );
    expect(errors(one, {})[0]).toContain('Found none valid');
    const all: Structural = { type: 'integer', allOf: [{ minimum: 3 }, { maximum: 5 }] };
    expect(errors(all, 6)).toEqual([
      'spec: Invalid value: 6: spec in body should be less than or equal to 5',
      '<nil>: Invalid value: "": "spec" must validate all the schemas (allOf)',
    ]);
    expect(errors({ type: 'integer', not: { minimum: 3 } }, 5)[0]).toContain('must not validate the schema (not)');
  });

  test('names that every JavaScript object has are fields like any other', () => {
    expect(errors(object({ constructor: text }), {})).toEqual([]);
    expect(
      errors({ type: 'object', additionalProperties: text }, JSON.parse('{"__proto__": "x", "constructor": "y"}')),
    ).toEqual([]);
    expect(errors(object({}, { required: ['toString'] }), {})[0]).toBe('spec.toString: Required value');
  });
});

describe('defaults', () => {
  test('a default fills what is absent, and the defaults inside it follow', () => {
    const schema = object({ a: { ...object({ b: { ...whole, default: 7 } }), default: {} } });
    expect(stored(schema, {})).toEqual({ a: { b: 7 } });
    expect(stored(schema, { a: { b: 1 } })).toEqual({ a: { b: 1 } });
  });

  test('null counts as absent unless it is allowed', () => {
    expect(stored(object({ a: { ...whole, default: 7 } }), { a: null })).toEqual({ a: 7 });
    expect(stored(object({ a: { ...whole, default: 7, nullable: true } }), { a: null })).toEqual({ a: null });
    expect(stored(object({ a: whole }), { a: null })).toEqual({});
  });

  test('items and entries get theirs, each its own copy', () => {
    const item = object({ tags: { type: 'array', items: text, default: [] } });
    const result = stored(object({ list: { type: 'array', items: item } }), { list: [{}, {}] }) as {
      list: { tags: string[] }[];
    };
    expect(result.list[0]?.tags).toEqual([]);
    expect(result.list[0]?.tags).not.toBe(result.list[1]?.tags);
    expect(stored({ type: 'object', additionalProperties: item }, { x: {} })).toEqual({ x: { tags: [] } });
  });

  test('the object passed in stays as it was', () => {
    const value = { spec: {} };
    admit(compileSchema(object({ spec: object({ a: { ...whole, default: 1 } }) })), value);
    expect(value).toEqual({ spec: {} });
  });
});

describe('unknown fields', () => {
  const pruned = (schema: Structural, value: unknown) => {
    const { object: result, unknownFields } = admit(compileSchema(schema), value);
    return { result, unknown: unknownFields.map(({ field }) => field) };
  };

  test('are dropped and named, metadata is not looked at', () => {
    const schema = object({ spec: object({ list: { type: 'array', items: object({ a: text }) } }) });
    const value = { metadata: { labels: { x: 'y' } }, kind: 'X', spec: { list: [{ a: '', b: 1 }], z: {} }, extra: 1 };
    expect(pruned(schema, value)).toEqual({
      result: { metadata: { labels: { x: 'y' } }, kind: 'X', spec: { list: [{ a: '' }] } },
      unknown: ['extra', 'spec.list[0].b', 'spec.z'],
    });
  });

  test('stay where the schema says so, but not inside what it describes', () => {
    const keeping: Structural = {
      ...object({ known: object({ a: text }) }),
      'x-kubernetes-preserve-unknown-fields': true,
    };
    const value = { spec: { free: { x: [1] }, known: { a: '', b: '' } } };
    expect(pruned(object({ spec: keeping }), value)).toEqual({
      result: { spec: { free: { x: [1] }, known: { a: '' } } },
      unknown: ['spec.known.b'],
    });
  });

  test('an embedded object keeps its type and metadata, and must have a type', () => {
    const embedded: Structural = { ...object({ spec: object({}) }), 'x-kubernetes-embedded-resource': true };
    const schema = object({ spec: object({ template: embedded }) });
    const template = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' }, spec: { y: 1 } };
    expect(pruned(schema, { spec: { template } }).result).toEqual({ spec: { template: { ...template, spec: {} } } });
    expect(errors(object({ template: embedded }), { template: { kind: '' } })).toEqual([
      'spec.template.apiVersion: Required value',
      'spec.template.kind: Required value: must not be empty',
    ]);
  });
});

describe('lists with identity', () => {
  const set: Structural = { type: 'array', items: text, 'x-kubernetes-list-type': 'set' };
  const map: Structural = {
    type: 'array',
    items: object({ name: text, port: { ...whole, default: 80 }, value: text }),
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name', 'port'],
  };

  test('a set has no element twice', () => {
    expect(errors(set, ['a', 'b', 'a', 'a'])).toEqual(['spec[2]: Duplicate value: "a"']);
  });

  test('a map has no key twice, defaults included', () => {
    expect(errors(map, [{ name: 'a' }, { name: 'a', port: 81 }])).toEqual([]);
    expect(errors(map, [{ name: 'a' }, { name: 'a', port: 80 }])).toEqual([
      'spec[1]: Duplicate value: {"name":"a","port":80}',
    ]);
  });

  test('duplicates that were stored may stay while something else changes', () => {
    const schema = object({ set, other: text });
    expect(errors(schema, { set: ['a', 'a'], other: 'new' }, { set: ['a', 'a'], other: 'old' })).toEqual([]);
  });

  test('an element of a map is compared with its older self, wherever it moved', () => {
    const fixed: Structural = {
      ...map,
      items: object(
        { name: text, port: whole, value: text },
        { 'x-kubernetes-validations': [{ rule: 'self.value == oldSelf.value', message: 'value is fixed' }] },
      ),
    };
    const a = { name: 'a', port: 1, value: 'x' };
    const b = { name: 'b', port: 1, value: 'y' };
    expect(errors(fixed, [b, a], [a, b])).toEqual([]);
    expect(errors(fixed, [b, { ...a, value: 'z' }], [a, b])).toEqual(['spec[1]: Invalid value: value is fixed']);
  });
});

describe('ratcheting', () => {
  const strict = object({ name: { type: 'string', pattern: '^[a-z]+$' }, other: text });

  test('what did not change is not judged again', () => {
    expect(errors(strict, { name: 'A1', other: 'new' }, { name: 'A1', other: 'old' })).toEqual([]);
    expect(errors(strict, { name: 'A2' }, { name: 'A1' })).toHaveLength(1);
  });

  test('rules about one state are spared likewise, rules about a change are not', () => {
    const ruled: Structural = {
      ...object({ name: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self != "bad"' }] }, n: whole }),
      'x-kubernetes-validations': [{ rule: 'self.n >= oldSelf.n', message: 'n only grows' }],
    };
    expect(errors(ruled, { name: 'bad', n: 2 }, { name: 'bad', n: 1 })).toEqual([]);
    expect(errors(ruled, { name: 'bad', n: 1 }, { name: 'bad', n: 2 })).toEqual(['spec: Invalid value: n only grows']);
    expect(errors(ruled, { name: 'bad', n: 1 })).toEqual([
      'spec.name: Invalid value: "bad": failed rule: self != "bad"',
    ]);
  });
});
