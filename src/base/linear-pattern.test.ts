import fc from 'fast-check';
import { expect, test } from 'vitest';
import { linearPattern } from './linear-pattern.ts';

const cases: [pattern: string, texts: string[]][] = [
  ['.*', ['', 'anything']],
  ['^Nvidia', ['NvidiaXID79Error', 'xNvidia']],
  ['XID(48|79|95)Error$', ['NvidiaXID79Error', 'NvidiaXID7Error', 'NvidiaXID79ErrorX']],
  ['(?:a|b)+c?', ['ab', 'c', '']],
  ['[A-Z][a-z0-9_-]{2,4}x', ['Ab1x', 'A1x', 'Xabcdex']],
  ['^[^0-9]\\d\\.\\w$', ['a1.b', '11.b', 'a1xb']],
  ['(?i)readY', ['KubeletREADY', 'reday']],
  ['(x+x+)+y', ['xxxy', 'xxx']],
  ['^a{3}$', ['aaa', 'aaaa', 'aa']],
  ['a|', ['', 'b']],
  ['(?P<kind>Disk|Net)Full', ['DiskFull', 'CpuFull']],
];

test('it says what a regular expression says', () => {
  for (const [pattern, texts] of cases) {
    const source = pattern.replace('(?i)', '').replace('?P<', '?<');
    const expected = new RegExp(source, pattern.startsWith('(?i)') ? 'iu' : 'u');
    for (const text of texts)
      expect([pattern, text, linearPattern(pattern)?.(text)]).toEqual([pattern, text, expected.test(text)]);
  }
});

test('of random patterns too', () => {
  const atom = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '(a|b)', '(ab)', '(a*b)');
  const piece = fc.tuple(atom, fc.constantFrom('', '*', '+', '?', '{1,2}')).map((parts) => parts.join(''));
  const pattern = fc.tuple(fc.constantFrom('', '^'), fc.array(piece, { maxLength: 4 }), fc.constantFrom('', '$'));
  fc.assert(
    fc.property(
      pattern,
      fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 }),
      ([start, parts, end], text) => {
        const source = `${start}${parts.join('')}${end}`;
        expect(linearPattern(source)?.(text)).toBe(new RegExp(source, 'u').test(text));
      },
    ),
    { numRuns: 500 },
  );
});

test('what backtracking would take years for takes no time', () => {
  const startedMs = performance.now();
  expect(linearPattern('^(a+)+$')?.(`${'a'.repeat(20_000)}b`)).toBe(false);
  expect(performance.now() - startedMs).toBeLessThan(2_000);
});

test('what it cannot read it does not guess at', () => {
  for (const pattern of ['(', ')', 'a**?(', '[a', 'a{2,1}', '\\1', '(?=a)', '*', '\\', 'a{2000}', '(?<!a)b']) {
    expect([pattern, linearPattern(pattern)]).toEqual([pattern, undefined]);
  }
});
