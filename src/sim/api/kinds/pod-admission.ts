// What the cluster adds to a new pod or refuses about it: its service account, its priority, the tolerations every pod
// has for a while, and the defaults and bounds of LimitRanges.
import { addQuantities, compareQuantities, formatQuantity, parseQuantity, type Quantity } from '../../../base/index.ts';
import { ensureObject, type JsonObject, listAt, objectAt, setDefault, stringAt } from '../../json.ts';
import type { Surroundings } from '../definition.ts';
import { forbidden } from '../status.ts';

const pods = { group: '', plural: 'pods', kind: 'Pod' };
/** How long a pod stays on a node that went away, unless it says otherwise. */
const evictionDelaySeconds = 300;

export function admitPod(pod: JsonObject, around: Surroundings): void {
  const meta = objectAt(pod, 'metadata');
  const spec = objectAt(pod, 'spec');
  applyLimitRanges(pod, stringAt(meta, 'namespace'), around);
  admitServiceAccount(meta, spec, around);
  tolerateBriefly(spec, 'node.kubernetes.io/not-ready');
  tolerateBriefly(spec, 'node.kubernetes.io/unreachable');
  resolvePriority(meta, spec, around);
}

function admitServiceAccount(meta: JsonObject, spec: JsonObject, around: Surroundings): void {
  const old = stringAt(spec, 'serviceAccount');
  setDefault(spec, 'serviceAccountName', old === '' ? 'default' : old);
  const name = stringAt(spec, 'serviceAccountName');
  spec['serviceAccount'] = name;
  if (around.get('serviceaccounts', stringAt(meta, 'namespace'), name) !== undefined) return;
  throw forbidden(
    pods,
    stringAt(meta, 'name'),
    `error looking up service account ${stringAt(meta, 'namespace')}/${name}: serviceaccount "${name}" not found`,
  );
}

function tolerateBriefly(spec: JsonObject, key: string): void {
  const tolerations = listAt(spec, 'tolerations');
  const covered = tolerations.some((toleration) => {
    const ownKey = stringAt(toleration, 'key');
    const effect = stringAt(toleration, 'effect');
    return (ownKey === key || ownKey === '') && (effect === 'NoExecute' || effect === '');
  });
  if (covered) return;
  spec['tolerations'] = [
    ...tolerations,
    { key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: evictionDelaySeconds },
  ];
}

function resolvePriority(meta: JsonObject, spec: JsonObject, around: Surroundings): void {
  const podName = stringAt(meta, 'name');
  const name = stringAt(spec, 'priorityClassName');
  let chosen: JsonObject | undefined;
  if (name === '') {
    for (const candidate of around.list('priorityclasses.scheduling.k8s.io')) {
      if (candidate['globalDefault'] !== true) continue;
      if (chosen === undefined || Number(candidate['value']) < Number(chosen['value'])) chosen = candidate;
    }
    if (chosen !== undefined) spec['priorityClassName'] = objectAt(chosen, 'metadata')['name'];
  } else {
    chosen = around.get('priorityclasses.scheduling.k8s.io', undefined, name);
    if (chosen === undefined) {
      throw forbidden(pods, podName, `no PriorityClass with name ${name} was found`);
    }
  }
  const value = chosen === undefined ? 0 : Number(chosen['value']);
  if (spec['priority'] !== undefined && spec['priority'] !== value) {
    throw forbidden(
      pods,
      podName,
      `the integer value of priority (${String(spec['priority'])}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`,
    );
  }
  spec['priority'] = value;
  const policy = chosen === undefined ? 'PreemptLowerPriority' : (chosen['preemptionPolicy'] ?? 'PreemptLowerPriority');
  setDefault(spec, 'preemptionPolicy', policy);
}

