// Does to a copy of a snapshot what a suggestion tells a person to do: to the pod, to the NodePool, or to what is only a
// matter of waiting. Each remedy is the mildest change that takes its obstacle away.
import { label } from '../../../api/names.ts';
import { tryParseQuantity } from '../../../base/index.ts';
import type { Reason, Snapshot, SnapshotObject } from '../../../core/index.ts';
import { startSelected } from './start-selected.ts';

interface Expression {
  key: string;
}
interface AffinityTerm {
  topologyKey: string;
}
interface PodAffinity {
  requiredDuringSchedulingIgnoredDuringExecution?: AffinityTerm[];
  preferredDuringSchedulingIgnoredDuringExecution?: { weight: number; podAffinityTerm: AffinityTerm }[];
}
interface Container {
  resources?: { requests?: Record<string, string>; limits?: Record<string, string> };
  ports?: unknown;
}
interface PodSpec {
  nodeSelector?: Record<string, string>;
  tolerations?: unknown[];
  volumes?: unknown[];
  containers?: Container[];
  initContainers?: Container[];
  topologySpreadConstraints?: {
    topologyKey: string;
    whenUnsatisfiable?: string;
    minDomains?: number;
    maxSkew?: number;
  }[];
  affinity?: {
    nodeAffinity?: {
      requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms: { matchExpressions?: Expression[] }[] };
    };
    podAffinity?: PodAffinity;
    podAntiAffinity?: PodAffinity;
  };
}
interface PoolSpec {
  limits?: object;
  template: {
    metadata?: { labels?: Record<string, string> };
    spec: {
      requirements?: { key: string; operator?: string; values?: string[]; minValues?: number }[];
      taints?: { key: string; value?: string; effect: string }[];
    };
  };
}

/** What a remedy may change. All of it belongs to the copy. */
export interface Changing {
  snapshot: Snapshot;
  pod: SnapshotObject;
  /** The pool the reason is about, if it is about one. */
  pool: SnapshotObject | undefined;
}

/** False where there is nothing a person could do, or nothing that can be tried here. */
export function applyRemedy(changing: Changing, reason: Reason): boolean {
  const { snapshot, pod, pool } = changing;
  const spec = pod['spec'] as PodSpec;
  const poolSpec = pool?.['spec'] as PoolSpec | undefined;
  const { keys = [], suggestion = '' } = reason;
  // What one obstacle asks for can be said in several ways; the words decide before the code does.
  const alone = choiceRemedies.find(([words]) => words.test(suggestion))?.[1];
  if (alone !== undefined) return alone(changing, reason);
  if (suggestion.startsWith('ask for less')) return askForLess(spec, suggestion);
  if (/^give the pod (fewer )?volumes/.test(suggestion)) {
    delete spec.volumes;
    return true;
  }
  if (suggestion.startsWith('let daemons ask for less')) return withoutDaemons(snapshot);
  if (suggestion.startsWith("relax the pod's topology rules")) return soften(spec, keys);
  switch (reason.code) {
    case 'TaintNotTolerated':
      for (const { key, value, effect } of poolSpec?.template.spec.taints ?? [])
        (spec.tolerations ??= []).push({
          key,
          effect,
          ...(value ? { operator: 'Equal', value } : { operator: 'Exists' }),
        });
      return true;
    case 'LimitsExceeded':
      delete poolSpec?.limits;
      return true;
    case 'NodePoolPaused':
      snapshot.poolState = (snapshot.poolState ?? []).filter(({ nodePool }) => nodePool !== reason.nodePool);
      return true;
    case 'RequirementsIncompatible':
      if (suggestion.startsWith('allow other')) widenOrOpen(spec, poolSpec, keys.slice(0, 1));
      else forget(spec, keys);
      return true;
    case 'UnknownValue':
      forget(spec, keys);
      return true;
    case 'VolumeRequirementsIncompatible':
      widen(spec, poolSpec, keys);
      return true;
    case 'TopologyUnsatisfiable':
      return suggestion.includes('of the pods that keep this one away')
        ? softenOthers(snapshot, keys)
        : soften(spec, keys);
    case 'MinValuesUnsatisfied':
      for (const requirement of poolSpec?.template.spec.requirements ?? [])
        if (keys.includes(requirement.key)) delete requirement.minValues;
      return true;
    case 'HostPortConflict':
      for (const container of spec.containers ?? []) delete container.ports;
      return true;
    case 'NoOffering': {
      const hadFailed = (snapshot.failedOfferings ?? []).length > 0;
      snapshot.failedOfferings = [];
      if (!hadFailed) widen(spec, poolSpec, keys.length > 0 ? keys : [label.zone, label.capacityType]);
      return true;
    }
    case 'InsufficientResources':
    case 'NoInstanceTypeFits':
      widenOrOpen(spec, poolSpec, suggestion.startsWith('allow other values') ? keys.slice(0, 1) : keys);
      return true;
    case 'NoInstanceTypes':
      if (poolSpec === undefined) return false;
      poolSpec.template.spec.requirements = [];
      return true;
    default:
      return false;
  }
}

