// What `npm run build` ships: one file that needs nothing beside it but a Node.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runKerf } from './run-kerf.ts';

const root = resolve(import.meta.dirname, '../..');
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'kerf-bundle-'));
  copyFileSync(join(root, 'dist/kerf.cjs'), join(folder, 'kerf.cjs'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const alone = (...args: string[]): string =>
  execFileSync(process.execPath, [join(folder, 'kerf.cjs'), ...args], { cwd: folder, encoding: 'utf8' });

test('the bundle alone, in an empty folder, is the whole command', async () => {
  expect(alone('--help')).toContain('kerf [options] [command]');
  for (const args of [
    ['crds'],
    ['iam', 'policy', '--cluster', 'prod', '--region', 'eu-west-1', '--account', '111122223333'],
    ['plan', '--bound', '-f', join(root, 'examples/plan/web-over-zones.yaml')],
  ])
    expect(alone(...args)).toBe((await runKerf(args)).out);
});
