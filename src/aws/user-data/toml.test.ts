import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readToml, TomlLiteral, type TomlValue } from './toml-reader.ts';
import { writeToml } from './toml-writer.ts';

/** As JSON would have it, with literals as `#text`. */
function plain(value: TomlValue): unknown {
  if (value instanceof TomlLiteral) return `#${value.text}`;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, plain(v)]));
  return value;
}

const read = (text: string) => plain(readToml(text));

describe('TOML', () => {
  test.each<[string, string, unknown]>([
    ['nothing', '', {}],
    ['comments and blank lines', '# a\n\n  # b\na = 1 # c\n', { a: '#1' }],
    ['keys', 'a.b."c.d" = 1\n\'e f\' = 2\n1-x = 3', { a: { b: { 'c.d': '#1' } }, 'e f': '#2', '1-x': '#3' }],
    ['tables', '[a]\nx = 1\n[a.b]\ny = 2\n[c]', { a: { x: '#1', b: { y: '#2' } }, c: {} }],
    ['a table named after one inside it', '[a.b]\ny = 2\n[a]\nx = 1', { a: { b: { y: '#2' }, x: '#1' } }],
    ['arrays of tables', '[[a]]\nx = 1\n[a.b]\ny = 2\n[[a]]\nx = 3', { a: [{ x: '#1', b: { y: '#2' } }, { x: '#3' }] }],
    ['inline tables', 'a = { x = 1, y.z = "b" }\nb = {}', { a: { x: '#1', y: { z: 'b' } }, b: {} }],
    ['inline tables that end in a comma, as TOML 1.1 has them', 'a = { x = 1, }', { a: { x: '#1' } }],
    ['tabs in comments and strings', '#\ta\nb = "\t" #\tc', { b: '\t' }],
    ['arrays over lines', 'a = [\n  1, # one\n  2,\n]\nb = []', { a: ['#1', '#2'], b: [] }],
    ['arrays of arrays', 'a = [["x", "y"], [1]]', { a: [['x', 'y'], ['#1']] }],
    ['basic strings', 'a = "b\\t\\"c\\" \\u00e9 \\U0001F600 \\\\"', { a: 'b\t"c" é 😀 \\' }],
    ['literal strings', 'a = \'C:\\x "y"\'', { a: 'C:\\x "y"' }],
    ['long strings', 'a = """\nb\\\n   c\n"d" """\ne = \'\'\'\nf\\n\'\'\'', { a: 'bc\n"d" ', e: 'f\\n' }],
    ['long strings that end in quotes', 'a = """b"""""', { a: 'b""' }],
    [
      'numbers, booleans and times in their own words',
      'a = 1_000\nb = 0xff\nc = 1.5e3\nd = true\ne = 1979-05-27T07:32:00Z\nf = -inf\ng = 07:32:00',
      { a: '#1_000', b: '#0xff', c: '#1.5e3', d: '#true', e: '#1979-05-27T07:32:00Z', f: '#-inf', g: '#07:32:00' },
    ],
    ['lines that end in CRLF', 'a = 1\r\n[b]\r\nc = "d"\r\n', { a: '#1', b: { c: 'd' } }],
  ])('has %s', (_, text, value) => {
    expect(read(text)).toEqual(value);
  });

  test.each([
    ['a', 1],
    ['a = ', 1],
    ['a = b', 1],
    ['a = 01', 1],
    ['ok = 1\na = "b', 2],
    ['a = "b\nc"', 1],
    ['a = 1 b = 2', 1],
    ['a = 1\na = 2', 2],
    ['[a]\n[a]', 2],
    ['a = {}\n[a]', 2],
    ['a = { b = 1 }\na.c = 2', 2],
    ['a = []\n[[a]]', 2],
    ['a = 1\n[a.b]', 2],
    ['[a', 1],
    ['a = [1 2]', 1],
    ['a = { b = 1', 1],
    ['a = "\\x"', 1],
    ['a = "\u007f"', 1],
    ["a = '\u0001'", 1],
    ['a = """\nb\rc"""', 2],
    ['# a comment\rb = 1', 1],
    ['a = 1\rb = 2', 1],
    ['a = { , }', 1],
  ])('refuses %j and says the line, not the text', (text, line) => {
    expect(() => readToml(text)).toThrow(`cannot read spec.userData as TOML: line ${line}: expected`);
  });

  test.each([
    'a = 2026-02-30',
    'a = 2026-13-01T00:00:00Z',
    'a = 24:00:00',
    'a = 9223372036854775808',
    'a = -9223372036854775809',
    'a = 0x8000000000000000',
    'a = "\\uD800"',
    'a = "\\U00110000"',
  ])('%s cannot be', (text) => {
    expect(() => readToml(text)).toThrow('line 1: expected');
  });

  test.each(['a = 2024-02-29', 'a = 23:59:60', 'a = 9223372036854775807', 'a = -9223372036854775808', 'a = 1_000'])(
    '%s can',
    (text) => {
      expect(Object.keys(readToml(text))).toEqual(['a']);
    },
  );

  test.each([
    ['arrays', '[', ']'],
    ['tables', '{a=', '}'],
  ])('%s that nest without end are refused with a place, not an overflow', (_, open, close) => {
    const nested = (depth: number): string => `b = 1\na = ${open.repeat(depth)}1${close.repeat(depth)}`;
    expect(() => readToml(nested(100))).not.toThrow();
    expect(() => readToml(nested(100_000))).toThrow('line 2: expected a value that is nested at most 100 levels deep');
  });

  test('a key called __proto__ is a key like any other', () => {
    expect(Object.keys(readToml('__proto__ = 1\n[a.__proto__]\nb = 2'))).toEqual(['__proto__', 'a']);
    expect(({} as { b?: unknown }).b).toBeUndefined();
  });

  test('is written with plain values before tables, in the order of keys, in single quotes where possible', () => {
    const text = writeToml({
      b: { y: 'it', x: { deep: [['a', 'b'], ["c'd"]] }, t: [{ n: 1 }, { n: 2, m: { o: true } }] },
      a: 'line\nbreak',
      'c.d': {},
    });
    expect(text).toBe(`a = "line\\nbreak"

[b]
y = 'it'

[[b.t]]
n = 1

[[b.t]]
n = 2

[b.t.m]
o = true

[b.x]
deep = [['a', 'b'], ["c'd"]]

['c.d']
`);
  });

  const value: fc.Arbitrary<TomlValue> = fc.letrec<{ value: TomlValue; table: TomlValue }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.string({ unit: 'binary' }).map((text) => text.toWellFormed()),
      fc.integer().map((number) => new TomlLiteral(String(number))),
      fc.boolean().map((flag) => new TomlLiteral(String(flag))),
      fc.array(tie('value'), { maxLength: 3 }),
      tie('table'),
    ),
    table: fc.dictionary(
      fc.string({ unit: 'binary', maxLength: 5 }).map((text) => text.toWellFormed()),
      tie('value'),
      { maxKeys: 4 },
    ),
  })).table;

  test('what is written is read back the same', () => {
    fc.assert(
      fc.property(value, (table) => {
        expect(read(writeToml(table as never))).toEqual(plain(table));
      }),
      { seed: 5, numRuns: 300 },
    );
  });
});
