// Which of Bottlerocket's settings the user may write into the tables that we write into too, and of which type each is.
// Bottlerocket refuses a whole document for one unknown key or one value of the wrong type, and the node never joins: so
// unknown keys are left out, and wrong values are reported before anything is launched.
import { KerfError } from '../../base/index.ts';
import { isTable, TomlLiteral, type TomlTable, type TomlValue } from './toml-reader.ts';

type Shape = 'text' | 'number' | 'count' | 'flag' | 'texts' | 'textOrTexts' | 'commands' | TableShape;
type TableShape = { every: Shape } | { only: Readonly<Record<string, Shape>> };

const texts: Shape = { every: 'text' };

const kubernetes: TableShape = {
  only: {
    'allowed-unsafe-sysctls': 'texts',
    'api-server': 'text',
    'cloud-provider': 'text',
    'cluster-certificate': 'text',
    'cluster-dns-ip': 'textOrTexts',
    'cluster-domain': 'text',
    'cluster-name': 'text',
    'container-log-max-files': 'number',
    'container-log-max-size': 'text',
    'container-log-max-workers': 'number',
    'container-log-monitor-interval': 'text',
    'cpu-cfs-quota-enforced': 'flag',
    'cpu-manager-policy': 'text',
    'cpu-manager-policy-options': 'texts',
    'cpu-manager-reconcile-period': 'text',
    'credential-providers': {
      every: { only: { enabled: 'flag', 'cache-duration': 'text', 'image-patterns': 'texts', environment: texts } },
    },
    'device-ownership-from-security-context': 'flag',
    'event-burst': 'number',
    'event-qps': 'number',
    'eviction-hard': texts,
    'eviction-max-pod-grace-period': 'number',
    'eviction-soft': texts,
    'eviction-soft-grace-period': texts,
    'hostname-override-source': 'text',
    'ids-per-pod': 'number',
    'image-gc-high-threshold-percent': 'text',
    'image-gc-low-threshold-percent': 'text',
    'kube-api-burst': 'number',
    'kube-api-qps': 'number',
    'kube-reserved': texts,
    'log-level': 'count',
    'max-pods': 'number',
    'memory-manager-policy': 'text',
    'memory-manager-reserved-memory': {
      every: { only: { enabled: 'flag', memory: 'text', 'hugepages-1Gi': 'text', 'hugepages-2Mi': 'text' } },
    },
    'node-labels': texts,
    'node-taints': { every: 'textOrTexts' },
    'pod-pids-limit': 'number',
    'registry-burst': 'number',
    'registry-qps': 'number',
    'seccomp-default': 'flag',
    'server-tls-bootstrap': 'flag',
    'shutdown-grace-period': 'text',
    'shutdown-grace-period-for-critical-pods': 'text',
    'single-process-oom-kill': 'flag',
    'static-pods': { every: { only: { enabled: 'flag', manifest: 'text' } } },
    'system-reserved': texts,
    'topology-manager-policy': 'text',
    'topology-manager-policy-options': {
      only: { 'prefer-closest-numa-nodes': 'flag', 'max-allowable-numa-nodes': 'number' },
    },
    'topology-manager-scope': 'text',
  },
};

const bootstrapCommands: TableShape = {
  every: { only: { commands: 'commands', mode: 'text', essential: 'flag' } },
};

export interface GivenSettings {
  /** Every table under `settings`. */
  settings: TomlTable;
  /** `settings.kubernetes`, without what Bottlerocket does not know. */
  kubernetes: TomlTable;
  bootstrapCommands: TomlTable;
  /** What was left out. */
  ignored: string[];
}

export function givenSettings(document: TomlTable): GivenSettings {
  const ignored = Object.keys(document).filter((key) => key !== 'settings');
  const { settings = {} } = document;
  if (!isTable(settings)) throw wrong('settings', 'a table');
  const fitted = (key: string, shape: TableShape): TomlTable =>
    settings[key] === undefined ? {} : (fit(settings[key], shape, `settings.${key}`, ignored) as TomlTable);
  return {
    settings,
    kubernetes: fitted('kubernetes', kubernetes),
    bootstrapCommands: fitted('bootstrap-commands', bootstrapCommands),
    ignored,
  };
}

/** The value without keys that its shape does not have; those are added to `ignored`. */
function fit(value: TomlValue, shape: Shape, path: string, ignored: string[]): TomlValue {
  if (typeof shape === 'string') {
    const { is, name } = plainShapes[shape];
    if (!is(value)) throw wrong(path, name);
    return value;
  }
  if (!isTable(value)) throw wrong(path, 'a table');
  const entries: [string, TomlValue][] = [];
  for (const [key, inner] of Object.entries(value)) {
    const at = `${path}.${key}`;
    const of = 'every' in shape ? shape.every : Object.hasOwn(shape.only, key) ? shape.only[key] : undefined;
    if (of === undefined) ignored.push(at);
    else entries.push([key, fit(inner, of, at, ignored)]);
  }
  return Object.fromEntries(entries);
}

const isText = (value: TomlValue): boolean => typeof value === 'string';
const isTexts = (value: TomlValue): boolean => Array.isArray(value) && value.every(isText);
const isLiteral = (value: TomlValue, pattern: RegExp): boolean =>
  value instanceof TomlLiteral && pattern.test(value.text);

const plainShapes: Record<Extract<Shape, string>, { is: (value: TomlValue) => boolean; name: string }> = {
  text: { is: isText, name: 'a string' },
  number: { is: (value) => isLiteral(value, /^[+-]?[\d_]+$|^0[xob]/), name: 'a whole number' },
  count: { is: (value) => isLiteral(value, /^\+?[\d_]+$|^0[xob]/), name: 'a whole number, not negative' },
  flag: { is: (value) => isLiteral(value, /^(true|false)$/), name: 'true or false' },
  texts: { is: isTexts, name: 'a list of strings' },
  textOrTexts: { is: (value) => isText(value) || isTexts(value), name: 'a string or a list of strings' },
  commands: {
    is: (value) => Array.isArray(value) && value.every(isTexts),
    name: 'a list of commands, each a list of strings',
  },
};

/** Tells the key, never the value: user data may hold secrets. */
function wrong(path: string, what: string): KerfError {
  return new KerfError(
    'UserDataUnreadable',
    `cannot use spec.userData: ${path} must be ${what}, or Bottlerocket refuses every setting; correct it in the EC2NodeClass`,
    { retryable: true },
  );
}
