// A whole release as its maker runs it, signed with cosign: everything is there, twice the same, and whoever has the public
// key sees when a file was changed.
import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { sign } from '../../scripts/release/sign.ts';
import { provideCosign } from '../setup/cosign.ts';

const folder = mkdtempSync(join(tmpdir(), 'kerf-signed-'));
const [first, second] = [join(folder, 'first'), join(folder, 'second')];
const publicKey = join(folder, 'release.pub');
const env = { ...process.env, COSIGN_PASSWORD: 'a password' };
const { version } = manifest;
let cosign = '';

function release(out: string, ...args: string[]): string {
  const path = [dirname(cosign), process.env['PATH']].join(delimiter);
  return execFileSync(process.execPath, ['scripts/release.ts', '--out', out, ...args], {
    encoding: 'utf8',
    env: { ...env, PATH: path },
  });
}

beforeAll(async () => {
  cosign = await provideCosign((line) => console.error(line));
  execFileSync(cosign, ['generate-key-pair', '--output-key-prefix', 'release'], { cwd: folder, env, stdio: 'ignore' });
  release(first, '--cosign-key', join(folder, 'release.key'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const verified = (file: string, bundle = `${file}.sigstore.json`): boolean =>
  spawnSync(cosign, ['verify-blob', '--key', publicKey, '--bundle', bundle, '--insecure-ignore-tlog=true', file], {
    env,
  }).status === 0;

test('a release is everything in one folder, with sums that hold', () => {
  const names = readdirSync(first, { recursive: true }).map(String).sort();
  expect(names).toEqual(
    [
      'SHA256SUMS',
      'SHA256SUMS.sig',
      'SHA256SUMS.sigstore.json',
      'charts',
      `charts/kerf-${version}.tgz`,
      `charts/kerf-crd-${version}.tgz`,
      `kerf-${version}-crds.yaml`,
      `kerf-${version}-image-amd64.cdx.json`,
      `kerf-${version}-image-arm64.cdx.json`,
      `kerf-${version}-image.digest`,
      `kerf-${version}-image.tar`,
      `kerf-${version}.cdx.json`,
      `kerf-${version}.tgz`,
      `kubectl-kerf-${version}.tar.gz`,
      'kubectl-kerf.krew.yaml',
    ].sort(),
  );
  const said = execFileSync('sha256sum', ['-c', 'SHA256SUMS'], { cwd: first, encoding: 'utf8' });
  expect(said.trim().split('\n')).toHaveLength(11);
});

test('cosign and OpenSSL both accept the signature, and refuse it for anything else', () => {
  const sums = join(first, 'SHA256SUMS');
  expect(verified(sums)).toBe(true);
  const args = ['dgst', '-sha256', '-verify', publicKey, '-signature', `${sums}.sig`];
  expect(execFileSync('openssl', [...args, sums], { encoding: 'utf8' })).toContain('Verified OK');
  const changed = join(folder, 'changed');
  execFileSync('cp', [sums, changed]);
  appendFileSync(changed, '0  more\n');
  expect(verified(changed, `${sums}.sigstore.json`)).toBe(false);
  expect(spawnSync('openssl', [...args, changed]).status).not.toBe(0);
});

test('two releases of the same sources are the same, byte for byte', () => {
  release(second);
  expect(readFileSync(join(second, 'SHA256SUMS'), 'utf8')).toBe(readFileSync(join(first, 'SHA256SUMS'), 'utf8'));
});

test('a key that cannot be read, and a machine without cosign, are said', () => {
  const file = join(second, 'SHA256SUMS');
  const key = join(folder, 'none.key');
  expect(() => sign(file, { key, isLogged: false, program: cosign })).toThrow(/cannot sign .*none\.key/s);
  expect(() => sign(file, { key, isLogged: false, program: 'cosign-is-not-here' })).toThrow(/ENOENT/);
});
