import { expect, test } from 'vitest';
import { goJson } from './go-json.ts';

test.each<[unknown, string]>([
  [{ b: 1, a: { d: [1, 'x', true, null], c: 1.5 } }, '{"a":{"c":1.5,"d":[1,"x",true,null]},"b":1}'],
  [{ 'a<b>&': '\u2028' }, '{"a\\u003cb\\u003e\\u0026":"\\u2028"}'],
  [{ '\u{1F600}': 1, '\uFFFD': 2 }, '{"\uFFFD":2,"\u{1F600}":1}'],
  [{}, '{}'],
])('%j is written as Go writes it', (value, text) => {
  expect(goJson(value)).toBe(text);
});
