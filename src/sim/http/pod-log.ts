// `kubectl logs` of a pod in which nothing runs: a few lines about what the simulation did with the container, so that
// tools that show logs have something true to show.
import type { ServerResponse } from 'node:http';
import type { Clock } from '../../base/index.ts';
import { formatTime, parseTime } from '../../base/index.ts';
import type { ResourceDefinition } from '../api/definition.ts';
import { find, get, type Machinery } from '../api/machinery.ts';
import { badRequest } from '../api/status.ts';
import { type JsonObject, listAt, objectAt, stringAt } from '../json.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { isTrue, wholeNumber } from './call-options.ts';
import type { ResourcePath } from './request.ts';

interface Asked {
  machinery: Machinery;
  definition: ResourceDefinition;
  path: ResourcePath;
  query: URLSearchParams;
  response: ServerResponse;
}

interface Line {
  atMs: number;
  text: string;
}

/** How often someone who follows a log is checked for a pod that is gone. */
const followMs = 5_000;

export function serveLog({ machinery, definition, path, query, response }: Asked, name: string): void {
  const pod = get(machinery, definition, path.namespace, name);
  const container = containerIn(pod, name, query.get('container') ?? '');
  const { clock } = machinery;
  let lines = linesOf(pod, container, isTrue(query.get('previous')));
  const sinceSeconds = wholeNumber(query, 'sinceSeconds');
  if (sinceSeconds !== undefined) lines = lines.filter(({ atMs }) => atMs >= clock.now() - sinceSeconds * 1000);
  const tail = wholeNumber(query, 'tailLines');
  if (tail !== undefined && tail >= 0) lines = tail === 0 ? [] : lines.slice(-tail);
  const stamped = isTrue(query.get('timestamps'));
  response.writeHead(200, { 'Content-Type': 'text/plain; charset=utf-8' });
  response.write(lines.map(({ atMs, text }) => `${stamped ? `${formatTime(atMs)} ` : ''}${text}\n`).join(''));
  if (!isTrue(query.get('follow'))) {
    response.end();
    return;
  }
  response.flushHeaders();
  follow(clock, response, () => find(machinery, definition, path.namespace, name)?.metadata.uid === pod.metadata.uid);
}

/** Nothing more is ever said; the stream ends with the pod. */
function follow(clock: Clock, response: ServerResponse, isThere: () => boolean): void {
  let timer = clock.after(followMs, look);
  function look(): void {
    if (!isThere()) response.end();
    else timer = clock.after(followMs, look);
  }
  response.on('close', () => timer.dispose());
}

function containerIn(pod: StoredObject, name: string, wanted: string): string {
  const spec = objectAt(pod, 'spec');
  const main = listAt(spec, 'containers').map((container) => stringAt(container, 'name'));
  const all = [...main, ...listAt(spec, 'initContainers').map((container) => stringAt(container, 'name'))];
  if (wanted !== '') {
    if (all.includes(wanted)) return wanted;
    throw badRequest(`container ${wanted} is not valid for pod ${name}`);
  }
  if (main.length === 1) return main[0] as string;
  throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${main.join(' ')}]`);
}

function linesOf(pod: StoredObject, container: string, previous: boolean): Line[] {
  const spec = objectAt(pod, 'spec');
  const status = objectAt(pod, 'status');
  const states = [...listAt(status, 'containerStatuses'), ...listAt(status, 'initContainerStatuses')];
  const own = states.find((state) => stringAt(state, 'name') === container) ?? {};
  const state = objectAt(own, previous ? 'lastState' : 'state');
  const ended = objectAt(state, 'terminated');
  const startedAt = stringAt(objectAt(state, 'running'), 'startedAt') || stringAt(ended, 'startedAt');
  if (previous && Object.keys(ended).length === 0) {
    throw badRequest(`previous terminated container "${container}" in pod "${pod.metadata.name}" not found`);
  }
  if (startedAt === '') {
    if (stringAt(spec, 'nodeName') === '') return [];
    throw badRequest(`container "${container}" in pod "${pod.metadata.name}" is waiting to start: ContainerCreating`);
  }
  const startedMs = parseTime(startedAt) ?? 0;
  const image = stringAt(
    [...listAt(spec, 'containers'), ...listAt(spec, 'initContainers')].find(
      (each: JsonObject) => stringAt(each, 'name') === container,
    ) ?? {},
    'image',
  );
  const lines = [
    { atMs: startedMs, text: 'This cluster is simulated: no process runs in this container.' },
    { atMs: startedMs, text: `container ${container} (${image}) counts as started on ${stringAt(spec, 'nodeName')}` },
  ];
  const endedMs = parseTime(stringAt(ended, 'finishedAt'));
  if (endedMs !== undefined) {
    lines.push({
      atMs: endedMs,
      text: `container ${container} ended with exit code ${Number(ended['exitCode'] ?? 0)}`,
    });
  }
  return lines;
}
