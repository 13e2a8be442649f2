import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { readQuickYaml } from './quick-yaml.ts';
import { unsure } from './yaml-scalar.ts';

const sure = (text: string): unknown => {
  const value = readQuickYaml(text);
  expect(value).not.toBe(unsure);
  return value;
};

describe('the quick YAML reader gives what the full parser gives', () => {
  test.each([
    [
      'block maps and lists',
      'a:\n  b: 1\n  c:\n    - x\n    - y: 2\n      z: 3\n    -\n      q: 1\nd:\n- 1\n- - 2\n  - 3\n',
    ],
    ['a list in the column of its key', 'items:\n- a: 1\n- b: 2\nnext: 3\n'],
    ['comments everywhere', '# top\na: 1 # one\n# between\nb: # none\n  # deep\n  c: "x # y"  # end\nd: a#b\n'],
    [
      'scalars',
      'a: true\nb: False\nc: ~\nd:\ne: -1.5e3\nf: 007\ng: 1.2.3\nh: 10%\ni: 1h30m\nj: 1_000\nk: +5\nl: yes\n',
    ],
    ['quoted scalars', `a: "x: y"\nb: 'it''s'\nc: "tab\\t\\u0041"\n"d e": 1\n'f': "0"\ng: ""\n`],
    ['flow collections', 'a: [1, two, "th,ree", [4]]\nb: {c: d, "e": [f], g: {h: i}}\nc: []\nd: {}\n- '.slice(0, -2)],
    ['flow items in a list', '- {key: a, operator: In, values: ["x"]}\n- [1, 2]\n'],
    ['literal blocks', 'a: |\n  #!/bin/bash\n  echo "x: y"\n\n    deeper\n\nb: |-\n  one\nc: |+\n  two\n\nd: 1\n'],
    ['a literal as list item', '- |\n  text\n- x\n'],
    ['a document marker', '---\na: 1\n'],
    ['no final newline', 'a: 1\nb: x'],
    ['Windows line ends', 'a: 1\r\nb:\r\n  - x\r\n  - "y"\r\n'],
    ['an empty document', '# nothing\n\n'],
    ['colons inside words', 'a: http://x:80/y\nb: 12:30:45\nc: a:b\n'],
  ])('%s', (_name, text) => {
    expect(sure(text)).toEqual(parse(text));
  });
});

describe('the quick YAML reader is unsure about', () => {
  test.each([
    ['anchors and aliases', 'a: &x 1\nb: *x\n'],
    ['tags', 'a: !!str 1\n'],
    ['folded text', 'a: >\n  one\n  two\n'],
    ['plain text over two lines', 'a: one\n  two\n'],
    ['quoted text over two lines', 'a: "one\n  two"\n'],
    ['flow collections over two lines', 'a: [1,\n  2]\n'],
    ['duplicate keys', 'a: 1\na: 2\n'],
    ['tabs', 'a:\n\tb: 1\n'],
    ['a missing colon', 'spec:\n  template\n    x: 1\n'],
    ['uneven indentation', 'a:\n    b: 1\n  c: 2\n'],
    ['explicit keys', '? a\n: 1\n'],
    ['a bare scalar', 'just text\n'],
    ['__proto__', '__proto__:\n  a: 1\n'],
    ['large integers', 'a: 12345678901234567890\n'],
  ])('%s', (_name, text) => {
    expect(readQuickYaml(text)).toBe(unsure);
  });
});

const key = fc.oneof(
  { arbitrary: fc.stringMatching(/^[a-z][a-zA-Z0-9./-]{0,8}$/), weight: 30 },
  { arbitrary: fc.string({ maxLength: 6 }), weight: 1 },
);
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 5 },
    tie('leaf'),
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.dictionary(key, tie('tree'), { maxKeys: 5 }),
  ),
  leaf: fc.oneof(
    fc.string({ maxLength: 12 }),
    fc.stringMatching(/^[-+.0-9a-zA-Z:#'" ]{0,8}$/),
    fc.constantFrom('multi\nline', 'trail \n\n', 'true', 'null', '~', '- x', 'a: b', '1e3', '0x1F', '.5', '12:30'),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
  ),
}));

test('whatever the full parser reads from generated YAML, the quick reader reads the same or is unsure', () => {
  let certain = 0;
  fc.assert(
    fc.property(fc.dictionary(key, tree, { maxKeys: 5 }), fc.boolean(), (value, indentSeq) => {
      const text = stringify(value, { indentSeq });
      const quick = readQuickYaml(text);
      if (quick === unsure) return;
      certain += 1;
      expect(quick).toEqual(parse(text));
    }),
    { numRuns: 2000, seed: 7 },
  );
  expect(certain).toBeGreaterThan(400);
});

const fragments = [
  'a:',
  ' ',
  '\n',
  '  ',
  '- ',
  'b',
  '"',
  "'",
  '#',
  ' #',
  '[',
  ']',
  '{',
  '}',
  ',',
  ': ',
  '1',
  'null',
  '|',
  '|-\n',
  '---\n',
  '\r\n',
  '.',
  '-',
  ':',
];

test('on arbitrary text the quick reader never disagrees with the full parser, nor reads what that refuses', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...fragments), { maxLength: 14 }), (parts) => {
      const text = parts.join('');
      const quick = readQuickYaml(text);
      if (quick === unsure) return;
      // Throws when the full parser refuses the text.
      expect(quick).toEqual(parse(text, { logLevel: 'error' }));
    }),
    { numRuns: 40_000, seed: 11 },
  );
});
