// Answers that are computed, not stored: what the caller may do (everything: this cluster asks no one who they are) and
// how much nodes and pods use (simulated: a steady share of what each pod requests, with a slow wave).
import type { IncomingMessage } from 'node:http';
import { formatTime, quantityIn, tryParseQuantity } from '../../base/index.ts';
import type { ResourceDefinition } from '../api/definition.ts';
import { find, type Machinery } from '../api/machinery.ts';
import { parseLabelSelector } from '../api/selectors.ts';
import { methodNotAllowed, notFound, type StatusObject } from '../api/status.ts';
import { isObject, type JsonObject, listAt, objectAt, stringAt } from '../json.ts';
import { fractionOf } from '../kubelet/hash.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { encodeObject, table } from './encode.ts';
import { negotiate } from './negotiate.ts';
import { type ResourcePath, readObject } from './request.ts';

interface Asked {
  machinery: Machinery;
  request: IncomingMessage;
  path: ResourcePath;
  query: URLSearchParams;
  answer(code: number, body: JsonObject | StatusObject): void;
}

export async function serveComputed(asked: Asked, definition: ResourceDefinition): Promise<void> {
  const { request } = asked;
  if (definition.group === 'metrics.k8s.io') {
    if (request.method !== 'GET') throw methodNotAllowed();
    return serveUsage(asked, definition);
  }
  if (request.method !== 'POST') throw methodNotAllowed();
  const body = await readObject(request, definition.kind, definition.schema);
  const review = isObject(body) ? body : {};
  const apiVersion = 'authorization.k8s.io/v1';
  const status = definition.kind === 'SelfSubjectAccessReview' ? { allowed: true, reason: whyAllowed } : everyRule;
  asked.answer(201, { kind: definition.kind, apiVersion, metadata: {}, spec: objectAt(review, 'spec'), status });
}

const whyAllowed = 'the simulated cluster lets everyone do everything';
const everyRule = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  incomplete: false,
};

/** Usage is an average over this long, as of a real metrics server. */
const windowText = '15s';

function serveUsage({ machinery, request, path, query, answer }: Asked, definition: ResourceDefinition): void {
  const nowMs = machinery.clock.now();
  const isNodes = definition.plural === 'nodes';
  const source = machinery.registry.find('', 'v1', isNodes ? 'nodes' : 'pods') as ResourceDefinition;
  const usage = isNodes ? nodeUsage(machinery, nowMs) : (object: StoredObject) => podMetrics(object, nowMs);
  const view = { form: negotiate(request), includeObject: 'Metadata' as const, nowMs };
  const present = (object: StoredObject): StoredObject | undefined => {
    const own = usage(object);
    if (own === undefined) return undefined;
    const { name, namespace, labels } = object.metadata;
    const metadata = { name, namespace, labels, creationTimestamp: formatTime(nowMs) };
    const head = { kind: definition.kind, apiVersion: 'metrics.k8s.io/v1beta1' };
    return { ...head, metadata, timestamp: formatTime(nowMs), window: windowText, ...own } as unknown as StoredObject;
  };
  if (path.name !== undefined) {
    const object = find(machinery, source, path.namespace, path.name);
    const metrics = object === undefined ? undefined : present(object);
    if (metrics === undefined) throw notFound(definition, path.name);
    return answer(200, encodeObject(definition, metrics, view));
  }
  const labels = parseLabelSelector(query.get('labelSelector') ?? undefined);
  const items: StoredObject[] = [];
  for (const object of machinery.around.list(source.plural, path.namespace)) {
    if (labels !== undefined && !labels(object.metadata.labels)) continue;
    const metrics = present(object);
    if (metrics !== undefined) items.push(metrics);
  }
  if (view.form.as === 'Table') {
    const rows = items.flatMap((item) => encodeObject(definition, item, view)['rows'] as JsonObject[]);
    return answer(200, table(definition, rows, { metadata: {}, apiVersion: view.form.metaVersion }));
  }
  return answer(200, { kind: definition.listKind, apiVersion: 'metrics.k8s.io/v1beta1', metadata: {}, items });
}

interface Amounts {
  cpuMilli: number;
  memoryBytes: number;
}

const waveMs = 600_000;
/** Of containers that request nothing. */
const least: Amounts = { cpuMilli: 5, memoryBytes: 20 * 1024 * 1024 };
/** What the machine itself needs. */
const system: Amounts = { cpuMilli: 40, memoryBytes: 250 * 1024 * 1024 };

const written = ({ cpuMilli, memoryBytes }: Amounts): JsonObject => ({
  cpu: `${Math.round(cpuMilli * 1e6)}n`,
  memory: `${Math.round(memoryBytes / 1024)}Ki`,
});

function podMetrics(pod: StoredObject, nowMs: number): JsonObject | undefined {
  if (stringAt(objectAt(pod, 'status'), 'phase') !== 'Running') return undefined;
  const containers = listAt(objectAt(pod, 'spec'), 'containers').map((container) => ({
    name: stringAt(container, 'name'),
    usage: written(containerUsage(container, pod.metadata.uid ?? '', nowMs)),
  }));
  return { containers };
}

/** A steady share of the requests, different from pod to pod, that swings by a tenth. */
function containerUsage(container: JsonObject, uid: string, nowMs: number): Amounts {
  const requests = objectAt(objectAt(container, 'resources'), 'requests');
  const fraction = fractionOf(uid);
  const wave = Math.sin((nowMs / waveMs + fraction) * 2 * Math.PI) * 0.1;
  const cpu = amount('milli', requests['cpu']) * (0.15 + 0.6 * fraction + wave);
  const memory = amount('units', requests['memory']) * (0.45 + 0.4 * fraction + wave / 4);
  return {
    cpuMilli: Math.max(least.cpuMilli, cpu),
    memoryBytes: Math.max(least.memoryBytes, memory),
  };
}

function nodeUsage({ around }: Machinery, nowMs: number): (node: StoredObject) => JsonObject {
  const byNode = new Map<string, Amounts>();
  for (const pod of around.list('pods')) {
    if (stringAt(objectAt(pod, 'status'), 'phase') !== 'Running') continue;
    const spec = objectAt(pod, 'spec');
    const sum = byNode.get(stringAt(spec, 'nodeName')) ?? { ...system };
    for (const container of listAt(spec, 'containers')) {
      const { cpuMilli, memoryBytes } = containerUsage(container, pod.metadata.uid ?? '', nowMs);
      sum.cpuMilli += cpuMilli;
      sum.memoryBytes += memoryBytes;
    }
    byNode.set(stringAt(spec, 'nodeName'), sum);
  }
  return (node) => ({ usage: written(byNode.get(node.metadata.name ?? '') ?? system) });
}

function amount(unit: 'milli' | 'units', value: unknown): number {
  const parsed = typeof value === 'string' || typeof value === 'number' ? tryParseQuantity(String(value)) : undefined;
  return parsed === undefined ? 0 : quantityIn(unit, parsed);
}
