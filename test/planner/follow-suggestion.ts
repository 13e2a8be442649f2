// Does what a suggestion says: changes the snapshot the way a person would who reads it. Each reason names one obstacle,
// so following suggestions one after the other must end with the pod placed.
import { label } from '../../src/api/index.ts';
import type { Reason, Snapshot } from '../../src/core/index.ts';
import type { NodePool, Pod, PodAffinity, PodTerm, SelectorTerm } from './rules/objects.ts';
import { podKey } from './rules/objects.ts';

/** A changed copy, or undefined when the suggestion is to wait or asks for something only an operator can provide. */
export function followSuggestion(snapshot: Snapshot, key: string, reason: Reason): Snapshot | undefined {
  // Generated objects share parts; a structured clone would keep sharing them, and one pool's change would be another's.
  const copy = JSON.parse(JSON.stringify(snapshot)) as Snapshot;
  const pods = copy.objects.items.filter((item) => item.kind === 'Pod') as unknown as Pod[];
  const pools = copy.objects.items.filter((item) => item.kind === 'NodePool') as unknown as NodePool[];
  const pod = pods.find((candidate) => podKey(candidate) === key);
  if (pod === undefined) return undefined;
  const named = pools.filter((pool) => pool.metadata.name === reason.nodePool);
  const keys = reason.keys ?? [];
  const suggestion = reason.suggestion ?? '';
  const single = parts.find(([words]) => words.test(suggestion))?.[1];
  if (single !== undefined) {
    for (const pool of named.length > 0 ? named : [undefined]) single({ copy, pod, pool, keys, suggestion });
    return copy;
  }
  if (suggestion.startsWith('allow other values for')) {
    const [key = ''] = keys;
    if (/ in the pod/.test(suggestion)) forgetKeys(pod, [key]);
    if (/ in NodePool /.test(suggestion)) for (const pool of named) forgetRequirements(pool, [key]);
    soften([pod], [key]);
    return copy;
  }
  if (/^give the pod (fewer )?volumes/.test(suggestion)) {
    delete pod.spec.volumes;
    return copy;
  }
  if (suggestion.startsWith('allow instance types with')) {
    for (const pool of named) pool.spec.template.spec.requirements = [];
    return copy;
  }
  if (suggestion.startsWith('ask for less')) {
    askForLess(pod, suggestion);
    return copy;
  }
  if (suggestion.startsWith('let daemons ask for less')) {
    copy.objects.items = copy.objects.items.filter((item) => item.kind !== 'DaemonSet');
    return copy;
  }
  if (suggestion.startsWith("relax the pod's topology rules")) {
    soften([pod], keys);
    return copy;
  }
  switch (reason.code) {
    case 'TaintNotTolerated':
      tolerate(pod, suggestion);
      break;
    case 'LimitsExceeded':
      for (const pool of named) delete pool.spec.limits;
      break;
    case 'UnknownValue':
      forgetKeys(pod, keys);
      break;
    case 'RequirementsIncompatible':
      if (keys.length === 0) for (const pool of named) pool.spec.template.spec.requirements = [];
      forgetKeys(pod, keys);
      break;
    case 'VolumeRequirementsIncompatible':
      widen(pod, named, keys);
      break;
    case 'TopologyUnsatisfiable':
      soften(suggestion.includes('of the pods that keep this one away') ? pods : [pod], keys);
      break;
    case 'MinValuesUnsatisfied':
      for (const pool of named)
        for (const r of pool.spec.template.spec.requirements) if (keys.includes(r.key)) delete r.minValues;
      break;
    case 'HostPortConflict':
      for (const container of pod.spec.containers) delete container.ports;
      break;
    case 'NoOffering':
      widen(pod, named, [label.zone, label.capacityType]);
      break;
    case 'NoInstanceTypeFits':
      wantNothing(pod);
      for (const pool of named) pool.spec.template.spec.requirements = [];
      break;
    case 'NoInstanceTypes':
      for (const pool of pools) pool.spec.template.spec.requirements = [];
      break;
    default:
      return undefined;
  }
  return copy;
}

interface Part {
  copy: Snapshot;
  pod: Pod;
  pool: NodePool | undefined;
  keys: readonly string[];
  suggestion: string;
}

const places = [label.zone, label.capacityType];
const openUp = ({ pool }: Part): void => {
  if (pool !== undefined) pool.spec.template.spec.requirements = [];
};

