// The guide and the README show plans as they print today. KERF_UPDATE=1 writes what they print instead of comparing.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { consoleBlocks, withOutputs } from './console-blocks.ts';
import { runKerf } from './run-kerf.ts';

const root = resolve(import.meta.dirname, '../..');
const guide = join(root, 'docs/guide/plan.md');
const readme = join(root, 'README.md');
const text = readFileSync(guide, 'utf8');
const shown = consoleBlocks(text + readFileSync(readme, 'utf8'));
const update = process.env['KERF_UPDATE'] === '1';
const printed = new Map<string, string>();

test.each(shown)('readers see what `kerf $command` prints', async ({ args, command, output }) => {
  const { code, out, err } = await runKerf(args, { cwd: root });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  printed.set(command, out);
  expect(out).toBe(update ? out : output);
});

test('the guide shows at least eight workloads', () => {
  const files = consoleBlocks(text).flatMap(({ args }) => args.filter((arg) => arg.startsWith('examples/plan/')));
  expect(new Set(files).size).toBeGreaterThanOrEqual(8);
});

afterAll(() => {
  if (!update) return;
  for (const file of [guide, readme]) writeFileSync(file, withOutputs(readFileSync(file, 'utf8'), printed));
});
