// The remedy "start a pod that the affinity selects": a small pod with the labels that each required rule over the keys asks
// for, free to run wherever the pod itself may.
import { label } from '../../../api/names.ts';
import type { Snapshot, SnapshotObject } from '../../../core/index.ts';

interface Expression {
  key: string;
  operator: string;
  values?: string[];
}
interface Term {
  topologyKey: string;
  namespaces?: string[];
  namespaceSelector?: object;
  labelSelector?: { matchLabels?: Record<string, string>; matchExpressions?: Expression[] };
}
interface Spec {
  nodeSelector?: Record<string, string>;
  affinity?: { nodeAffinity?: object; podAffinity?: { requiredDuringSchedulingIgnoredDuringExecution?: Term[] } };
}

/** False if no pod can be named that a rule selects, or if it may well start on a host without room for the pod. */
export function startSelected(snapshot: Snapshot, pod: SnapshotObject, keys: readonly string[]): boolean {
  const { affinity, ...spec } = pod['spec'] as Spec;
  const rules = affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const own = rules.filter(({ topologyKey }) => keys.includes(topologyKey));
  for (const [at, rule] of own.entries()) {
    const labels = selectedLabels(rule);
    if (labels === undefined || rule.topologyKey === label.hostname) return false;
    const { namespace = 'default', name, creationTimestamp } = pod.metadata;
    const somewhere = domainOf(snapshot, rule.topologyKey);
    snapshot.objects.items.push({
      ...pod,
      metadata: {
        name: `${name}-selected-${at}`,
        namespace: rule.namespaces?.[0] ?? namespace,
        labels,
        ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
      },
      spec: {
        ...pick(spec, ['tolerations', 'schedulerName']),
        nodeSelector: { ...somewhere, ...spec.nodeSelector },
        ...(affinity?.nodeAffinity === undefined ? {} : { affinity: { nodeAffinity: affinity.nodeAffinity } }),
        containers: [{ name: 'main', image: 'any', resources: { requests: { cpu: '10m', memory: '8Mi' } } }],
      },
    });
  }
  return own.length > 0;
}

/** A pod counts for an affinity once it is clear in which domain it is: the first that can be launched will do. */
function domainOf({ instanceTypes = [] }: Snapshot, key: string): Record<string, string> {
  const offerings = instanceTypes.flatMap(({ items = [] }) => items.flatMap((type) => type.offerings));
  const requirements = offerings.filter(({ available }) => available).flatMap((offering) => offering.requirements);
  const value = requirements.find((each) => each.key === key)?.values?.[0];
  return value === undefined ? {} : { [key]: value };
}

/** Labels that satisfy the rule; undefined where that is not sure. */
function selectedLabels({ labelSelector, namespaceSelector }: Term): Record<string, string> | undefined {
  if (labelSelector === undefined || namespaceSelector !== undefined) return undefined;
  const labels = { ...labelSelector.matchLabels };
  for (const { key, operator, values: [value = ''] = [] } of labelSelector.matchExpressions ?? []) {
    if (operator === 'In') labels[key] ??= value;
    else if (operator === 'Exists') labels[key] ??= 'any';
    else if (labels[key] !== undefined) return undefined;
  }
  return labels;
}

function pick(spec: object, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(spec).filter(([name]) => names.includes(name)));
}