/** One choice of a suggestion that offers several, by itself. */
const parts: readonly [RegExp, (part: Part) => void][] = [
  [/^allow what the pod asks for(?!.*, or )/, ({ pool, pod, keys }) => allowWishes(pool, pod, keys)],
  [/^change the pod's node selector/, ({ pod, keys }) => forgetKeys(pod, keys)],
  [/^leave \S+ out of the pod's/, ({ pod, keys }) => forgetKeys(pod, keys)],
  [/^relax the pod's node selector or affinity$/, ({ pod }) => wantNothing(pod)],
  [/^allow (?:other|larger) instance types(?!.*[,;] (?:or|and) )/, openUp],
  [/^allow instance types in NodePool \S+ that attach more$/, openUp],
  [/^allow more zones or capacity types in the pod$/, ({ pod }) => forgetKeys(pod, places)],
  [/^allow more zones or capacity types in NodePool \S+$/, ({ pool }) => pool && forgetRequirements(pool, places)],
  [/^start a pod (?!.*, or )/, startCompany],
  [
    /^raise maxSkew (?!.*, or )/,
    ({ pod, keys }) => {
      for (const rule of pod.spec.topologySpreadConstraints ?? [])
        if (keys.includes(rule.topologyKey)) rule.maxSkew = 500;
    },
  ],
  [
    /^(?:allow|let the pod run in) more domains of /,
    ({ pod, pool, keys }) => {
      forgetKeys(pod, keys);
      if (pool !== undefined) forgetRequirements(pool, keys);
    },
  ],
  [
    /^ask for (?!less)\S+ in the pod's node selector/,
    ({ pod, keys: [key = ''], suggestion }) => {
      forgetKeys(pod, [key]);
      pod.spec.nodeSelector = { ...pod.spec.nodeSelector, [key]: /^ask for (\S+)/.exec(suggestion)?.[1] ?? '' };
    },
  ],
];

/** A pod of the right labels for every affinity over these keys, where this one may be. */
function startCompany({ copy, pod, keys }: Part): void {
  const rules = pod.spec.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  for (const [at, { topologyKey, labelSelector, namespaces }] of rules.entries()) {
    if (!keys.includes(topologyKey)) continue;
    const given = JSON.parse(JSON.stringify(pod)) as Pod;
    given.metadata.name = `${pod.metadata.name}-company-${at}`;
    const [other] = namespaces ?? [];
    if (other !== undefined) given.metadata.namespace = other;
    given.metadata.labels = { ...labelSelector?.matchLabels };
    for (const { key, values = ['any'] } of labelSelector?.matchExpressions ?? [])
      given.metadata.labels[key] ??= values[0] ?? '';
    delete given.spec.affinity?.podAffinity;
    delete given.spec.affinity?.podAntiAffinity;
    delete given.spec.topologySpreadConstraints;
    delete given.spec.volumes;
    for (const container of given.spec.containers) {
      container.resources = { requests: { cpu: '1m' } };
      delete container.ports;
    }
    // It runs somewhere before the pod is looked at again.
    const offered = (copy.instanceTypes ?? []).flatMap(({ items = [] }) => items.flatMap((type) => type.offerings));
    const open = offered.filter(({ available }) => available).flatMap(({ requirements }) => requirements);
    const domain = open.find((each) => each.key === topologyKey)?.values?.[0];
    if (domain !== undefined) given.spec.nodeSelector = { [topologyKey]: domain, ...given.spec.nodeSelector };
    copy.objects.items.push(given as never);
  }
}

/** The pool takes any value for these keys. */
function allowWishes(pool: NodePool | undefined, pod: Pod, keys: readonly string[]): void {
  if (pool === undefined) return;
  forgetRequirements(pool, keys);
  for (const key of keys) {
    delete pool.spec.template.metadata?.labels?.[key];
    const wanted = pod.spec.nodeSelector?.[key];
    pool.spec.template.spec.requirements.push(
      wanted === undefined ? { key, operator: 'Exists' } : { key, operator: 'In', values: [wanted] },
    );
  }
}

/** The same reason once for each of the choices that its suggestion offers. */
export function choicesIn(reason: Reason): Reason[] {
  const { suggestion = '', keys = [] } = reason;
  if (suggestion.startsWith('allow other values for')) return keys.map((key) => ({ ...reason, keys: [key] }));
  const [, values = '', where = ''] = /^ask for (\S+(?: or \S+)*)( in the pod's .*)$/.exec(suggestion) ?? [];
  if (where !== '') return values.split(' or ').map((value) => ({ ...reason, suggestion: `ask for ${value}${where}` }));
  const [, what = '', pool = ''] = /^(allow .*) in (NodePool \S+) or in the pod$/.exec(suggestion) ?? [];
  const [, skew = '', over = ''] = /^(raise maxSkew .* over (\S+)), allow more domains, or /.exec(suggestion) ?? [];
  const spreads = [skew, `allow more domains of ${over}`, `make the spread over ${over} ScheduleAnyway`];
  if (over !== '') return spreads.map((text) => ({ ...reason, suggestion: text }));
  const [, preferred = '', apart = ''] =
    /^(make the anti-affinity over (\S+) .*preferred), or let /.exec(suggestion) ?? [];
  const domains = [preferred, `let the pod run in more domains of ${apart}`];
  if (apart !== '') return domains.map((text) => ({ ...reason, suggestion: text }));
  const [, start = '', near = ''] = /^(start a pod the affinity over (\S+) .*), or make /.exec(suggestion) ?? [];
  const company = [start, `make the affinity over ${near} preferred`];
  if (near !== '') return company.map((text) => ({ ...reason, suggestion: text }));
  const texts = pool === '' ? suggestion.split(/[,;] or /) : [`${what} in ${pool}`, `${what} in the pod`];
  return texts.map((text) => ({ ...reason, suggestion: text }));
}

function tolerate(pod: Pod, suggestion: string): void {
  const names = /^add a toleration for (.*) to the pod$/.exec(suggestion)?.[1] ?? '';
  const tolerations = names.split(' and ').map((name) => {
    const [, key = '', value, effect = ''] = /^([^=:]+)(?:=([^:]*))?:(.*)$/.exec(name) ?? [];
    return {
      key,
      operator: value === undefined ? 'Exists' : 'Equal',
      effect,
      ...(value === undefined ? {} : { value }),
    };
  });
  pod.spec.tolerations = [...(pod.spec.tolerations ?? []), ...tolerations];
}

const without = (term: SelectorTerm, keys: readonly string[]): SelectorTerm => ({
  ...term,
  matchExpressions: (term.matchExpressions ?? []).filter((expression) => !keys.includes(expression.key)),
});

function forgetKeys(pod: Pod, keys: readonly string[]): void {
  for (const key of keys) delete pod.spec.nodeSelector?.[key];
  const node = pod.spec.affinity?.nodeAffinity;
  const required = node?.requiredDuringSchedulingIgnoredDuringExecution;
  if (node === undefined || required === undefined) return;
  const terms = required.nodeSelectorTerms.map((term) => without(term, keys));
  const left = terms.filter((term) => (term.matchExpressions ?? []).length > 0);
  if (left.length < terms.length) delete node.requiredDuringSchedulingIgnoredDuringExecution;
  else required.nodeSelectorTerms = left;
}

function forgetRequirements(pool: NodePool, keys: readonly string[]): void {
  const { spec } = pool.spec.template;
  spec.requirements = spec.requirements.filter((r) => !keys.includes(r.key));
}

function widen(pod: Pod, pools: readonly NodePool[], keys: readonly string[]): void {
  forgetKeys(pod, keys);
  for (const pool of pools) forgetRequirements(pool, keys);
}

/** No node selector, no node affinity. */
function wantNothing(pod: Pod): void {
  delete pod.spec.nodeSelector;
  delete pod.spec.affinity?.nodeAffinity;
}

/** What the suggestion names, as much as it names; where it names nothing, everything, next to nothing. */
function askForLess(pod: Pod, suggestion: string): void {
  const containers = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])];
  const named = [...suggestion.matchAll(/(\S+) at most ([^;, ]+)/g)];
  if (named.length === 0)
    for (const container of containers) container.resources = { requests: { cpu: '10m', memory: '8Mi' } };
  for (const [, name = '', most = ''] of named) {
    for (const { resources } of containers) {
      delete resources?.requests?.[name];
      delete resources?.limits?.[name];
    }
    const [first] = pod.spec.containers;
    if (first !== undefined)
      first.resources = { ...first.resources, requests: { ...first.resources?.requests, [name]: most } };
  }
}

/** Hard constraints over these keys become preferences. */
function soften(pods: readonly Pod[], keys: readonly string[]): void {
  for (const { spec } of pods) {
    for (const spread of spec.topologySpreadConstraints ?? []) {
      if (!keys.includes(spread.topologyKey)) continue;
      spread.whenUnsatisfiable = 'ScheduleAnyway';
      delete spread.minDomains;
    }
    for (const affinity of [spec.affinity?.podAffinity, spec.affinity?.podAntiAffinity]) {
      if (affinity !== undefined) prefer(affinity, keys);
    }
  }
}

function prefer(affinity: PodAffinity, keys: readonly string[]): void {
  const required = affinity.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const moved = required.filter((term: PodTerm) => keys.includes(term.topologyKey));
  affinity.requiredDuringSchedulingIgnoredDuringExecution = required.filter((term) => !moved.includes(term));
  affinity.preferredDuringSchedulingIgnoredDuringExecution = [
    ...(affinity.preferredDuringSchedulingIgnoredDuringExecution ?? []),
    ...moved.map((podAffinityTerm) => ({ weight: 1, podAffinityTerm })),
  ];
}
