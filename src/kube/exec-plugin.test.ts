import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as settle } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { formatTime, VirtualClock } from '../base/index.ts';
import { ExecCredentials, type ExecPluginOptions } from './exec-plugin.ts';
import type { ExecEntry } from './kubeconfig-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'kerf-exec-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let plugins = 0;

/** A plugin that runs `body`, with `runs` counting its runs and `info` what it received. */
function plugin(body: string, entry: Partial<ExecEntry> = {}, options: Partial<ExecPluginOptions> = {}) {
  const script = join(folder, `plugin-${plugins++}.cjs`);
  const log = `${script}.log`;
  writeFileSync(log, '');
  writeFileSync(
    script,
    `require('node:fs').appendFileSync(${JSON.stringify(log)}, process.env.KUBERNETES_EXEC_INFO + '\\n');
     const info = JSON.parse(process.env.KUBERNETES_EXEC_INFO);
     const answer = (status, more) => console.log(JSON.stringify({ apiVersion: info.apiVersion, kind: 'ExecCredential', status, ...more }));
     ${body}`,
  );
  const clock = new VirtualClock({ settle });
  const credentials = new ExecCredentials({
    entry: {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: process.execPath,
      args: [script],
      env: {},
      provideClusterInfo: false,
      interactiveMode: 'IfAvailable',
      ...entry,
    },
    user: 'ana',
    cluster: { server: 'https://api', 'certificate-authority-data': 'Y2E=', config: { region: 'eu' } },
    clock,
    env: { OUTER: 'kept' },
    isTerminal: false,
    ...options,
  });
  const reported = (): { spec: Record<string, unknown> }[] =>
    readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  return { credentials, clock, reported };
}

test('concurrent callers share one run, and its answer is kept until it expires', async () => {
  const clock = new VirtualClock({ settle });
  const expiry = formatTime(clock.now() + 60_000);
  const { credentials, reported } = plugin(
    `answer({ token: 'run-' + Date.now(), expirationTimestamp: '${expiry}' })`,
    {},
    { clock },
  );
  const first = await Promise.all([credentials.headers(), credentials.headers(), credentials.certificate()]);
  expect(first[0]).toEqual(first[1]);
  await clock.runFor(59_000);
  await credentials.headers();
  expect(reported().length).toBe(1);
  await clock.runFor(1_000);
  await credentials.headers();
  expect(reported().length).toBe(2);
});

test('without an expiry the answer is kept until the server rejects it', async () => {
  const { credentials, clock, reported } = plugin("answer({ token: 'abc' })");
  await credentials.headers();
  await clock.runFor(86_400_000);
  expect(await credentials.headers()).toEqual({ authorization: 'Bearer abc' });
  expect(reported().length).toBe(1);
  expect(credentials.rejected()).toBe(true);
  await credentials.headers();
  expect(reported().length).toBe(2);
});

test('the plugin gets our environment with its own additions, and cluster facts only if it asks', async () => {
  const body = "answer({ token: process.env.OUTER + '-' + process.env.INNER })";
  const plain = plugin(body, { env: { INNER: 'added' } });
  expect(await plain.credentials.headers()).toEqual({ authorization: 'Bearer kept-added' });
  expect(plain.reported()[0]?.spec).toEqual({ interactive: false });
  const asking = plugin(body, { env: { INNER: 'added' }, provideClusterInfo: true });
  await asking.credentials.headers();
  expect(asking.reported()[0]?.spec).toEqual({
    interactive: false,
    cluster: { server: 'https://api', 'certificate-authority-data': 'Y2E=', config: { region: 'eu' } },
  });
});

test('a terminal is lent only where it is allowed and there', async () => {
  const body = "answer({ token: 'abc' })";
  const lent = plugin(body, {}, { isTerminal: true });
  await lent.credentials.headers();
  expect(lent.reported()[0]?.spec).toEqual({ interactive: true });
  const never = plugin(body, { interactiveMode: 'Never' }, { isTerminal: true });
  await never.credentials.headers();
  expect(never.reported()[0]?.spec).toEqual({ interactive: false });
  const always = plugin(body, { interactiveMode: 'Always' });
  await expect(always.credentials.headers()).rejects.toThrow('needs a terminal');
  expect(always.reported()).toEqual([]);
});

test('a certificate is handed over, and stays the same object while it is the same', async () => {
  const { credentials } = plugin("answer({ clientCertificateData: 'cert', clientKeyData: 'key' })");
  const first = await credentials.certificate();
  expect(first).toEqual({ certificate: 'cert', key: 'key' });
  expect(await credentials.headers()).toEqual({});
  expect(await credentials.certificate()).toBe(first);
});

test.each([
  ['process.exit(3)', 'ended with code 3'],
  ["console.log('not json')", 'is not JSON'],
  ["console.log('null')", 'it printed undefined undefined'],
  ["answer({ token: 'a' }, { apiVersion: 'client.authentication.k8s.io/v1beta1' })", 'was expected'],
  ['answer({})', 'neither status.token nor'],
  ["answer({ clientCertificateData: 'a' })", 'only one of'],
  ["answer({ token: 'a', expirationTimestamp: 'tomorrow' })", '"tomorrow" is not an RFC 3339 time'],
])('a plugin that does %s fails with what was wrong', async (body, problem) => {
  const { credentials } = plugin(body);
  await expect(credentials.headers()).rejects.toMatchObject({
    code: 'CredentialPluginFailed',
    message: expect.stringContaining(problem),
  });
});

test('a missing plugin is reported with its install hint', async () => {
  const { credentials } = plugin('', { command: 'kerf-no-such-plugin', installHint: 'brew install it' });
  await expect(credentials.headers()).rejects.toThrow(
    'the program was not found; install it or correct the path\nbrew install it',
  );
});

test('a plugin that waits for input is ended after a minute', async () => {
  const { credentials, clock } = plugin('setInterval(() => {}, 1000)');
  const asked = credentials.headers().catch(String);
  await clock.runFor(60_000);
  expect(await asked).toContain('printed nothing within 60 s');
});
