// A fresh clone installs exactly what the lock file says: asked of a copy of the real script, with an npm that only writes
// down how it was called.
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '..');
let clone: string;

beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'kerf-clone-'));
  for (const file of ['scripts/bootstrap.mjs', 'bin/hand-over.mjs']) cpSync(join(root, file), join(clone, file));
  writeFileSync(join(clone, 'package-lock.json'), '{}');
  writeFileSync(join(clone, 'say.mjs'), "console.log('it runs');");
});
afterEach(() => rmSync(clone, { recursive: true, force: true }));

/** Installs what the script looks for, unless `refuses` is the command it is asked for. */
function npmThat(refuses: string): void {
  const bin = join(clone, 'fake-bin');
  mkdirSync(bin);
  writeFileSync(
    join(bin, 'npm'),
    `#!/bin/sh
echo "$1" >> ${clone}/calls
[ "$1" = ${refuses} ] && exit 1
mkdir -p node_modules/node/bin && ln -sf ${process.execPath} node_modules/node/bin/node && touch node_modules/.package-lock.json
`,
  );
  chmodSync(join(bin, 'npm'), 0o755);
}

const run = (): string =>
  execFileSync(process.execPath, [join(clone, 'scripts/bootstrap.mjs'), join(clone, 'say.mjs')], {
    env: { ...process.env, PATH: `${clone}/fake-bin:${process.env['PATH']}` },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
const calls = (): string[] =>
  existsSync(join(clone, 'calls')) ? readFileSync(join(clone, 'calls'), 'utf8').trim().split('\n') : [];

test('npm ci installs, once', () => {
  npmThat('nothing');
  expect(run()).toContain('it runs');
  expect(run()).toContain('it runs');
  expect(calls()).toEqual(['ci']);
});

test('npm install is asked only where npm ci refuses', () => {
  npmThat('ci');
  expect(run()).toContain('it runs');
  expect(calls()).toEqual(['ci', 'install']);
});
