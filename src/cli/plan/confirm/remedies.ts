// Does to a copy of a snapshot what a suggestion tells a person to do: to the pod, to the NodePool, or to what is only a
// matter of waiting. Each remedy is the mildest change that takes its obstacle away.
import { label } from '../../../api/names.ts';
import { tryParseQuantity } from '../../../base/index.ts';
import type { Reason, Snapshot, SnapshotObject } from '../../../core/index.ts';

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
  topologySpreadConstraints?: { topologyKey: string; whenUnsatisfiable?: string; minDomains?: number }[];
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
    spec: {
      requirements?: { key: string; minValues?: number }[];
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
  if (suggestion.startsWith('ask for less')) return askForLess(spec, suggestion);
  if (/^give the pod (fewer )?volumes/.test(suggestion)) {
    delete spec.volumes;
    return true;
  }
  if (suggestion.startsWith('let daemons ask for less')) {
    snapshot.objects.items = snapshot.objects.items.filter(({ kind }) => kind !== 'DaemonSet');
    return true;
  }
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
      if (suggestion.startsWith('allow other')) widenOrOpen(spec, poolSpec, keys);
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
      widenOrOpen(spec, poolSpec, keys);
      return true;
    case 'NoInstanceTypes':
      if (poolSpec === undefined) return false;
      poolSpec.template.spec.requirements = [];
      return true;
    default:
      return false;
  }
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
  if (keys.length > 0) return widen(spec, pool, keys);
  delete spec.nodeSelector;
  delete spec.affinity?.nodeAffinity;
  if (pool !== undefined) pool.template.spec.requirements = [];
}

function widen(spec: PodSpec, pool: PoolSpec | undefined, keys: readonly string[]): void {
  forget(spec, keys);
  if (pool === undefined) return;
  const { spec: template } = pool.template;
  template.requirements = (template.requirements ?? []).filter(({ key }) => !keys.includes(key));
}

function forget(spec: PodSpec, keys: readonly string[]): void {
  for (const key of keys) delete spec.nodeSelector?.[key];
  const node = spec.affinity?.nodeAffinity;
  const required = node?.requiredDuringSchedulingIgnoredDuringExecution;
  if (node === undefined || required === undefined) return;
  for (const term of required.nodeSelectorTerms)
    term.matchExpressions = (term.matchExpressions ?? []).filter(({ key }) => !keys.includes(key));
  const left = required.nodeSelectorTerms.filter(({ matchExpressions = [] }) => matchExpressions.length > 0);
  // A term without an expression matches nothing; a pod without a term, everything.
  if (left.length < required.nodeSelectorTerms.length) delete node.requiredDuringSchedulingIgnoredDuringExecution;
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
