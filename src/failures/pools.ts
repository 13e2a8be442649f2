// NodePools as pods see them: labels, zones, limits, and whether a pod could use them.
import { tryParseQuantity } from '../base/index.ts';
import type { Evidence } from './evidence.ts';
import { listAt, mapAt, type Plain, textAt, textsAt } from './fields.ts';
import { conditionOf, isDeleting, type Stored } from './objects.ts';
import { nodeClassNameOf } from './relations.ts';

export const zoneKey = 'topology.kubernetes.io/zone';

/** A quantity as a number of its base unit; undefined when it is not one. */
export function amountOf(value: unknown): number | undefined {
  const text = typeof value === 'number' ? String(value) : typeof value === 'string' ? value : '';
  const match = tryParseQuantity(text) === undefined ? null : /^([+-]?[\d.]+(?:[eE][+-]?\d+)?)([a-zA-Z]*)$/.exec(text);
  return match === null ? undefined : Number(match[1]) * (suffixes[match[2] ?? ''] ?? 1);
}

const suffixes: Readonly<Record<string, number>> = {
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  Ki: 1024,
  Mi: 1024 ** 2,
  Gi: 1024 ** 3,
  Ti: 1024 ** 4,
  Pi: 1024 ** 5,
};

export const requirementsOf = ({ object }: Stored): readonly unknown[] =>
  listAt(object, 'spec', 'template', 'spec', 'requirements');

export const templateLabels = ({ object }: Stored): Plain => mapAt(object, 'spec', 'template', 'metadata', 'labels');

/** Values that a pool allows for a key; undefined when it does not restrict it to a list. */
export function allowedValues(pool: Stored, key: string): string[] | undefined {
  const one = requirementsOf(pool).find(
    (requirement) => textAt(requirement, 'key') === key && textAt(requirement, 'operator') === 'In',
  );
  return one === undefined ? undefined : textsAt(one, 'values');
}

/** Zones in which a pool can launch: those of its class's subnets that its requirements allow; undefined when unknown. */
export function zonesOf(pool: Stored, { objects }: Evidence): string[] | undefined {
  const nodeClass = objects.find('EC2NodeClass', nodeClassNameOf(pool));
  const subnets = listAt(nodeClass?.object, 'status', 'subnets').map((subnet) => textAt(subnet, 'zone'));
  const allowed = allowedValues(pool, zoneKey);
  if (subnets.length === 0) return allowed;
  const zones = [...new Set(subnets)];
  return allowed === undefined ? zones : zones.filter((zone) => allowed.includes(zone));
}

/** The node selector and required node affinity of a pod, as key to values; only what is a list. */
export function podDemands(pod: Stored): Map<string, string[]> {
  const spec = mapAt(pod.object, 'spec');
  const demands = new Map<string, string[]>();
  for (const [key, value] of Object.entries(mapAt(spec, 'nodeSelector'))) demands.set(key, [String(value)]);
  const [term] = listAt(
    spec,
    'affinity',
    'nodeAffinity',
    'requiredDuringSchedulingIgnoredDuringExecution',
    'nodeSelectorTerms',
  );
  for (const one of listAt(term, 'matchExpressions'))
    if (textAt(one, 'operator') === 'In') demands.set(textAt(one, 'key'), textsAt(one, 'values'));
  return demands;
}

const wellKnown =
  /^(kubernetes\.io\/|node\.kubernetes\.io\/|topology\.kubernetes\.io\/|karpenter\.sh\/|karpenter\.k8s\.aws\/|beta\.kubernetes\.io\/|topology\.[a-z]+\.csi\.aws\.com\/|failure-domain\.)/;
export const isWellKnown = (key: string): boolean => wellKnown.test(key);

/** The pool can have nodes with what the pod asks for, as far as labels and lists tell. */
export function couldServe(pool: Stored, pod: Stored): boolean {
  const labels = templateLabels(pool);
  for (const [key, values] of podDemands(pod)) {
    if (key === 'karpenter.sh/nodepool') {
      if (!values.includes(pool.name)) return false;
      continue;
    }
    const own = textAt(labels, key);
    const allowed = own !== '' ? [own] : allowedValues(pool, key);
    if (allowed === undefined) {
      const isDeclared = requirementsOf(pool).some((one) => textAt(one, 'key') === key);
      if (!isWellKnown(key) && !isDeclared) return false;
    } else if (!values.some((value) => allowed.includes(value))) return false;
  }
  return listAt(pool.object, 'spec', 'template', 'spec', 'taints').every((taint) => tolerates(pod, taint));
}

function tolerates(pod: Stored, taint: unknown): boolean {
  if (textAt(taint, 'effect') === 'PreferNoSchedule') return true;
  return listAt(pod.object, 'spec', 'tolerations').some((one) => {
    const isKey =
      textAt(one, 'key') === textAt(taint, 'key') ||
      (textAt(one, 'key') === '' && textAt(one, 'operator') === 'Exists');
    const isValue = textAt(one, 'operator') === 'Exists' || textAt(one, 'value') === textAt(taint, 'value');
    const isEffect = textAt(one, 'effect') === '' || textAt(one, 'effect') === textAt(taint, 'effect');
    return isKey && isValue && isEffect;
  });
}

export const isUsable = ({ object }: Stored): boolean =>
  !isDeleting(object) && conditionOf(object, 'Ready')?.status !== 'False';

/** CPU and memory that a pod asks for, in cores and bytes. */
export function podRequests({ object }: Stored): { cpu: number; memory: number } {
  let cpu = 0;
  let memory = 0;
  for (const container of listAt(object, 'spec', 'containers')) {
    cpu += amountOf(mapAt(container, 'resources', 'requests')['cpu']) ?? 0;
    memory += amountOf(mapAt(container, 'resources', 'requests')['memory']) ?? 0;
  }
  return { cpu, memory };
}
