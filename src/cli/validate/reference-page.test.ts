import { expect, test } from 'vitest';
import { validateReferencePage } from './reference-page.ts';
import { rules } from './rules/index.ts';

test('the reference page has one section for every rule, with all of its texts', () => {
  const page = validateReferencePage();
  expect([...page.matchAll(/^### (\w+)$/gm)].map((match) => match[1])).toEqual(rules.map(({ id }) => id));
  for (const { wrong, why, instead } of rules) for (const text of [wrong, why, instead]) expect(page).toContain(text);
});
