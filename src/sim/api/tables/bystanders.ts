// Rows of CronJobs, HorizontalPodAutoscalers and ResourceQuotas.
import { type JsonObject, listAt, objectAt, stringAt } from '../../json.ts';
import type { TableLayout } from '../definition.ts';
import { formatLabelSelector } from '../selectors.ts';
import { age, columns, containerCells, nameOf, numberAt, since } from './cells.ts';

const specOf = (object: JsonObject): JsonObject => objectAt(object, 'spec');
const statusOf = (object: JsonObject): JsonObject => objectAt(object, 'status');

/** The field of a metric that says more of it, by the metric's type. */
const partOf: Record<string, string> = {
  External: 'external',
  Pods: 'pods',
  Object: 'object',
  Resource: 'resource',
  ContainerResource: 'containerResource',
};
const mostMetrics = 2;

function metricText(metric: JsonObject): string {
  const type = stringAt(metric, 'type');
  const part = partOf[type];
  if (part === undefined) return '<unknown type>';
  const { name } = objectAt(metric, part);
  const target = objectAt(objectAt(metric, part), 'target');
  const isOfResource = type.endsWith('Resource');
  const wanted =
    target['averageValue'] ??
    (isOfResource
      ? target['averageUtilization'] === undefined
        ? '<auto>'
        : `${numberAt(target, 'averageUtilization')}%`
      : target['value']);
  const isAverage = ['External', 'Object'].includes(type) && target['averageValue'] !== undefined;
  return `${isOfResource ? `${String(name)}: ` : ''}<unknown>/${String(wanted)}${isAverage ? ' (avg)' : ''}`;
}

function metricsText(spec: JsonObject): string {
  const metrics = listAt(spec, 'metrics');
  if (metrics.length === 0) return '<none>';
  const shown = metrics.slice(0, mostMetrics).map(metricText).join(', ');
  return metrics.length > mostMetrics ? `${shown} + ${metrics.length - mostMetrics} more...` : shown;
}

function quotaCells(object: JsonObject): [requests: string, limits: string] {
  const { hard, used } = statusOf(object) as { hard?: JsonObject; used?: JsonObject };
  const names = Object.keys(hard ?? {}).sort();
  const text = (isLimit: boolean): string =>
    names
      .filter((name) => name.startsWith('limits.') === isLimit)
      .map((name) => `${name}: ${String(used?.[name] ?? 0)}/${String(hard?.[name])}`)
      .join(', ');
  return [text(false), text(true)];
}

export const layouts: Record<string, TableLayout> = {
  CronJob: {
    columns: columns(
      'Name/name,Schedule,Timezone,Suspend:boolean,Active:integer,Last Schedule,Age,Containers+,Images+,Selector+',
    ),
    cells(object, nowMs) {
      const spec = specOf(object);
      const status = statusOf(object);
      const job = objectAt(objectAt(spec, 'jobTemplate'), 'spec');
      return [
        nameOf(object),
        stringAt(spec, 'schedule'),
        stringAt(spec, 'timeZone') || '<none>',
        spec['suspend'] === true ? 'True' : 'False',
        listAt(status, 'active').length,
        status['lastScheduleTime'] === undefined ? '<none>' : since(status['lastScheduleTime'], nowMs),
        age(object, nowMs),
        ...containerCells(objectAt(objectAt(job, 'template'), 'spec')),
        formatLabelSelector(job['selector']),
      ];
    },
  },
  HorizontalPodAutoscaler: {
    columns: columns('Name/name,Reference,Targets,MinPods,MaxPods,Replicas,Age'),
    cells(object, nowMs) {
      const spec = specOf(object);
      const target = objectAt(spec, 'scaleTargetRef');
      return [
        nameOf(object),
        `${stringAt(target, 'kind')}/${stringAt(target, 'name')}`,
        metricsText(spec),
        spec['minReplicas'] === undefined ? '<unset>' : String(numberAt(spec, 'minReplicas')),
        numberAt(spec, 'maxReplicas'),
        numberAt(statusOf(object), 'currentReplicas'),
        age(object, nowMs),
      ];
    },
  },
  ResourceQuota: {
    columns: columns('Name/name,Request,Limit,Age'),
    cells: (object, nowMs) => [nameOf(object), ...quotaCells(object), age(object, nowMs)],
  },
};