/** Fills in container defaults, then refuses what a LimitRange of the namespace forbids. */
function applyLimitRanges(pod: JsonObject, namespace: string, around: Surroundings): void {
  const ranges = [...around.list('limitranges', namespace)];
  if (ranges.length === 0) return;
  const spec = objectAt(pod, 'spec');
  const containers = [...listAt(spec, 'initContainers'), ...listAt(spec, 'containers')];
  const added: string[] = [];
  for (const range of ranges) {
    for (const item of listAt(objectAt(range, 'spec'), 'limits')) {
      if (item['type'] !== 'Container') continue;
      for (const container of containers) applyContainerDefaults(container, item, added);
    }
  }
  if (added.length > 0) {
    const note = `LimitRanger plugin set: ${added.join('; ')}`;
    ensureObject(objectAt(pod, 'metadata'), 'annotations')['kubernetes.io/limit-ranger'] = note;
  }
  const errors = ranges.flatMap((range) =>
    listAt(objectAt(range, 'spec'), 'limits').flatMap((item) => {
      if (item['type'] === 'Container')
        return containers.flatMap((container) => boundErrors(item, objectAt(container, 'resources'), 'Container'));
      if (item['type'] === 'Pod') return boundErrors(item, podTotals(containers), 'Pod');
      return [];
    }),
  );
  if (errors.length === 0) return;
  throw forbidden(
    pods,
    stringAt(objectAt(pod, 'metadata'), 'name'),
    errors.length === 1 ? (errors[0] as string) : `[${errors.join(', ')}]`,
  );
}

function applyContainerDefaults(container: JsonObject, item: JsonObject, added: string[]): void {
  const resources = ensureObject(container, 'resources');
  for (const [from, to, word] of [
    ['defaultRequest', 'requests', 'request'],
    ['default', 'limits', 'limit'],
  ] as const) {
    const missing = Object.entries(objectAt(item, from)).filter(([name]) => !(name in objectAt(resources, to)));
    if (missing.length === 0) continue;
    Object.assign(ensureObject(resources, to), Object.fromEntries(missing));
    const names = missing.map(([name]) => name).sort();
    added.push(`${names.join(', ')} ${word} for container ${stringAt(container, 'name')}`);
  }
}

/** Requests and limits of all containers together. */
function podTotals(containers: JsonObject[]): JsonObject {
  const totals: JsonObject = { requests: {}, limits: {} };
  for (const container of containers) {
    for (const side of ['requests', 'limits']) {
      const sum = objectAt(totals, side);
      for (const [name, amount] of Object.entries(objectAt(objectAt(container, 'resources'), side))) {
        const before = sum[name] === undefined ? undefined : parseQuantity(sum[name] as string);
        const quantity = parseQuantity(amount as string);
        sum[name] = formatQuantity(before === undefined ? quantity : addQuantities(before, quantity));
      }
    }
  }
  return totals;
}

function boundErrors(item: JsonObject, resources: JsonObject, what: string): string[] {
  const errors: string[] = [];
  const amount = (side: string, name: string): Quantity | undefined => {
    const value = objectAt(resources, side)[name];
    return value === undefined ? undefined : parseQuantity(value as string);
  };
  for (const [name, bound] of Object.entries(objectAt(item, 'min'))) {
    const minimum = parseQuantity(bound as string);
    const request = amount('requests', name);
    const limit = amount('limits', name);
    if (request === undefined)
      errors.push(`minimum ${name} usage per ${what} is ${String(bound)}.  No request is specified`);
    else if (compareQuantities(request, minimum) < 0) {
      errors.push(`minimum ${name} usage per ${what} is ${String(bound)}, but request is ${formatQuantity(request)}`);
    } else if (limit !== undefined && compareQuantities(limit, minimum) < 0) {
      errors.push(`minimum ${name} usage per ${what} is ${String(bound)}, but limit is ${formatQuantity(limit)}`);
    }
  }
  for (const [name, bound] of Object.entries(objectAt(item, 'max'))) {
    const maximum = parseQuantity(bound as string);
    const request = amount('requests', name);
    const limit = amount('limits', name);
    if (limit === undefined)
      errors.push(`maximum ${name} usage per ${what} is ${String(bound)}.  No limit is specified`);
    else if (compareQuantities(limit, maximum) > 0) {
      errors.push(`maximum ${name} usage per ${what} is ${String(bound)}, but limit is ${formatQuantity(limit)}`);
    } else if (request !== undefined && compareQuantities(request, maximum) > 0) {
      errors.push(`maximum ${name} usage per ${what} is ${String(bound)}, but request is ${formatQuantity(request)}`);
    }
  }
  return errors;
}
