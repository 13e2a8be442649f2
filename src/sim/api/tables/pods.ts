// The row of a pod: the one with a story to tell, since its status is put together from its containers'.
import { isObject, type JsonObject, listAt, objectAt, stringAt } from '../../json.ts';
import type { TableLayout } from '../definition.ts';
import { age, columns, hasCondition, metaOf, nameOf, numberAt, since } from './cells.ts';

interface Tally {
  reason: string;
  ready: number;
  restarts: number;
  lastRestart: string;
}

export const podLayout: TableLayout = {
  columns: columns('Name/name,Ready,Status,Restarts,Age,IP+,Node+,Nominated Node+,Readiness Gates+'),
  cells(pod, nowMs) {
    const spec = objectAt(pod, 'spec');
    const status = objectAt(pod, 'status');
    const sidecars = listAt(spec, 'initContainers').filter((container) => container['restartPolicy'] === 'Always');
    const tally = tallyOf(pod, new Set(sidecars.map((container) => container['name'])));
    const total = listAt(spec, 'containers').length + sidecars.length;
    const restarts =
      tally.restarts !== 0 && tally.lastRestart !== ''
        ? `${tally.restarts} (${since(tally.lastRestart, nowMs)} ago)`
        : String(tally.restarts);
    return [
      nameOf(pod),
      `${tally.ready}/${total}`,
      tally.reason,
      restarts,
      age(pod, nowMs),
      stringAt(listAt(status, 'podIPs')[0], 'ip') || '<none>',
      stringAt(spec, 'nodeName') || '<none>',
      stringAt(status, 'nominatedNodeName') || '<none>',
      readinessGates(spec, pod),
    ];
  },
};

function tallyOf(pod: JsonObject, sidecars: Set<unknown>): Tally {
  const status = objectAt(pod, 'status');
  const phase = stringAt(status, 'phase');
  const tally: Tally = { reason: stringAt(status, 'reason') || phase, ready: 0, restarts: 0, lastRestart: '' };
  const gated = listAt(status, 'conditions').some(
    (condition) => condition['type'] === 'PodScheduled' && condition['reason'] === 'SchedulingGated',
  );
  if (gated) tally.reason = 'SchedulingGated';
  const waiting = initialise(tally, pod, sidecars);
  if (!waiting || hasCondition(pod, 'Initialized')) run(tally, pod, sidecars);
  if (metaOf(pod)['deletionTimestamp'] !== undefined) {
    if (stringAt(status, 'reason') === 'NodeLost') tally.reason = 'Unknown';
    else if (phase !== 'Succeeded' && phase !== 'Failed') tally.reason = 'Terminating';
  }
  return tally;
}

function countRestarts(tally: Tally, container: JsonObject): void {
  tally.restarts += numberAt(container, 'restartCount');
  const finished = stringAt(objectAt(objectAt(container, 'lastState'), 'terminated'), 'finishedAt');
  if (finished > tally.lastRestart) tally.lastRestart = finished;
}

const exitText = (terminated: JsonObject): string => {
  if (stringAt(terminated, 'reason') !== '') return stringAt(terminated, 'reason');
  return numberAt(terminated, 'signal') === 0
    ? `ExitCode:${numberAt(terminated, 'exitCode')}`
    : `Signal:${numberAt(terminated, 'signal')}`;
};

/** Looks at init containers up to the first that is not done; true if there is one. */
function initialise(tally: Tally, pod: JsonObject, sidecars: Set<unknown>): boolean {
  const all = listAt(objectAt(pod, 'spec'), 'initContainers').length;
  for (const [index, container] of listAt(objectAt(pod, 'status'), 'initContainerStatuses').entries()) {
    countRestarts(tally, container);
    const state = objectAt(container, 'state');
    const terminated = state['terminated'];
    if (isObject(terminated) && numberAt(terminated, 'exitCode') === 0) continue;
    if (sidecars.has(container['name']) && container['started'] === true) {
      if (container['ready'] === true) tally.ready += 1;
      continue;
    }
    const waitReason = stringAt(objectAt(state, 'waiting'), 'reason');
    if (isObject(terminated)) tally.reason = `Init:${exitText(terminated)}`;
    else if (waitReason !== '' && waitReason !== 'PodInitializing') tally.reason = `Init:${waitReason}`;
    else tally.reason = `Init:${index}/${all}`;
    return true;
  }
  return false;
}

function run(tally: Tally, pod: JsonObject, sidecars: Set<unknown>): void {
  const status = objectAt(pod, 'status');
  tally.restarts = 0;
  tally.lastRestart = '';
  for (const container of listAt(status, 'initContainerStatuses')) {
    if (sidecars.has(container['name'])) countRestarts(tally, container);
  }
  let running = false;
  let failure = '';
  for (const container of listAt(status, 'containerStatuses').toReversed()) {
    countRestarts(tally, container);
    const state = objectAt(container, 'state');
    const waitReason = stringAt(objectAt(state, 'waiting'), 'reason');
    if (waitReason !== '') tally.reason = waitReason;
    else if (isObject(state['terminated'])) {
      tally.reason = exitText(state['terminated']);
      if (numberAt(state['terminated'], 'exitCode') !== 0) failure = tally.reason;
    } else if (container['ready'] === true && state['running'] !== undefined) {
      running = true;
      tally.ready += 1;
    }
  }
  if (tally.reason !== 'Completed') return;
  if (running && hasCondition(pod, 'Ready')) tally.reason = 'Running';
  else if (failure !== '') tally.reason = failure;
  else if (running) tally.reason = 'NotReady';
}

function readinessGates(spec: JsonObject, pod: JsonObject): string {
  const gates = listAt(spec, 'readinessGates');
  if (gates.length === 0) return '<none>';
  const open = gates.filter((gate) => hasCondition(pod, stringAt(gate, 'conditionType'))).length;
  return `${open}/${gates.length}`;
}
