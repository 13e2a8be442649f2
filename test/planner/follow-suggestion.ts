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
  if (suggestion.startsWith('allow other values for')) {
    const [key = ''] = keys;
    widen(pod, named, [key]);
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
