// Kubeconfig files: read, checked field by field, merged as kubectl merges them. What the entries mean for a connection
// is decided in access.ts.
//
// Promises: relative paths come out absolute, resolved against the folder of the file that names them. In a merge the
// first file that names an entry (or the current context) wins, whole entry by whole entry. Unknown fields are ignored.
import { dirname, isAbsolute, resolve } from 'node:path';
import { KerfError, messageOf } from '../base/index.ts';

export interface ClusterEntry {
  server?: string;
  certificateAuthority?: string;
  certificateAuthorityData?: string;
  tlsServerName?: string;
  insecureSkipTlsVerify?: boolean;
  proxyUrl?: string;
  /** Configuration for exec plugins: the extension named `client.authentication.k8s.io/exec`. */
  execExtension?: unknown;
}

export interface ExecEntry {
  apiVersion: string;
  command: string;
  args: string[];
  env: Record<string, string>;
  installHint?: string;
  provideClusterInfo: boolean;
  interactiveMode: 'Never' | 'IfAvailable' | 'Always';
}

export interface UserEntry {
  clientCertificate?: string;
  clientCertificateData?: string;
  clientKey?: string;
  clientKeyData?: string;
  token?: string;
  tokenFile?: string;
  username?: string;
  password?: string;
  exec?: ExecEntry;
  authProvider?: string;
  impersonate?: { user: string; uid?: string; groups: string[]; extra: Record<string, string[]> };
}

export interface ContextEntry {
  cluster: string;
  user?: string;
  namespace?: string;
}

export interface Kubeconfig {
  /** The files it was read from, for messages. */
  files: string[];
  clusters: Map<string, ClusterEntry>;
  users: Map<string, UserEntry>;
  contexts: Map<string, ContextEntry>;
  currentContext?: string;
}

/** The first file that names something wins. */
export function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  const merged: Kubeconfig = { files: [], clusters: new Map(), users: new Map(), contexts: new Map() };
  const addMissing = <T>(target: Map<string, T>, source: Map<string, T>): void => {
    for (const [name, entry] of source) if (!target.has(name)) target.set(name, entry);
  };
  for (const config of configs) {
    merged.files.push(...config.files);
    addMissing(merged.clusters, config.clusters);
    addMissing(merged.users, config.users);
    addMissing(merged.contexts, config.contexts);
    if (merged.currentContext === undefined && config.currentContext) merged.currentContext = config.currentContext;
  }
  return merged;
}

/** Reads the text of one kubeconfig file; `file` names it in errors and anchors its relative paths. */
export async function parseKubeconfig(text: string, file: string): Promise<Kubeconfig> {
  // Imported here because a process inside a cluster never needs it and it is slow to load.
  const yaml = await import('./parse-yaml.ts');
  let document: unknown;
  try {
    document = yaml.parse(text, { maxAliasCount: 100 });
  } catch (thrown) {
    throw invalid(file, `it is not YAML or JSON: ${firstLine(messageOf(thrown))}`, thrown);
  }
  const root = new Fields(document ?? {}, file, '');
  const at = (path: string): string => (isAbsolute(path) ? path : resolve(dirname(file), path));
  const currentContext = root.text('current-context');
  return {
    files: [file],
    clusters: root.named('clusters', 'cluster', (fields) => clusterEntry(fields, at)),
    users: root.named('users', 'user', (fields) => userEntry(fields, at)),
    contexts: root.named('contexts', 'context', (fields) =>
      defined<ContextEntry>({
        cluster: fields.text('cluster') ?? '',
        user: fields.text('user'),
        namespace: fields.text('namespace'),
      }),
    ),
    ...(currentContext ? { currentContext } : {}),
  };
}

function clusterEntry(fields: Fields, at: (path: string) => string): ClusterEntry {
  return defined<ClusterEntry>({
    server: fields.text('server'),
    certificateAuthority: mapped(fields.text('certificate-authority'), at),
    certificateAuthorityData: fields.base64('certificate-authority-data'),
    tlsServerName: fields.text('tls-server-name'),
    insecureSkipTlsVerify: fields.flag('insecure-skip-tls-verify'),
    proxyUrl: fields.text('proxy-url'),
    execExtension: fields
      .list('extensions')
      .find((extension) => extension.text('name') === 'client.authentication.k8s.io/exec')
      ?.raw('extension'),
  });
}

function userEntry(fields: Fields, at: (path: string) => string): UserEntry {
  const impersonated = fields.text('as');
  const exec = fields.object('exec');
  return defined<UserEntry>({
    clientCertificate: mapped(fields.text('client-certificate'), at),
    clientCertificateData: fields.base64('client-certificate-data'),
    clientKey: mapped(fields.text('client-key'), at),
    clientKeyData: fields.base64('client-key-data'),
    token: fields.text('token'),
    tokenFile: mapped(fields.text('tokenFile'), at),
    username: fields.text('username'),
    password: fields.text('password'),
    exec: exec && execEntry(exec, at),
    authProvider: fields.object('auth-provider')?.text('name'),
    impersonate:
      impersonated === undefined
        ? undefined
        : defined({
            user: impersonated,
            uid: fields.text('as-uid'),
            groups: fields.texts('as-groups'),
            extra: fields.textLists('as-user-extra'),
          }),
  });
}

