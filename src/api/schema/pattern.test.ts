import { expect, test } from 'vitest';
import { compilePattern } from './pattern.ts';

test.each([
  ['^a.c$', 'a\rc', true],
  ['^a.c$', 'a\nc', false],
  ['^\\s$', ' ', true],
  ['^\\s$', '\u00a0', false],
  ['^\\S$', '\u00a0', true],
  ['^[\\s]$', '\u00a0', false],
  ['(?i)^abc$', 'ABC', true],
  ['\\Aabc\\z', 'abc', true],
  ['^[[:alpha:]]+$', 'abc', true],
  ['^[[:alpha:]]+$', 'ab1', false],
  ['^(?P<name>a)$', 'a', true],
  ['^[a\\-z]$', '-', true],
  ['^a\\-z$', 'a-z', true],
  ['^\\x{1F642}$', '🙂', true],
  ['^.$', '🙂', true],
  ['b', 'abc', true],
  ['^[.]$', 'x', false],
])('%s on %j: %s, as RE2 has it', (pattern, text, matches) => {
  expect(compilePattern(pattern)?.test(text)).toBe(matches);
});

test('what JavaScript cannot read says nothing', () => {
  expect(compilePattern('(')).toBeUndefined();
});
