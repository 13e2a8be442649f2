// How to reach a cluster: which server, whom to trust, who we are. Looked for in the order other controllers use: an
// explicit kubeconfig, KUBECONFIG, the pod's own service account, then ~/.kube/config.
import { readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { delimiter, join } from 'node:path';
import { type Clock, KerfError, messageOf } from '../base/index.ts';
import { type Authorization, type Credentials, type Source, StoredCredentials, WatchedFile } from './credentials.ts';
import { type ExecClusterInfo, ExecCredentials } from './exec-plugin.ts';
import {
  type ClusterEntry,
  type Kubeconfig,
  mergeKubeconfigs,
  parseKubeconfig,
  type UserEntry,
} from './kubeconfig-file.ts';
import { checkedProxyUrl, proxyFromEnvironment } from './proxy.ts';

export interface ClusterAccess {
  /** Where it was found, for messages: `context prod of /home/ana/.kube/config`. */
  source: string;
  /** Without a slash at the end; may have a path. */
  server: string;
  /** The namespace meant when none is named. */
  namespace: string;
  /** `caFile` is where `ca` was read from: it may be renewed while the process runs. */
  tls: { ca?: string; caFile?: WatchedFile; serverName?: string; insecure: boolean };
  proxyUrl?: string;
  credentials: Credentials;
}

export interface AccessOptions {
  clock: Clock;
  env: Record<string, string | undefined>;
  /** A kubeconfig file to use instead of looking for one. */
  kubeconfig?: string;
  /** A context to use instead of the current one; rules out the pod's service account. */
  context?: string;
  /** Standard input is a terminal; exec plugins may ask there. */
  isTerminal?: boolean;
  /** Where a pod finds its service account. */
  serviceAccountFolder?: string;
}

const defaultServiceAccountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

export async function findAccess(options: AccessOptions): Promise<ClusterAccess> {
  const { env, kubeconfig, context } = options;
  if (kubeconfig !== undefined) return accessFrom(await readKubeconfigs([kubeconfig], true), options);
  const listed = (env['KUBECONFIG'] ?? '').split(delimiter).filter((file) => file !== '');
  if (listed.length > 0) {
    const merged = await readKubeconfigs(listed, false);
    if (merged.files.length > 0) return accessFrom(merged, options);
    throw new KerfError(
      'KubeconfigMissing',
      `cannot find a cluster: no file of KUBECONFIG=${env['KUBECONFIG']} exists`,
    );
  }
  const host = env['KUBERNETES_SERVICE_HOST'];
  if (context === undefined && host) return inClusterAccess(host, options);
  const file = join(env['HOME'] ?? '/', '.kube', 'config');
  const merged = await readKubeconfigs([file], false);
  if (merged.files.length > 0) return accessFrom(merged, options);
  throw new KerfError(
    'KubeconfigMissing',
    `cannot find a cluster: KUBECONFIG is not set, ${file} does not exist and this is not a pod; name a kubeconfig file`,
  );
}

/** Reads and merges files; missing ones are skipped, as kubectl does, unless `required`. */
async function readKubeconfigs(files: readonly string[], required: boolean): Promise<Kubeconfig> {
  const configs: Kubeconfig[] = [];
  for (const file of files) {
    let text: string;
    try {
      text = await readFile(file, 'utf8');
    } catch (thrown) {
      if (!required && (thrown as NodeJS.ErrnoException).code === 'ENOENT') continue;
      throw unreadable(`kubeconfig ${file}`, file, thrown);
    }
    configs.push(await parseKubeconfig(text, file));
  }
  return mergeKubeconfigs(configs);
}

async function accessFrom(config: Kubeconfig, options: AccessOptions): Promise<ClusterAccess> {
  const files = config.files.join(', ');
  const contextName = options.context ?? config.currentContext;
  if (contextName === undefined) {
    throw missing(`no current-context in ${files}`, 'set one or name a context', config.contexts);
  }
  const context = config.contexts.get(contextName);
  if (context === undefined)
    throw missing(`no context "${contextName}" in ${files}`, 'use one of these', config.contexts);
  const source = `context "${contextName}" of ${files}`;
  const cluster = config.clusters.get(context.cluster);
  if (cluster === undefined) {
    throw missing(`no cluster "${context.cluster}", which ${source} names`, 'correct its name', config.clusters);
  }
  // A context without a user talks to the server anonymously; one that names a missing user is a mistake.
  const userName = context.user ?? '';
  const user = config.users.get(userName);
  if (user === undefined && userName !== '') {
    throw missing(`no user "${userName}", which ${source} names`, 'correct its name', config.users);
  }
  const found = await clusterAccess(cluster, context.cluster, source, options);
  return {
    ...found,
    namespace: context.namespace ?? 'default',
    credentials: credentialsOf(user ?? {}, userName, found, cluster, options),
  };
}

type Reachable = Omit<ClusterAccess, 'credentials' | 'namespace'>;

async function clusterAccess(
  cluster: ClusterEntry,
  name: string,
  source: string,
  options: AccessOptions,
): Promise<Reachable> {
  const insecure = cluster.insecureSkipTlsVerify ?? false;
  const ca =
    cluster.certificateAuthorityData ?? (await contentOf(cluster.certificateAuthority, 'certificate authority'));
  if (insecure && ca !== undefined) {
    throw new KerfError(
      'KubeconfigInvalid',
      `cannot use cluster "${name}" of ${source}: it has a certificate authority and insecure-skip-tls-verify; remove one`,
      { subject: name },
    );
  }
  const server = serverUrl(cluster.server ?? '', insecure || ca !== undefined, name);
  const proxyUrl =
    cluster.proxyUrl === undefined
      ? proxyFromEnvironment(server, options.env)
      : checkedProxyUrl(cluster.proxyUrl, `cluster "${name}"`);
  return {
    source,
    server,
    tls: {
      insecure,
      ...(ca === undefined ? {} : { ca }),
      ...(cluster.certificateAuthorityData !== undefined || cluster.certificateAuthority === undefined
        ? {}
        : { caFile: new WatchedFile(cluster.certificateAuthority, options.clock) }),
      ...(cluster.tlsServerName === undefined ? {} : { serverName: cluster.tlsServerName }),
    },
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
  };
}

/** A server without a scheme is https when there is something to verify it by, http otherwise, as for kubectl. */
function serverUrl(server: string, hasTls: boolean, cluster: string): string {
  const text = /^https?:\/\//i.test(server) ? server : `${hasTls ? 'https' : 'http'}://${server}`;
  if (server === '' || !URL.canParse(text)) {
    const problem = server === '' ? 'has no server' : `has the server "${server}", which is not a URL`;
    throw new KerfError('KubeconfigInvalid', `cluster "${cluster}" ${problem}; write https://host:port`, {
      subject: cluster,
    });
  }
  const url = new URL(text);
  return `${url.protocol}//${url.host}${url.pathname.replace(/\/+$/, '')}`;
}

function credentialsOf(
  user: UserEntry,
  name: string,
  reachable: Reachable,
  cluster: ClusterEntry,
  options: AccessOptions,
): Credentials {
  const { clock } = options;
  const headers = impersonationHeaders(user);
  const authorization = authorizationOf(user, name, clock);
  const pair = certificateSources(user, name, clock);
  if (authorization.kind === 'none' && user.exec !== undefined) {
    const { isTerminal = false, env } = options;
    const info = execClusterInfo(reachable, cluster);
    return new ExecCredentials({
      entry: user.exec,
      user: name,
      cluster: info,
      clock,
      env,
      isTerminal,
      extraHeaders: headers,
    });
  }
  if (authorization.kind === 'none' && pair === undefined && user.authProvider !== undefined) {
    throw new KerfError(
      'KubeconfigInvalid',
      `user "${name}" of ${reachable.source} uses the auth-provider "${user.authProvider}", which Kubernetes removed; use an exec plugin`,
      { subject: name },
    );
  }
  return new StoredCredentials(authorization, pair, headers);
}

function authorizationOf(user: UserEntry, name: string, clock: Clock): Authorization {
  const token: Source | undefined = user.tokenFile === undefined ? user.token : new WatchedFile(user.tokenFile, clock);
  const hasBasic = user.username !== undefined || user.password !== undefined;
  if (token !== undefined && hasBasic) {
    throw new KerfError('KubeconfigInvalid', `user "${name}" has both a token and a username or password; remove one`, {
      subject: name,
    });
  }
  if (token !== undefined) return { kind: 'token', token };
  return hasBasic ? { kind: 'basic', username: user.username ?? '', password: user.password ?? '' } : { kind: 'none' };
}

function certificateSources(
  user: UserEntry,
  name: string,
  clock: Clock,
): { certificate: Source; key: Source } | undefined {
  const fileOf = (path: string | undefined): Source | undefined => path && new WatchedFile(path, clock);
  const certificate = user.clientCertificateData ?? fileOf(user.clientCertificate);
  const key = user.clientKeyData ?? fileOf(user.clientKey);
  if (certificate === undefined && key === undefined) return undefined;
  if (certificate === undefined || key === undefined) {
    const lacking = certificate === undefined ? 'client-certificate' : 'client-key';
    throw new KerfError('KubeconfigInvalid', `user "${name}" has half a client certificate: add its ${lacking}`, {
      subject: name,
    });
  }
  return { certificate, key };
}

function impersonationHeaders({ impersonate }: UserEntry): Record<string, string | string[]> {
  if (impersonate === undefined) return {};
  const headers: Record<string, string | string[]> = { 'impersonate-user': impersonate.user };
  if (impersonate.uid !== undefined) headers['impersonate-uid'] = impersonate.uid;
  if (impersonate.groups.length > 0) headers['impersonate-group'] = impersonate.groups;
  for (const [key, values] of Object.entries(impersonate.extra)) {
    headers[`impersonate-extra-${encodeURIComponent(key.toLowerCase())}`] = values;
  }
  return headers;
}

function execClusterInfo({ server, tls, proxyUrl }: Reachable, cluster: ClusterEntry): ExecClusterInfo {
  return {
    server,
    ...(tls.serverName === undefined ? {} : { 'tls-server-name': tls.serverName }),
    ...(tls.insecure ? { 'insecure-skip-tls-verify': true } : {}),
    ...(tls.ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(tls.ca).toString('base64') }),
    ...(proxyUrl === undefined ? {} : { 'proxy-url': proxyUrl }),
    ...(cluster.execExtension === undefined ? {} : { config: cluster.execExtension }),
  };
}

