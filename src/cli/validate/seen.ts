// What one run of `kerf validate` has seen, for the few rules that compare objects with each other. Only small facts are
// kept, so that a file with a hundred thousand pods stays cheap.
import { awsLabel, label } from '../../api/names.ts';
import { asList, asMap, asText, type PlainMap } from '../manifests/index.ts';
import type { Subject } from './finding.ts';

export interface Workload {
  namespace: string;
  labels: PlainMap;
  replicas: number;
}

export interface Seen {
  /** `key=value` of every nodeSelector and every required node affinity of a pod or pod template. */
  selectedNodeLabels: Set<string>;
  workloads: Workload[];
  nodePoolsWithLabels: Subject[];
  disruptionBudgets: Subject[];
  /** Capacity types that NodePools name, with their node class. */
  capacityTypes: { subject: Subject; path: (string | number)[]; values: string[]; nodeClass: string }[];
  /** By name: whether the class selects capacity reservations. */
  nodeClasses: Map<string, { subject: Subject; selectsReservations: boolean }>;
  /** Instance types, families and categories that NodePools name, to be looked up once everything is read. */
  namedTypes: { subject: Subject; path: (string | number)[]; key: string; value: string }[];
  /** Every instance type of EC2 that is known here; empty while not loaded. */
  machines: ReadonlySet<string>;
}

export function nothingSeen(): Seen {
  return {
    selectedNodeLabels: new Set(),
    workloads: [],
    nodePoolsWithLabels: [],
    disruptionBudgets: [],
    capacityTypes: [],
    nodeClasses: new Map(),
    namedTypes: [],
    machines: new Set(),
  };
}

export function remember(seen: Seen, subject: Subject): void {
  const { kind, value } = subject;
  const metadata = asMap(value['metadata']);
  if (kind === 'NodePool' && Object.keys(asMap(metadata['labels'])).length > 0)
    seen.nodePoolsWithLabels.push(slim(subject));
  if (kind === 'NodePool') seen.namedTypes.push(...namedTypesOf(subject));
  if (kind === 'NodePool') seen.capacityTypes.push(...capacityTypesOf(subject));
  if (kind === 'EC2NodeClass') {
    const selectsReservations = asList(asMap(value['spec'])['capacityReservationSelectorTerms']).length > 0;
    seen.nodeClasses.set(asText(metadata['name']) ?? '', { subject: slim(subject), selectsReservations });
  }
  if (kind === 'PodDisruptionBudget') seen.disruptionBudgets.push(slim(subject));
  const pod = podTemplate(subject);
  if (pod === undefined) return;
  for (const [key, wanted] of Object.entries(asMap(pod.spec['nodeSelector'])))
    seen.selectedNodeLabels.add(`${key}=${wanted}`);
  for (const { expression } of nodeAffinityExpressions(pod)) {
    for (const wanted of asList(expression['values']))
      seen.selectedNodeLabels.add(`${asText(expression['key'])}=${wanted}`);
  }
  if (kind === 'Deployment' || kind === 'StatefulSet' || kind === 'ReplicaSet') {
    const replicas = asMap(value['spec'])['replicas'];
    seen.workloads.push({
      namespace: asText(metadata['namespace']) ?? '',
      labels: asMap(pod.metadata['labels']),
      replicas: typeof replicas === 'number' ? replicas : 1,
    });
  }
}

const requirementsPath = ['spec', 'template', 'spec', 'requirements'];

function capacityTypesOf(subject: Subject): Seen['capacityTypes'] {
  const template = asMap(asMap(asMap(subject.value['spec'])['template'])['spec']);
  const nodeClass = asText(asMap(template['nodeClassRef'])['name']) ?? '';
  return asList(template['requirements'])
    .map(asMap)
    .flatMap(({ key, operator, values }, index) =>
      key === label.capacityType && operator === 'In'
        ? [
            {
              subject: slim(subject),
              path: [...requirementsPath, index],
              values: asList(values).map(String),
              nodeClass,
            },
          ]
        : [],
    );
}

const catalogueKeys: readonly string[] = [label.instanceType, awsLabel.instanceFamily, awsLabel.instanceCategory];

function namedTypesOf(subject: Subject): Seen['namedTypes'] {
  const path = requirementsPath;
  const requirements = asList(path.reduce<unknown>((node, part) => asMap(node)[part], subject.value)).map(asMap);
  return requirements.flatMap(({ key, values }, index) =>
    catalogueKeys.includes(String(key))
      ? asList(values).map((value, at) => ({
          subject: slim(subject),
          path: [...path, index, 'values', at],
          key: String(key),
          value: String(value),
        }))
      : [],
  );
}

/** The subject with only what the concluding rules read, so that the rest of it can go. */
function slim(subject: Subject): Subject {
  const { metadata, spec } = subject.value;
  const { template, ...rest } = asMap(spec);
  const { labels, namespace, name } = asMap(metadata);
  const onNodes = asMap(asMap(asMap(template)['metadata'])['labels']);
  const kept = subject.kind === 'NodePool' ? { template: { metadata: { labels: onNodes } } } : rest;
  return {
    ...subject,
    value: { metadata: { labels, namespace, name }, spec: kept },
    manifest: { ...subject.manifest, value: undefined },
  };
}

export interface PodTemplate {
  metadata: PlainMap;
  spec: PlainMap;
  /** Where the template stands in the object. */
  path: (string | number)[];
}

/** The pod of a Pod, or the pod template of anything that makes pods. */
export function podTemplate({ kind, value }: Subject): PodTemplate | undefined {
  const path = templatePaths[kind];
  if (path === undefined) return undefined;
  const template = path.reduce<unknown>((node, part) => asMap(node)[part], value);
  return { metadata: asMap(asMap(template)['metadata']), spec: asMap(asMap(template)['spec']), path: [...path] };
}

const templatePaths: Readonly<Record<string, readonly string[]>> = {
  Pod: [],
  PodTemplate: ['template'],
  Deployment: ['spec', 'template'],
  ReplicaSet: ['spec', 'template'],
  StatefulSet: ['spec', 'template'],
  DaemonSet: ['spec', 'template'],
  ReplicationController: ['spec', 'template'],
  Job: ['spec', 'template'],
  CronJob: ['spec', 'jobTemplate', 'spec', 'template'],
};

/** Every required node affinity expression of a pod, with its path inside the object. */
export function nodeAffinityExpressions(pod: PodTemplate): { expression: PlainMap; path: (string | number)[] }[] {
  const required = 'requiredDuringSchedulingIgnoredDuringExecution';
  const terms = asMap(asMap(asMap(pod.spec['affinity'])['nodeAffinity'])[required])['nodeSelectorTerms'];
  const root = [...pod.path, 'spec', 'affinity', 'nodeAffinity', required, 'nodeSelectorTerms'];
  return asList(terms).flatMap((term, index) =>
    asList(asMap(term)['matchExpressions']).map((expression, at) => ({
      expression: asMap(expression),
      path: [...root, index, 'matchExpressions', at],
    })),
  );
}
