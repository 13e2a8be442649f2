import {
  existsSync,
  globSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { writeWhole } from './whole-file.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kerf-whole-file-'));
  path = join(folder, 'pool.yaml');
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

test('a file is made, or replaced with its permissions, and nothing else is left', async () => {
  await writeWhole(path, 'one\n', 0o600);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  await writeWhole(path, 'two\n');
  expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual(['two\n', 0o600]);
  expect(readdirSync(folder)).toEqual(['pool.yaml']);
});

test('a link is followed, and stays one', async () => {
  writeFileSync(join(folder, 'real.yaml'), 'one\n');
  symlinkSync(join(folder, 'real.yaml'), path);
  await writeWhole(path, 'two\n');
  expect([lstatSync(path).isSymbolicLink(), readFileSync(join(folder, 'real.yaml'), 'utf8')]).toEqual([true, 'two\n']);
});

test('when writing fails, what was there is there', async () => {
  writeFileSync(path, 'precious\n');
  // Larger than what may be written at all: the write fails after the file was made.
  const tooMuch = {
    toString: () => {
      throw new Error('ENOSPC: no space left on device');
    },
  } as unknown as string;
  await expect(writeWhole(path, tooMuch)).rejects.toThrow();
  expect([readFileSync(path, 'utf8'), readdirSync(folder)]).toEqual(['precious\n', ['pool.yaml']]);
  await expect(writeWhole(join(folder, 'missing', 'a.yaml'), 'x')).rejects.toThrow(/ENOENT/);
  expect(existsSync(join(folder, 'missing'))).toBe(false);
});

test('a device is written to, not replaced', async () => {
  await writeWhole('/dev/null', 'x');
  expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
});

test('bytes are written as they are', async () => {
  const bytes = Uint8Array.from([0x1f, 0x8b, 0, 0xff]);
  await writeWhole(path, bytes);
  expect([...readFileSync(path)]).toEqual([...bytes]);
});

test('no command writes a file in another way; a log is appended to', () => {
  const cli = join(import.meta.dirname, '..');
  const writes = /\b(?:writeFile|writeFileSync|appendFile|appendFileSync|createWriteStream|copyFile|cpSync)\(/;
  const others = globSync('**/*.ts', { cwd: cli })
    .filter((file) => !/\.test(?:ing)?\.ts$/.test(file) && writes.test(readFileSync(join(cli, file), 'utf8')))
    .sort();
  expect(others).toEqual(['output/whole-file.ts', 'up/up.ts']);
});
