import { expect, test } from 'vitest';
import { durationMs, shortened } from './format.ts';

test.each([
  ['720h', 2_592_000_000],
  ['1h30m', 5_400_000],
  ['24h0m0s', 86_400_000],
  ['1.5s', 1_500],
  ['Never', undefined],
  ['', undefined],
  ['5 days', undefined],
])('"%s" is %s milliseconds', (text, ms) => {
  expect(durationMs(text)).toBe(ms);
});

test('a long reason is short, and keeps what its users search for', () => {
  const message = 'no instance type has enough resources, requirements=a In [b], resources={"cpu":"4"}';
  expect(shortened(message)).toEqual({
    text: 'no instance type has enough resources',
    rest: 'requirements=a In [b], resources={"cpu":"4"}',
  });
  expect(shortened('did not tolerate taint')).toEqual({ text: 'did not tolerate taint', rest: '' });
});
