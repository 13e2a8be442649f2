// What admission cannot check of an EC2NodeClass's kubelet settings: that each field is one the kubelet knows (1.37), with
// a value of its type, that values and pairs of fields make sense, and that the image family passes them on. A mistake here
// would otherwise only show on a node that never joins.
import { nearestName, parseGoDuration, tryParseQuantity } from '../base/index.ts';
import { compileKubeletExpression } from './cel/kubelet-expression.ts';
import type { EC2NodeClassSpec } from './kinds/ec2-node-class.ts';
import { configuration, type Fields, type Shape } from './kubelet-fields.ts';
import { conditionReason } from './names.ts';

type Kubelet = NonNullable<EC2NodeClassSpec['kubelet']>;

/** Text in the place of a number or an amount: a number worked out for each instance type. */
export interface KubeletExpression {
  readonly field: 'maxPods' | 'kubeReserved' | 'systemReserved';
  /** Empty for maxPods. */
  readonly resource: string;
  readonly text: string;
}

/** Settings without expressions: what a node can be given. */
export type StaticKubelet = Omit<Kubelet, 'maxPods'> & { maxPods?: number };

export interface KubeletProblem {
  reason: string;
  message: string;
}

/** Fields every family but Custom knows how to pass on; AL2023 passes on all. */
const mappedFields = [
  'clusterDNS',
  'maxPods',
  'podsPerCore',
  'systemReserved',
  'kubeReserved',
  'evictionHard',
  'evictionSoft',
  'evictionSoftGracePeriod',
  'evictionMaxPodGracePeriod',
  'imageGCHighThresholdPercent',
  'imageGCLowThresholdPercent',
  'cpuCFSQuota',
];

const evictionSignals = [
  'memory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'pid.available',
];
const reservable = ['cpu', 'memory', 'ephemeral-storage', 'pid'];

/** The first thing that keeps nodes from being launched with these settings, as reason and message of a condition. */
export function kubeletProblem(
  kubelet: Kubelet | undefined,
  family: string,
  { expressions: areOn = false }: { expressions?: boolean } = {},
): KubeletProblem | undefined {
  if (kubelet === undefined) return undefined;
  const invalid = [...fieldProblems(kubelet), ...senseProblems(kubelet)];
  if (invalid.length > 0) return { reason: conditionReason.invalidKubeletConfiguration, message: invalid.join('; ') };
  const expressions = kubeletExpressions(kubelet);
  if (expressions.length > 0 && !areOn) {
    const message = `expressions need the feature gate NodeClassCEL: turn it on, or write a plain value for ${expressions.map(placeOf).join(', ')}`;
    return { reason: conditionReason.kubeletExpressionsDisabled, message };
  }
  const broken = expressions.flatMap((each) => {
    const program = compileKubeletExpression(each.text);
    return typeof program === 'function' ? [] : [`${placeOf(each)} ${program.error}`];
  });
  if (broken.length > 0) return { reason: conditionReason.kubeletExpressionInvalid, message: broken.join('; ') };
  const unsupported = unsupportedBy(family, kubelet);
  if (unsupported === undefined) return undefined;
  return { reason: conditionReason.unsupportedKubeletConfiguration, message: unsupported };
}

/** Without expressions, which nothing but a launch that is refused would meet. */
export function staticKubelet(kubelet: Kubelet): StaticKubelet {
  const { maxPods, kubeReserved, systemReserved, ...others } = kubelet;
  return {
    ...others,
    ...(typeof maxPods === 'number' ? { maxPods } : {}),
    ...(kubeReserved === undefined ? {} : { kubeReserved: amounts(kubeReserved) }),
    ...(systemReserved === undefined ? {} : { systemReserved: amounts(systemReserved) }),
  };
}

const amounts = (map: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(map).filter(([, text]) => tryParseQuantity(text) !== undefined));

