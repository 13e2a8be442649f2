// Rows of workloads and of what bounds them.
import { type JsonObject, listAt, objectAt, stringAt } from '../../json.ts';
import type { TableLayout } from '../definition.ts';
import { formatLabelSelector } from '../selectors.ts';
import {
  age,
  columns,
  containerCells,
  formatLabels,
  hasCondition,
  humanDuration,
  metaOf,
  nameOf,
  numberAt,
  templateSpec,
} from './cells.ts';

const specOf = (object: JsonObject): JsonObject => objectAt(object, 'spec');
const statusOf = (object: JsonObject): JsonObject => objectAt(object, 'status');
const wide = (object: JsonObject): string[] => [
  ...containerCells(templateSpec(object)),
  formatLabelSelector(specOf(object)['selector']),
];

function jobStatus(job: JsonObject): string {
  if (hasCondition(job, 'Complete')) return 'Complete';
  if (hasCondition(job, 'Failed')) return 'Failed';
  if (metaOf(job)['deletionTimestamp'] !== undefined) return 'Terminating';
  return ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find((type) => hasCondition(job, type)) ?? 'Running';
}

function jobCompletions(job: JsonObject): string {
  const spec = specOf(job);
  const done = numberAt(statusOf(job), 'succeeded');
  if (spec['completions'] !== undefined) return `${done}/${numberAt(spec, 'completions')}`;
  const parallelism = numberAt(spec, 'parallelism');
  return parallelism > 1 ? `${done}/1 of ${parallelism}` : `${done}/1`;
}

function jobDuration(job: JsonObject, nowMs: number): string {
  const { startTime, completionTime } = statusOf(job);
  if (typeof startTime !== 'string') return '';
  const end = typeof completionTime === 'string' ? Date.parse(completionTime) : nowMs;
  return humanDuration(end - Date.parse(startTime));
}

export const layouts: Record<string, TableLayout> = {
  Deployment: {
    columns: columns('Name/name,Ready,Up-to-date,Available,Age,Containers+,Images+,Selector+'),
    cells(object, nowMs) {
      const status = statusOf(object);
      return [
        nameOf(object),
        `${numberAt(status, 'readyReplicas')}/${numberAt(specOf(object), 'replicas')}`,
        numberAt(status, 'updatedReplicas'),
        numberAt(status, 'availableReplicas'),
        age(object, nowMs),
        ...wide(object),
      ];
    },
  },
  ReplicaSet: {
    columns: columns('Name/name,Desired:integer,Current:integer,Ready:integer,Age,Containers+,Images+,Selector+'),
    cells(object, nowMs) {
      const status = statusOf(object);
      return [
        nameOf(object),
        numberAt(specOf(object), 'replicas'),
        numberAt(status, 'replicas'),
        numberAt(status, 'readyReplicas'),
        age(object, nowMs),
        ...wide(object),
      ];
    },
  },
  StatefulSet: {
    columns: columns('Name/name,Ready,Age,Containers+,Images+'),
    cells: (object, nowMs) => [
      nameOf(object),
      `${numberAt(statusOf(object), 'readyReplicas')}/${numberAt(specOf(object), 'replicas')}`,
      age(object, nowMs),
      ...containerCells(templateSpec(object)),
    ],
  },
  DaemonSet: {
    columns: columns(
      'Name/name,Desired:integer,Current:integer,Ready:integer,Up-to-date:integer,Available:integer,Node Selector,Age,Containers+,Images+,Selector+',
    ),
    cells(object, nowMs) {
      const status = statusOf(object);
      const counts = [
        'desiredNumberScheduled',
        'currentNumberScheduled',
        'numberReady',
        'updatedNumberScheduled',
        'numberAvailable',
      ];
      return [
        nameOf(object),
        ...counts.map((key) => numberAt(status, key)),
        formatLabels(objectAt(templateSpec(object), 'nodeSelector')),
        age(object, nowMs),
        ...wide(object),
      ];
    },
  },
  ControllerRevision: {
    columns: columns('Name/name,Controller,Revision,Age'),
    cells(object, nowMs) {
      const owner = listAt(metaOf(object), 'ownerReferences').find((reference) => reference['controller'] === true);
      const group = stringAt(owner, 'apiVersion').split('/');
      const controller =
        owner === undefined
          ? '<none>'
          : `${stringAt(owner, 'kind').toLowerCase()}${group.length > 1 ? `.${group[0]}` : ''}/${stringAt(owner, 'name')}`;
      return [nameOf(object), controller, numberAt(object, 'revision'), age(object, nowMs)];
    },
  },
  Job: {
    columns: columns('Name/name,Status,Completions,Duration,Age,Containers+,Images+,Selector+'),
    cells: (object, nowMs) => [
      nameOf(object),
      jobStatus(object),
      jobCompletions(object),
      jobDuration(object, nowMs),
      age(object, nowMs),
      ...wide(object),
    ],
  },
  PodTemplate: {
    columns: columns('Name/name,Containers,Images,Pod Labels'),
    cells(object) {
      const template = objectAt(object, 'template');
      return [
        nameOf(object),
        ...containerCells(objectAt(template, 'spec')),
        formatLabels(objectAt(objectAt(template, 'metadata'), 'labels')),
      ];
    },
  },
  PodDisruptionBudget: {
    columns: columns('Name/name,Min Available,Max Unavailable,Allowed Disruptions:integer,Age'),
    cells(object, nowMs) {
      const { minAvailable, maxUnavailable } = specOf(object);
      return [
        nameOf(object),
        minAvailable === undefined ? 'N/A' : String(minAvailable),
        maxUnavailable === undefined ? 'N/A' : String(maxUnavailable),
        numberAt(statusOf(object), 'disruptionsAllowed'),
        age(object, nowMs),
      ];
    },
  },
};
