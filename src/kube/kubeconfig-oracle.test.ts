// The same kubeconfig means the same server, certificate authority and credentials to us as to the official JavaScript
// client. Where the two differ on purpose (kubectl's rule is another than that client's), access.test.ts has the rule.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, expect, test } from 'vitest';
import { RealClock } from '../runtime/index.ts';
import { findAccess } from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'kerf-kubeconfig-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const pem = (what: string): string => `-----BEGIN ${what}-----\nTm90IGEgcmVhbCBvbmU=\n-----END ${what}-----\n`;
const base64 = (text: string): string => Buffer.from(text).toString('base64');

mkdirSync(join(folder, 'pki'));
writeFileSync(join(folder, 'pki', 'ca.crt'), pem('CERTIFICATE'));
writeFileSync(join(folder, 'pki', 'client.crt'), pem('CERTIFICATE'));
writeFileSync(join(folder, 'pki', 'client.key'), pem('PRIVATE KEY'));
writeFileSync(join(folder, 'token'), 'from-a-file');
writeFileSync(
  join(folder, 'plugin.cjs'),
  `const version = JSON.parse(process.env.KUBERNETES_EXEC_INFO ?? '{}').apiVersion ?? process.env.API;
   const status = process.argv[2] === 'certificate'
     ? { clientCertificateData: ${JSON.stringify(pem('CERTIFICATE'))}, clientKeyData: ${JSON.stringify(pem('PRIVATE KEY'))} }
     : { token: 'from-plugin-' + (process.env.SUFFIX ?? '') };
   console.log(JSON.stringify({ apiVersion: version, kind: 'ExecCredential', status }));`,
);

interface Parts {
  cluster?: Record<string, unknown>;
  user?: Record<string, unknown>;
  context?: Record<string, unknown>;
}

const caData = base64(pem('CERTIFICATE'));
const keyData = base64(pem('PRIVATE KEY'));
const https = { server: 'https://api.example.com:6443' };

/** A whole file with one context, cluster and user; JSON, which is YAML too. */
const whole = ({ cluster = https, user = {}, context = {} }: Parts): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'main',
    contexts: [{ name: 'main', context: { cluster: 'c', user: 'u', ...context } }],
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user }],
  });

const execUser = (apiVersion: string, extra: Record<string, unknown> = {}): Record<string, unknown> => ({
  exec: {
    apiVersion,
    command: process.execPath,
    args: [join(folder, 'plugin.cjs')],
    env: [
      { name: 'API', value: apiVersion },
      { name: 'SUFFIX', value: 'x' },
    ],
    interactiveMode: 'Never',
    ...extra,
  },
});

const files: Record<string, string> = {
  'bearer token': whole({ user: { token: 'abc' } }),
  'authority as data': whole({ cluster: { ...https, 'certificate-authority-data': caData }, user: { token: 'abc' } }),
  'authority as relative file': whole({ cluster: { ...https, 'certificate-authority': 'pki/ca.crt' } }),
  'authority as absolute file': whole({
    cluster: { ...https, 'certificate-authority': join(folder, 'pki', 'ca.crt') },
  }),
  'client certificate as data': whole({
    user: { 'client-certificate-data': caData, 'client-key-data': keyData },
  }),
  'client certificate as files': whole({
    user: { 'client-certificate': 'pki/client.crt', 'client-key': './pki/client.key' },
  }),
  'certificate as data, key as file': whole({
    user: { 'client-certificate-data': caData, 'client-key': 'pki/client.key' },
  }),
  'client certificate and token': whole({
    user: { 'client-certificate-data': caData, 'client-key-data': keyData, token: 'abc' },
  }),
  'basic authentication': whole({ user: { username: 'ana', password: 's3cret:with:colons' } }),
  'no credentials': whole({}),
  'a context with a namespace': whole({ context: { namespace: 'team-a' }, user: { token: 'abc' } }),
  'skipped verification': whole({ cluster: { ...https, 'insecure-skip-tls-verify': true }, user: { token: 'abc' } }),
  'a server name of its own': whole({ cluster: { ...https, 'tls-server-name': 'kubernetes' }, user: { token: 'abc' } }),
  'a server with a path': whole({ cluster: { server: 'https://rancher.example.com/k8s/clusters/c-x1' } }),
  'a server with a slash at the end': whole({ cluster: { server: 'https://api.example.com/' } }),
  'plain http': whole({ cluster: { server: 'http://127.0.0.1:8080' } }),
  'an IPv6 server': whole({ cluster: { server: 'https://[fd00::1]:6443' }, user: { token: 'abc' } }),
  'a proxy': whole({ cluster: { ...https, 'proxy-url': 'http://proxy.example.com:3128' }, user: { token: 'abc' } }),
  'a SOCKS proxy': whole({ cluster: { ...https, 'proxy-url': 'socks5://proxy.example.com:1080' } }),
  'plugin v1': whole({ user: execUser('client.authentication.k8s.io/v1') }),
  'plugin v1beta1': whole({ user: execUser('client.authentication.k8s.io/v1beta1') }),
  'plugin that issues a certificate': whole({
    user: execUser('client.authentication.k8s.io/v1', { args: [join(folder, 'plugin.cjs'), 'certificate'] }),
  }),
  'token before plugin': whole({ user: { token: 'abc', ...execUser('client.authentication.k8s.io/v1') } }),
  impersonation: whole({ user: { token: 'abc', as: 'bob' } }),
  'unknown fields and extensions': whole({
    cluster: { ...https, future: true, extensions: [{ name: 'minikube.sigs.k8s.io', extension: { version: 'v1' } }] },
    user: { token: 'abc', later: [] },
  }),
  'yaml as tools write it': `apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: ${caData}
    server: https://0123456789ABCDEF.gr7.us-east-1.eks.amazonaws.com
  name: arn:aws:eks:us-east-1:111122223333:cluster/demo
contexts:
- context:
    cluster: arn:aws:eks:us-east-1:111122223333:cluster/demo
    user: arn:aws:eks:us-east-1:111122223333:cluster/demo
  name: arn:aws:eks:us-east-1:111122223333:cluster/demo
current-context: arn:aws:eks:us-east-1:111122223333:cluster/demo
kind: Config
preferences: {}
users:
- name: arn:aws:eks:us-east-1:111122223333:cluster/demo
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1beta1
      command: ${process.execPath}
      args: ["${join(folder, 'plugin.cjs')}"]
      env:
      - name: API
        value: client.authentication.k8s.io/v1beta1
`,
  'several contexts': `apiVersion: v1
kind: Config
current-context: two
contexts:
- {name: one, context: {cluster: c1, user: u1}}
- {name: two, context: {cluster: c2, user: u2}}
clusters:
- {name: c1, cluster: {server: https://one.example.com}}
- {name: c2, cluster: {server: https://two.example.com}}
users:
- {name: u1, user: {token: first}}
- {name: u2, user: {token: second}}
`,
};