function fieldProblems(kubelet: Kubelet): string[] {
  const problems: string[] = [];
  // An expression stands for a number; the rest of the document is still judged.
  const { maxPods, ...others } = kubelet;
  const judged = typeof maxPods === 'string' ? others : kubelet;
  check({ fields: configuration }, judged, '', problems);
  return problems;
}

function check(shape: Shape, value: unknown, path: string, problems: string[]): void {
  if (value === null || shape === 'any') return;
  const wrong = (wanted: string): void => {
    problems.push(`spec.kubelet${path}: must be ${wanted}, not ${JSON.stringify(value)}`);
  };
  if (typeof shape === 'string') {
    const wanted = isOf(shape, value);
    if (wanted !== undefined) wrong(wanted);
  } else if ('list' in shape) {
    if (!Array.isArray(value)) return wrong('a list');
    value.forEach((item, index) => {
      check(shape.list, item, `${path}[${index}]`, problems);
    });
  } else if (typeof value !== 'object' || Array.isArray(value)) wrong('an object');
  else if ('map' in shape) {
    for (const [key, item] of Object.entries(value)) check(shape.map, item, `${path}[${key}]`, problems);
  } else checkFields(shape, value, path, problems);
}

function checkFields({ fields: known }: Fields, value: object, path: string, problems: string[]): void {
  for (const [key, item] of Object.entries(value)) {
    const shape = Object.hasOwn(known, key) ? known[key] : undefined;
    if (shape !== undefined) check(shape, item, `${path}.${key}`, problems);
    else {
      const near = nearestName(key, Object.keys(known));
      const hint = near === undefined ? '' : `; did you mean ${near}?`;
      problems.push(`spec.kubelet: unknown field "${`${path}.${key}`.slice(1)}"${hint}`);
    }
  }
}

/** Undefined if the value is of the shape; otherwise the shape in words. */
function isOf(shape: Extract<Shape, string>, value: unknown): string | undefined {
  switch (shape) {
    case 'flag':
      return typeof value === 'boolean' ? undefined : 'true or false';
    case 'integer':
      return Number.isInteger(value) ? undefined : 'a whole number';
    case 'number':
      return typeof value === 'number' ? undefined : 'a number';
    case 'duration':
      return typeof value === 'string' && parseGoDuration(value) !== undefined ? undefined : 'a duration such as 30s';
    default:
      return typeof value === 'string' ? undefined : 'text';
  }
}

/** What the types of the fields do not say. */
function senseProblems(kubelet: Kubelet): string[] {
  const problems: string[] = [];
  const say = (place: string, message: string): void => void problems.push(`spec.kubelet${place}: ${message}`);
  if ('registerWithTaints' in kubelet)
    say('.registerWithTaints', 'cannot be set, it follows from the taints of the NodePool');
  for (const field of ['evictionHard', 'evictionSoft', 'evictionSoftGracePeriod', 'evictionMinimumReclaim']) {
    for (const [signal, text] of textEntries(kubelet, field)) {
      if (!evictionSignals.includes(signal))
        say(`.${field}`, `"${signal}" is not an eviction signal; write one of ${evictionSignals.join(', ')}`);
      const wanted = field === 'evictionSoftGracePeriod' ? graceProblem(text) : thresholdProblem(text);
      if (wanted !== undefined) say(`.${field}[${signal}]`, `"${text}" must be ${wanted}`);
    }
  }
  pairs(kubelet, 'evictionSoft', 'evictionSoftGracePeriod', say);
  pairs(kubelet, 'evictionSoftGracePeriod', 'evictionSoft', say);
  for (const field of ['kubeReserved', 'systemReserved']) {
    for (const [resource, text] of textEntries(kubelet, field)) {
      if (!reservable.includes(resource))
        say(`.${field}`, `"${resource}" cannot be reserved; write one of ${reservable.join(', ')}`);
      if (text.startsWith('-')) say(`.${field}[${resource}]`, `"${text}" must not be negative`);
    }
  }
  numberProblems(kubelet, say);
  return problems;
}

type Say = (place: string, message: string) => void;