async function inClusterAccess(host: string, options: AccessOptions): Promise<ClusterAccess> {
  const folder = options.serviceAccountFolder ?? defaultServiceAccountFolder;
  const { clock, env } = options;
  const server = `https://${isIPv6(host) ? `[${host}]` : host}:${env['KUBERNETES_SERVICE_PORT'] || '443'}`;
  const ca = await contentOf(join(folder, 'ca.crt'), 'certificate authority of the pod');
  const token = new WatchedFile(join(folder, 'token'), clock);
  await token.read();
  const namespace = await readFile(join(folder, 'namespace'), 'utf8').catch(() => 'default');
  const proxyUrl = proxyFromEnvironment(server, env);
  return {
    source: "the pod's service account",
    server,
    namespace: namespace.trim(),
    tls: {
      insecure: false,
      ...(ca === undefined ? {} : { ca, caFile: new WatchedFile(join(folder, 'ca.crt'), clock) }),
    },
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
    credentials: new StoredCredentials({ kind: 'token', token }),
  };
}

async function contentOf(path: string | undefined, what: string): Promise<string | undefined> {
  if (path === undefined) return undefined;
  try {
    return await readFile(path, 'utf8');
  } catch (thrown) {
    throw unreadable(`${what} ${path}`, path, thrown);
  }
}

function unreadable(what: string, path: string, thrown: unknown): KerfError {
  const isAbsent = (thrown as NodeJS.ErrnoException).code === 'ENOENT';
  const why = isAbsent ? 'there is no such file' : messageOf(thrown);
  return new KerfError('KubeconfigUnreadable', `cannot read ${what}: ${why}`, {
    subject: path,
    cause: thrown,
  });
}

function missing(problem: string, advice: string, known: Map<string, unknown>): KerfError {
  const names = [...known.keys()].join(', ');
  return new KerfError('KubeconfigIncomplete', `${problem}; ${advice}${names === '' ? '' : `: ${names}`}`);
}