/** One part of a suggestion that offers several, by its words; each changes only what these words name. */
const choiceRemedies: readonly [RegExp, (changing: Changing, reason: Reason) => boolean][] = [
  [/^allow what the pod asks for in (?!.*, or )/, ({ pool }, { keys = [] }) => allowInPool(pool, keys)],
  [/^change the pod's node selector/, ({ pod }, { keys = [] }) => forget(pod['spec'] as PodSpec, keys)],
  [/^relax the pod's node selector or affinity$/, ({ pod }) => wantNothing(pod['spec'] as PodSpec)],
  [/^allow (?:other|larger) instance types(?!.*[,;] or )/, ({ pool }) => openPool(pool)],
  [/^allow instance types in NodePool \S+ that attach more$/, ({ pool }) => openPool(pool)],
  [/^(?:let it use|allow) more instance types/, ({ pool }) => openPool(pool, 'keepMinValues')],
  [/^allow more zones or capacity types in the pod$/, ({ pod }) => forget(pod['spec'] as PodSpec, placeKeys)],
  [/^allow more zones or capacity types in NodePool \S+$/, ({ pool }) => allowInPool(pool, placeKeys)],
  [
    /^allow more zones, capacity types or instance types in/,
    ({ pod, pool }) => wantNothing(pod['spec'] as PodSpec) && openPool(pool),
  ],
  [/^allow other values for .* in the pod$/, ({ pod }, { keys = [] }) => forget(pod['spec'] as PodSpec, keys)],
  [
    /^allow other values for (?!.* in the pod ).* in NodePool \S+$/,
    ({ pool }, { keys = [] }) => allowInPool(pool, keys),
  ],
  [/^start a pod (?!.*, or )/, ({ snapshot, pod }, { keys = [] }) => startSelected(snapshot, pod, keys)],
  [/^raise maxSkew (?!.*, or )/, ({ pod }, { keys = [] }) => raiseSkew(pod['spec'] as PodSpec, keys)],
  [
    /^(?:allow|let the pod run in) more domains of \S+$/,
    ({ pod, pool }, { keys = [] }) => widen(pod['spec'] as PodSpec, pool?.['spec'] as PoolSpec | undefined, keys),
  ],
  [/^keep the daemon that has it off/, ({ snapshot }) => withoutDaemons(snapshot)],
  [/^ask for (?!less)\S+ in the pod's node selector/, ({ pod }, reason) => askForValue(pod['spec'] as PodSpec, reason)],
];

const placeKeys = [label.zone, label.capacityType];

function openPool(pool: SnapshotObject | undefined, how?: 'keepMinValues'): boolean {
  const template = (pool?.['spec'] as PoolSpec | undefined)?.template.spec;
  if (template === undefined) return false;
  const kept =
    how === undefined ? [] : (template.requirements ?? []).filter(({ minValues }) => minValues !== undefined);
  template.requirements = kept.map(({ key, minValues = 1 }) => ({ key, operator: 'Exists', minValues }));
  return true;
}

/** Any value of these keys, of labels of its own too. */
function allowInPool(pool: SnapshotObject | undefined, keys: readonly string[]): boolean {
  const template = (pool?.['spec'] as PoolSpec | undefined)?.template;
  if (template === undefined) return false;
  const { requirements = [] } = template.spec;
  template.spec.requirements = [
    ...requirements.filter(({ key }) => !keys.includes(key)),
    ...keys.map((key) => ({ key, operator: 'Exists' })),
  ];
  for (const key of keys) delete template.metadata?.labels?.[key];
  return true;
}

function wantNothing(spec: PodSpec): boolean {
  delete spec.nodeSelector;
  delete spec.affinity?.nodeAffinity;
  return true;
}

function raiseSkew(spec: PodSpec, keys: readonly string[]): boolean {
  const constraints = (spec.topologySpreadConstraints ?? []).filter(({ topologyKey }) => keys.includes(topologyKey));
  for (const constraint of constraints) constraint.maxSkew = 1_000;
  return constraints.length > 0;
}

function withoutDaemons({ objects }: Snapshot): boolean {
  objects.items = objects.items.filter(({ kind }) => kind !== 'DaemonSet');
  return true;
}

function askForValue(spec: PodSpec, { keys: [key = ''] = [], suggestion = '' }: Reason): boolean {
  const [, value = ''] = /^ask for (\S+) in/.exec(suggestion) ?? [];
  forget(spec, [key]);
  spec.nodeSelector = { ...spec.nodeSelector, [key]: value };
  return true;
}

/** Other pods' anti-affinity over these keys becomes a preference; false if there is none. */
function softenOthers({ objects }: Snapshot, keys: readonly string[]): boolean {
  let changed = false;
  objects.items = objects.items.map((object) => {
    if (object.kind !== 'Pod') return object;
    const copy = structuredClone(object);
    if (!soften(copy['spec'] as PodSpec, keys)) return object;
    changed = true;
    return copy;
  });
  return changed;
}

/** As much as the suggestion names; where it names nothing, next to nothing. */
function askForLess(spec: PodSpec, suggestion: string): boolean {
  const named = [...suggestion.matchAll(/(\S+) at most (\S+?)(?=[;,]|$)/g)].map(([, name = '', most = '']) => ({
    name,
    most,
  }));
  // Nothing at all of a resource is not what the pod is for.
  if (named.some(({ most }) => tryParseQuantity(most)?.nano === 0n)) return false;
  const all = [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  const [first, ...others] = all;
  if (named.length === 0) {
    for (const container of all) container.resources = { requests: { cpu: '10m', memory: '8Mi' } };
    return true;
  }
  for (const { name, most } of named) {
    for (const { resources } of others) delete resources?.requests?.[name];
    for (const { resources } of all) delete resources?.limits?.[name];
    if (first !== undefined)
      first.resources = { ...first.resources, requests: { ...first.resources?.requests, [name]: most } };
  }
  return true;
}

/** Other values for these keys; without keys, anything. */
function widenOrOpen(spec: PodSpec, pool: PoolSpec | undefined, keys: readonly string[]): void {
  if (keys.length > 0) widen(spec, pool, keys);
  else wantNothing(spec);
  if (keys.length === 0 && pool !== undefined) pool.template.spec.requirements = [];
}

function widen(spec: PodSpec, pool: PoolSpec | undefined, keys: readonly string[]): boolean {
  forget(spec, keys);
  if (pool === undefined) return true;
  const { spec: template } = pool.template;
  template.requirements = (template.requirements ?? []).filter(({ key }) => !keys.includes(key));
  return true;
}

function forget(spec: PodSpec, keys: readonly string[]): boolean {
  for (const key of keys) delete spec.nodeSelector?.[key];
  const node = spec.affinity?.nodeAffinity;
  const required = node?.requiredDuringSchedulingIgnoredDuringExecution;
  if (node === undefined || required === undefined) return true;
  for (const term of required.nodeSelectorTerms)
    term.matchExpressions = (term.matchExpressions ?? []).filter(({ key }) => !keys.includes(key));
  const left = required.nodeSelectorTerms.filter(({ matchExpressions = [] }) => matchExpressions.length > 0);
  // A term without an expression matches nothing; a pod without a term, everything.
  if (left.length < required.nodeSelectorTerms.length) delete node.requiredDuringSchedulingIgnoredDuringExecution;
  return true;
}

/** False if none of the pod's own rules is over these keys: then others keep it away. */
function soften(spec: PodSpec, keys: readonly string[]): boolean {
  let changed = false;
  for (const spread of spec.topologySpreadConstraints ?? []) {
    if (!keys.includes(spread.topologyKey) || spread.whenUnsatisfiable === 'ScheduleAnyway') continue;
    spread.whenUnsatisfiable = 'ScheduleAnyway';
    delete spread.minDomains;
    changed = true;
  }
  for (const affinity of [spec.affinity?.podAffinity, spec.affinity?.podAntiAffinity]) {
    const required = affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    const left = required.filter(({ topologyKey }) => !keys.includes(topologyKey));
    if (affinity === undefined || left.length === required.length) continue;
    affinity.requiredDuringSchedulingIgnoredDuringExecution = left;
    const moved = required.filter(({ topologyKey }) => keys.includes(topologyKey));
    (affinity.preferredDuringSchedulingIgnoredDuringExecution ??= []).push(
      ...moved.map((podAffinityTerm) => ({ weight: 1, podAffinityTerm })),
    );
    changed = true;
  }
  return changed;
}
