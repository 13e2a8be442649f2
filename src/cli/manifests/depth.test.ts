import { expect, test } from 'vitest';
import { readFullYaml } from './full-yaml.ts';

test.each<[string, string]>([
  ['brackets', `a: ${'['.repeat(20_000)}${']'.repeat(20_000)}`],
  ['braces', '{a: '.repeat(5_000)],
  ['blocks', Array.from({ length: 3_000 }, (_, level) => `${' '.repeat(level)}a:`).join('\n')],
  ['dashes', `${'- '.repeat(10_000)}a`],
])('%s nested without end are refused with a place, not a stack overflow', (_, text) => {
  const { problems, value } = readFullYaml(text);
  expect([value, problems[0]?.message]).toEqual([undefined, 'nested more than 200 levels deep']);
});