function numberProblems(kubelet: Kubelet, say: Say): void {
  const { imageGCHighThresholdPercent: high, imageGCLowThresholdPercent: low } = kubelet;
  for (const [field, value] of Object.entries({ imageGCHighThresholdPercent: high, imageGCLowThresholdPercent: low })) {
    if (value !== undefined && (value < 0 || value > 100)) say(`.${field}`, `${value} must be between 0 and 100`);
  }
  for (const field of ['podsPerCore', 'evictionMaxPodGracePeriod', 'maxPods'] as const) {
    const value = kubelet[field];
    if (typeof value === 'number' && value < 0) say(`.${field}`, `${value} must not be negative`);
  }
  if (high !== undefined && low !== undefined && high <= low)
    say('', `imageGCHighThresholdPercent (${high}) must be greater than imageGCLowThresholdPercent (${low})`);
}

/** A soft threshold without a grace period is ignored by the kubelet, a grace period without a threshold stops it. */
function pairs(kubelet: Kubelet, field: string, other: string, say: Say): void {
  const keys = new Set(textEntries(kubelet, other).map(([key]) => key));
  for (const [key] of textEntries(kubelet, field))
    if (!keys.has(key)) say(`.${field}[${key}]`, `has no matching ${other}`);
}

/** Entries of a map of texts, by key; a value of another type is reported elsewhere. */
function textEntries(kubelet: Kubelet, field: string): [string, string][] {
  const map = (kubelet as Record<string, unknown>)[field];
  if (typeof map !== 'object' || map === null || Array.isArray(map)) return [];
  return Object.entries(map)
    .filter((entry): entry is [string, string] => typeof entry[1] === 'string')
    .sort(([left], [right]) => (left < right ? -1 : 1));
}

function thresholdProblem(text: string): string | undefined {
  // Classes of Karpenter 1.14 may say so; the kubelet then keeps its own threshold.
  if (text === '') return undefined;
  const wanted = 'a percentage up to 100% or a quantity';
  if (text.endsWith('%')) {
    const share = Number(text.slice(0, -1));
    return text.length > 1 && share >= 0 && share <= 100 ? undefined : wanted;
  }
  const quantity = tryParseQuantity(text);
  return quantity === undefined || text.startsWith('-') ? wanted : undefined;
}

function graceProblem(text: string): string | undefined {
  const ms = parseGoDuration(text);
  return ms === undefined || ms < 0 ? 'a duration such as 30s' : undefined;
}

/** Fields whose value is an expression: text where a number belongs, or no quantity. */
export function kubeletExpressions(kubelet: Kubelet): KubeletExpression[] {
  const { maxPods } = kubelet;
  const found: KubeletExpression[] =
    typeof maxPods === 'string' ? [{ field: 'maxPods', resource: '', text: maxPods }] : [];
  for (const field of ['kubeReserved', 'systemReserved'] as const) {
    for (const [resource, text] of textEntries(kubelet, field))
      if (tryParseQuantity(text) === undefined) found.push({ field, resource, text });
  }
  return found;
}

const placeOf = ({ field, resource }: KubeletExpression): string =>
  `spec.kubelet.${field}${resource === '' ? '' : `[${resource}]`}`;

function unsupportedBy(family: string, kubelet: Kubelet): string | undefined {
  // What is not ours to write is not ours to judge; AL2023 hands the whole configuration to the kubelet.
  if (family === 'Custom' || family === 'AL2023') return undefined;
  const others = Object.keys(kubelet)
    .filter((field) => !mappedFields.includes(field))
    .sort();
  if (others.length > 0) return `${family} images do not pass on ${others.join(', ')} to the kubelet; AL2023 images do`;
  if (family === 'Bottlerocket' && kubelet.podsPerCore !== undefined)
    return 'Bottlerocket images have no setting for podsPerCore; use maxPods';
  if ((kubelet.clusterDNS?.length ?? 0) > 1)
    return `${family} images pass on one address of clusterDNS only; leave one`;
  return undefined;
}
