import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as settle } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { VirtualClock } from '../base/index.ts';
import { type AccessOptions, findAccess } from './access.ts';

const folder = mkdtempSync(join(tmpdir(), 'kerf-access-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = (name: string, text: string): string => {
  const path = join(folder, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
  return path;
};

const config = (fields: { cluster?: string; user?: string; context?: string; current?: string } = {}): string => `
current-context: ${fields.current ?? 'main'}
contexts: [{name: main, context: ${fields.context ?? '{cluster: c, user: u}'}}]
clusters: [{name: c, cluster: ${fields.cluster ?? '{server: "https://api"}'}}]
users: [{name: u, user: ${fields.user ?? '{token: abc}'}}]
`;

const find = (options: Partial<AccessOptions> = {}) =>
  findAccess({ clock: new VirtualClock({ settle }), env: {}, ...options });
const refusal = (text: string): Promise<string> =>
  find({ kubeconfig: file('failing.yaml', text) }).then(
    () => 'accepted',
    (error: Error) => error.message,
  );

test('in a merge the first file that names an entry or the current context wins, missing files are skipped', async () => {
  const first = file('one/first.yaml', 'current-context: main\nusers: [{name: u, user: {token: first}}]');
  const second = file(
    'two/second.yaml',
    config({
      current: 'other',
      user: '{token: second}',
      cluster: '{server: "https://second", certificate-authority: ca.crt}',
    }),
  );
  file('two/ca.crt', 'authority');
  const access = await find({ env: { KUBECONFIG: `${join(folder, 'missing')}::${first}:${second}` } });
  expect(access).toMatchObject({ server: 'https://second', tls: { ca: 'authority' } });
  expect(await access.credentials.headers()).toEqual({ authorization: 'Bearer first' });
});

test('a named context is used instead of the current one', async () => {
  const path = file('contexts.yaml', config({ current: 'absent' }));
  expect((await find({ kubeconfig: path, context: 'main' })).server).toBe('https://api');
});

test('data takes precedence over files, for authorities and certificates', async () => {
  const data = Buffer.from('data').toString('base64');
  const path = file(
    'data.yaml',
    config({
      cluster: `{server: "https://api", certificate-authority: nowhere, certificate-authority-data: ${data}}`,
      user: `{client-certificate: nowhere, client-certificate-data: ${data}, client-key: nowhere, client-key-data: ${data}}`,
    }),
  );
  const access = await find({ kubeconfig: path });
  expect(access.tls.ca).toBe('data');
  expect(await access.credentials.certificate()).toEqual({ certificate: 'data', key: 'data' });
});

test('a server without a scheme is https when there is something to verify it by', async () => {
  const bare = file('bare.yaml', config({ cluster: '{server: "api:6443"}' }));
  expect((await find({ kubeconfig: bare })).server).toBe('http://api:6443');
  const insecure = file('insecure.yaml', config({ cluster: '{server: "api:6443", insecure-skip-tls-verify: true}' }));
  expect((await find({ kubeconfig: insecure })).server).toBe('https://api:6443');
});

test('a token file wins over a token and is read again every minute', async () => {
  const token = file('rotating', 'one\n');
  const clock = new VirtualClock({ settle });
  const path = file('rotating.yaml', config({ user: '{token: never, tokenFile: rotating}' }));
  const { credentials } = await find({ clock, kubeconfig: path });
  expect(await credentials.headers()).toEqual({ authorization: 'Bearer one' });
  writeFileSync(token, 'two\n');
  await clock.runFor(59_000);
  expect(await credentials.headers()).toEqual({ authorization: 'Bearer one' });
  await clock.runFor(1_000);
  expect(await credentials.headers()).toEqual({ authorization: 'Bearer two' });
  rmSync(token);
  await clock.runFor(60_000);
  expect(await credentials.headers()).toEqual({ authorization: 'Bearer two' });
  writeFileSync(token, 'three\n');
  expect(credentials.rejected()).toBe(true);
  expect(await credentials.headers()).toEqual({ authorization: 'Bearer three' });
});

test('impersonation carries user, uid, groups and extra fields', async () => {
  const user = '{token: abc, as: ana, as-uid: "7", as-groups: [a, b], as-user-extra: {"Scopes/x": [read, write]}}';
  const { credentials } = await find({ kubeconfig: file('as.yaml', config({ user })) });
  expect(await credentials.headers()).toEqual({
    authorization: 'Bearer abc',
    'impersonate-user': 'ana',
    'impersonate-uid': '7',
    'impersonate-group': ['a', 'b'],
    'impersonate-extra-scopes%2Fx': ['read', 'write'],
  });
});

test('a pod uses its service account, also on IPv6, and re-reads its token, even if there is a home with a kubeconfig', async () => {
  file('home/.kube/config', config());
  file('account/ca.crt', 'pod authority');
  const token = file('account/token', 'first');
  file('account/namespace', 'karpenter\n');
  const clock = new VirtualClock({ settle });
  const env = { HOME: join(folder, 'home'), KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '6443' };
  const access = await find({ clock, env, serviceAccountFolder: join(folder, 'account') });
  expect(access).toMatchObject({
    server: 'https://[fd00::1]:6443',
    namespace: 'karpenter',
    tls: { ca: 'pod authority' },
  });
  writeFileSync(token, 'second');
  await clock.runFor(60_000);
  expect(await access.credentials.headers()).toEqual({ authorization: 'Bearer second' });
  expect((await find({ env, context: 'main' })).server).toBe('https://api');
});

test('~/.kube/config is used when nothing else is there', async () => {
  file('home/.kube/config', config());
  expect((await find({ env: { HOME: join(folder, 'home') } })).server).toBe('https://api');
});

test('without any configuration the error says what was looked at', async () => {
  await expect(find({ env: { HOME: '/nowhere' } })).rejects.toMatchObject({
    code: 'KubeconfigMissing',
    message: expect.stringContaining('/nowhere/.kube/config does not exist'),
  });
  await expect(find({ env: { KUBECONFIG: '/nowhere/a:/nowhere/b' } })).rejects.toThrow('/nowhere/a:/nowhere/b');
  await expect(find({ kubeconfig: '/nowhere/a' })).rejects.toMatchObject({
    code: 'KubeconfigUnreadable',
    message: expect.stringMatching(/^cannot read kubeconfig \/nowhere\/a: there is no such file$/),
  });
});

test('a mistake in a kubeconfig is named with its file and field', async () => {
  expect(await refusal('{{')).toContain('is not YAML or JSON');
  expect(await refusal('[]')).toContain('the document must be a mapping');
  expect(await refusal('clusters: 7')).toContain('clusters must be a list');
  expect(await refusal(config({ user: '{token: 12345}' }))).toContain('users[0].user.token must be text, not 12345');
  expect(await refusal(config({ user: '{client-key-data: "%%%"}' }))).toContain(
    'users[0].user.client-key-data is not base64',
  );
  expect(await refusal(config({ cluster: '{server: "https://a", insecure-skip-tls-verify: "yes"}' }))).toContain(
    'true or false',
  );
  expect(await refusal('users: [{name: a}, {name: a}]')).toContain('users[1].name "a" is used twice');
  expect(await refusal(config({ cluster: '{}' }))).toContain('cluster "c" has no server');
  expect(await refusal(config({ cluster: '{server: "https://a b"}' }))).toContain('which is not a URL');
});

test('what a context names must exist, and the error lists what does', async () => {
  expect(await refusal(config({ current: 'gone' }))).toContain('no context "gone" in');
  expect(await refusal(config({ current: 'gone' }))).toContain('use one of these: main');
  expect(await refusal(config({ current: '""' }))).toContain('no current-context');
  expect(await refusal(config({ context: '{cluster: gone, user: u}' }))).toContain('no cluster "gone"');
  expect(await refusal(config({ context: '{cluster: c, user: gone}' }))).toContain('no user "gone"');
  const anonymous = file('anonymous.yaml', config({ context: '{cluster: c}' }));
  expect(await (await find({ kubeconfig: anonymous })).credentials.headers()).toEqual({});
});

test('credentials that contradict each other or are incomplete are refused', async () => {
  expect(await refusal(config({ user: '{token: a, username: b, password: c}' }))).toContain(
    'both a token and a username',
  );
  expect(await refusal(config({ user: '{client-certificate-data: YQ==}' }))).toContain('add its client-key');
  expect(await refusal(config({ user: '{auth-provider: {name: gcp}}' }))).toContain('use an exec plugin');
  expect(
    await refusal(
      config({ cluster: '{server: "https://a", insecure-skip-tls-verify: true, certificate-authority-data: YQ==}' }),
    ),
  ).toContain('remove one');
});

test('a proxy comes from the cluster, else from the environment', async () => {
  const env = { HTTPS_PROXY: 'proxy:3128' };
  const plain = file('plain.yaml', config());
  expect((await find({ kubeconfig: plain, env })).proxyUrl).toBe('http://proxy:3128');
  expect((await find({ kubeconfig: plain, env: { ...env, NO_PROXY: 'api' } })).proxyUrl).toBeUndefined();
  const own = file('own.yaml', config({ cluster: '{server: "https://api", proxy-url: "socks5://own:1080"}' }));
  expect((await find({ kubeconfig: own, env: { ...env, NO_PROXY: '*' } })).proxyUrl).toBe('socks5://own:1080');
  expect(await refusal(config({ cluster: '{server: "https://api", proxy-url: "ftp://x"}' }))).toContain(
    'write http://',
  );
});