function execEntry(fields: Fields, at: (path: string) => string): ExecEntry {
  const apiVersion = fields.text('apiVersion') ?? '';
  const supported = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];
  if (!supported.includes(apiVersion)) {
    throw fields.wrong('apiVersion', `is "${apiVersion}"; write ${supported.join(' or ')}`);
  }
  const command = fields.text('command');
  if (command === undefined) throw fields.wrong('command', 'is missing; name the program that prints the credentials');
  const mode = fields.text('interactiveMode');
  if (mode === undefined && apiVersion.endsWith('/v1')) {
    throw fields.wrong('interactiveMode', 'is missing; write Never, IfAvailable or Always');
  }
  if (mode !== undefined && mode !== 'Never' && mode !== 'IfAvailable' && mode !== 'Always') {
    throw fields.wrong('interactiveMode', `is "${mode}"; write Never, IfAvailable or Always`);
  }
  return defined<ExecEntry>({
    apiVersion,
    // A bare name is looked up on PATH; anything with a slash is a path, relative to the kubeconfig file.
    command: command.includes('/') ? at(command) : command,
    args: fields.texts('args'),
    env: Object.fromEntries(fields.list('env').map((pair) => [pair.text('name') ?? '', pair.text('value') ?? ''])),
    installHint: fields.text('installHint'),
    provideClusterInfo: fields.flag('provideClusterInfo') ?? false,
    interactiveMode: mode ?? 'IfAvailable',
  });
}

/** One mapping of the file, with its place in it; absent and null fields are undefined, empty text too. */
class Fields {
  private readonly values: Record<string, unknown>;
  private readonly file: string;
  private readonly path: string;

  constructor(value: unknown, file: string, path: string) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw invalid(file, `${path || 'the document'} must be a mapping`);
    }
    this.values = value as Record<string, unknown>;
    this.file = file;
    this.path = path;
  }

  raw(name: string): unknown {
    return this.values[name];
  }

  text(name: string): string | undefined {
    const value = this.values[name];
    if (value === undefined || value === null || value === '') return undefined;
    if (typeof value !== 'string')
      throw this.wrong(name, `must be text, not ${JSON.stringify(value)}; put it in quotes`);
    return value;
  }

  flag(name: string): boolean | undefined {
    const value = this.values[name];
    if (value === undefined || value === null) return undefined;
    if (typeof value !== 'boolean') throw this.wrong(name, `must be true or false, not ${JSON.stringify(value)}`);
    return value;
  }

  /** Decoded base64. */
  base64(name: string): string | undefined {
    const value = this.text(name)?.replaceAll(/\s/g, '');
    if (value === undefined) return undefined;
    if (!/^[A-Za-z0-9+/]*={0,2}$/.test(value) || value.length % 4 !== 0) throw this.wrong(name, 'is not base64');
    return Buffer.from(value, 'base64').toString('utf8');
  }

  object(name: string): Fields | undefined {
    const value = this.values[name];
    return value === undefined || value === null ? undefined : new Fields(value, this.file, this.at(name));
  }

  list(name: string): Fields[] {
    return this.array(name).map((item, index) => new Fields(item, this.file, `${this.at(name)}[${index}]`));
  }

  texts(name: string): string[] {
    return this.array(name).map((item, index) => {
      if (typeof item !== 'string') throw this.wrong(`${name}[${index}]`, `must be text, not ${JSON.stringify(item)}`);
      return item;
    });
  }

  textLists(name: string): Record<string, string[]> {
    const object = this.object(name);
    return Object.fromEntries(Object.keys(object?.values ?? {}).map((key) => [key, object?.texts(key) ?? []]));
  }

  /** The entries of a list of `{ name, <inner>: {…} }`. */
  named<T>(name: string, inner: string, read: (fields: Fields) => T): Map<string, T> {
    const entries = new Map<string, T>();
    for (const item of this.list(name)) {
      const entryName = item.text('name') ?? '';
      if (entries.has(entryName)) throw item.wrong('name', `"${entryName}" is used twice in the same file; rename one`);
      entries.set(entryName, read(item.object(inner) ?? new Fields({}, this.file, item.at(inner))));
    }
    return entries;
  }

  wrong(name: string, problem: string): KerfError {
    return invalid(this.file, `${this.at(name)} ${problem}`);
  }

  private array(name: string): unknown[] {
    const value = this.values[name];
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value)) throw this.wrong(name, 'must be a list');
    return value;
  }

  private at(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`;
  }
}

function invalid(file: string, problem: string, cause?: unknown): KerfError {
  return new KerfError('KubeconfigInvalid', `cannot use kubeconfig ${file}: ${problem}`, { subject: file, cause });
}

function mapped(value: string | undefined, map: (value: string) => string): string | undefined {
  return value === undefined ? undefined : map(value);
}

/** Drops the fields that are undefined, as the compiler's exact optional fields want it. */
function defined<T extends object>(fields: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}

/** Parsers draw the place below what they say. */
const firstLine = (text: string): string => (text.split('\n', 1)[0] ?? '').replace(/:$/, '');
