// What the page of failures says to look at exists: metrics in the reference, events, conditions and log texts in the source.
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '..');
const page = readFileSync(join(root, 'docs/guide/operations.md'), 'utf8');
const rows = page.split('\n').filter((line) => line.startsWith('| '));
const metrics = readFileSync(join(root, 'docs/reference/metrics.md'), 'utf8');
const source = globSync('src/**/*.ts', { cwd: root })
  .filter((file) => !file.includes('.test'))
  .map((file) => readFileSync(join(root, file), 'utf8'))
  .join('\n');

const filledIn = /…|a NodeClaimList|cannot terminate|=False/;

/** The last column: where to look. */
const named = rows
  .slice(1)
  .flatMap((row) => [...(row.split('|').at(-2) ?? '').matchAll(/`([^`]+)`/g)].map(([, text]) => text ?? ''));

test('the page names things to look at', () => {
  expect(rows.length).toBeGreaterThan(20);
  expect(named.length).toBeGreaterThan(25);
});

/** What of it exists nowhere. Texts are filled in; the parts between are literal. */
function missingOf(text: string): string[] {
  if (/^(kerf|aws_sdk_go|karpenter|leader_election)_/.test(text)) return metrics.includes(`\`${text}\``) ? [] : [text];
  const parts = text.startsWith('kerf ') ? [`'${text.split(' ')[1]}'`] : text.split(filledIn);
  return parts.filter((part) => !source.includes(part.trim()));
}

test.each([...new Set(named)])('%s', (text) => {
  expect(missingOf(text)).toEqual([]);
});