interface Meaning {
  server: string;
  namespace: string;
  ca: string | undefined;
  verifies: boolean;
  serverName: string | undefined;
  proxy: string | undefined;
  certificate: string | undefined;
  key: string | undefined;
  authorization: string | undefined;
  impersonates: string | undefined;
}

const normalized = (server: string): string => new URL(server).href.replace(/\/$/, '');

async function ours(file: string, env: Record<string, string> = {}): Promise<Meaning> {
  const named = env['KUBECONFIG'] === undefined ? { kubeconfig: file } : {};
  const access = await findAccess({ clock: new RealClock(), env, ...named });
  const headers = await access.credentials.headers();
  const certificate = await access.credentials.certificate();
  return {
    server: normalized(access.server),
    namespace: access.namespace,
    ca: access.tls.ca,
    verifies: !access.tls.insecure,
    serverName: access.tls.serverName,
    proxy: access.proxyUrl,
    certificate: certificate?.certificate,
    key: certificate?.key,
    authorization: headers['authorization'] as string | undefined,
    impersonates: headers['impersonate-user'] as string | undefined,
  };
}

async function theirs(load: (config: KubeConfig) => void): Promise<Meaning> {
  const config = new KubeConfig();
  load(config);
  const options: {
    ca?: Buffer;
    cert?: Buffer;
    key?: Buffer;
    servername?: string;
    rejectUnauthorized?: boolean;
    headers?: Record<string, string>;
  } = {};
  await (config as unknown as { applyOptions(target: typeof options): Promise<void> }).applyOptions(options);
  const cluster = config.getCurrentCluster();
  const user = config.getCurrentUser();
  const basic = user?.username ? `Basic ${base64(`${user.username}:${user.password}`)}` : undefined;
  return {
    server: normalized(cluster?.server ?? ''),
    namespace: config.getContextObject(config.getCurrentContext())?.namespace ?? 'default',
    ca: options.ca?.toString(),
    verifies: options.rejectUnauthorized ?? true,
    serverName: options.servername,
    proxy: cluster?.proxyUrl,
    certificate: options.cert?.toString(),
    key: options.key?.toString(),
    authorization: options.headers?.['Authorization'] ?? basic,
    impersonates: options.headers?.['Impersonate-User'],
  };
}

test.each(Object.entries(files))('%s means the same to both clients', async (name, text) => {
  const file = join(folder, `${name.replaceAll(' ', '-')}.yaml`);
  writeFileSync(file, text);
  const meaning = await ours(file);
  expect(meaning).toEqual(await theirs((config) => config.loadFromFile(file)));
});

test('files listed in KUBECONFIG mean the same to both clients when merged', async () => {
  const parts = {
    contexts: 'current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u, namespace: n}}]',
    clusters: `clusters: [{name: c, cluster: {server: "https://merged", certificate-authority: pki/ca.crt}}]`,
    users: 'users: [{name: u, user: {token: merged}}]',
  };
  const paths = Object.entries(parts).map(([name, text]) => {
    const path = join(folder, `merge-${name}.yaml`);
    writeFileSync(path, text);
    return path;
  });
  const before = process.env['KUBECONFIG'];
  process.env['KUBECONFIG'] = paths.join(':');
  try {
    const meaning = await ours('', { KUBECONFIG: paths.join(':') });
    expect(meaning).toEqual(await theirs((config) => config.loadFromDefault(undefined, true)));
    expect(meaning).toMatchObject({ server: 'https://merged', authorization: 'Bearer merged', namespace: 'n' });
  } finally {
    if (before === undefined) delete process.env['KUBECONFIG'];
    else process.env['KUBECONFIG'] = before;
  }
});
